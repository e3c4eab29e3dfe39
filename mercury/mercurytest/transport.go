package mercurytest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Rig is two transports that reach each other, as TestTransport drives them. Time may be virtual or
// real.
type Rig struct {
	A, B mercury.Transport
	// SetHandlers sets what A and B deliver to.
	SetHandlers func(a, b mercury.Handler)
	// RunUntil lets time pass until done or until limit has passed, and reports whether done was
	// met.
	RunUntil func(limit time.Duration, done func() bool) bool
	// MaxMessage is the largest reliable message that A and B take.
	MaxMessage int
	// Lossless says that no unreliable message is lost as long as no faults are set, whatever its
	// burst.
	Lossless bool
	// Timeout is how long it takes at most until a silent peer is given up.
	Timeout time.Duration
	// SetLink sets the faults between A and B; nil when there are none to set, which skips the
	// tests that need it.
	SetLink func(Link)
	// Cut parts A and B; nil as above.
	Cut func(bool)
	// Rebind gives A another address towards B, as a router does; nil as above. The suite does not
	// use it: a Transport need not survive it.
	Rebind func()
}

// RigOf is a Rig of two transports with default limits, and without faults to set.
func RigOf[T interface {
	mercury.Transport
	SetHandler(h mercury.Handler)
}](a, b T, runUntil func(limit time.Duration, done func() bool) bool) *Rig {
	return &Rig{
		A: a, B: b,
		SetHandlers: func(ha, hb mercury.Handler) {
			a.SetHandler(ha)
			b.SetHandler(hb)
		},
		RunUntil:   runUntil,
		MaxMessage: mercury.DefaultMaxMessage,
		Timeout:    50 * time.Millisecond,
	}
}

// patience is how long the suite lets anything take that is not a timeout.
const patience = 2 * time.Minute

// TestTransport checks what mercury.Transport and mercury.Handler promise. newRig makes a fresh
// pair for each test; its seed is for the faults.
func TestTransport(t *testing.T, newRig func(t *testing.T, seed uint64) *Rig) {
	tests := []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"open", testOpen},
		{"ordered exactly once", testOrdered},
		{"ordered exactly once under faults", testOrderedFaults},
		{"ordered exactly once through a narrow way", testOrderedNarrow},
		{"unreliable at most once", testUnreliable},
		{"message sizes", testSizes},
		{"unreliable within its limit", testUnreliableLimit},
		{"a full queue refuses and lives on", testFull},
		{"pause", testPause},
		{"pause often", testPauseOften},
		{"close a paused channel", testPauseEnd},
		{"close delivers what was sent", testClose},
		{"close of a dial", testCloseDial},
		{"abort", testAbort},
		{"close inside a callback", testCloseInside},
		{"answer inside a callback", testAnswerInside},
		{"dial again", testDialAgain},
		{"dial each other", testCrossDial},
		{"dial nowhere", testDialNowhere},
		{"silence", testSilence},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, newBench(t, newRig(t, uint64(i+1)))) })
	}
	for seed := uint64(1); seed <= 8; seed++ {
		t.Run(fmt.Sprintf("random run, seed %d", seed), func(t *testing.T) {
			RandomRun(t, newRig(t, seed), seed, 300)
		})
	}
}

// bench is a Rig with recorders.
type bench struct {
	*Rig
	t    *testing.T
	a, b Recorder
}

func newBench(t *testing.T, r *Rig) *bench {
	x := &bench{Rig: r, t: t}
	r.SetHandlers(&x.a, &x.b)
	return x
}

func (x *bench) until(what string, done func() bool) {
	x.t.Helper()
	if !x.RunUntil(patience, done) {
		x.t.Fatalf("waited in vain for: %s", what)
	}
}

// connect opens a channel from A to B and returns both ends.
func (x *bench) connect() (a, b mercury.ChannelID) {
	x.t.Helper()
	a = x.A.Dial(x.B.Self())
	x.until("a channel opened at both ends", func() bool {
		return x.a.Of(a).Opened == 1 && len(x.b.Order) > 0 && x.b.Of(x.b.Order[0]).Opened == 1
	})
	return a, x.b.Order[0]
}

func (x *bench) send(from mercury.Transport, ch mercury.ChannelID, msg []byte) {
	x.t.Helper()
	if err := from.Send(ch, msg); err != nil {
		x.t.Fatalf("Send of %d bytes: %v", len(msg), err)
	}
}

func (x *bench) wantClosed(s *Seen, reason error) {
	x.t.Helper()
	if len(s.Closed) != 1 || !errors.Is(s.Closed[0], reason) || s.Late != 0 {
		x.t.Fatalf("closed with %v and %d late callbacks, want once with %v", s.Closed, s.Late, reason)
	}
}

// numbered is message i of a stream: its number, then bytes that follow from it.
func numbered(i, size int) []byte {
	msg := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+size), uint32(i))
	for j := range size {
		msg = append(msg, byte(i+j))
	}
	return msg
}

// wantStream checks that got is the messages 0 to n-1 in order.
func (x *bench) wantStream(got [][]byte, n int) {
	x.t.Helper()
	if len(got) != n {
		x.t.Fatalf("got %d messages, want %d", len(got), n)
	}
	for i, msg := range got {
		if string(msg) != string(numbered(i, len(msg)-4)) {
			x.t.Fatalf("message %d is not what was sent", i)
		}
	}
}

func testOpen(t *testing.T, x *bench) {
	a, b := x.connect()
	if got := x.a.Of(a).Peer; got != x.B.Self() {
		t.Errorf("A was told of peer %v, want %v", got, x.B.Self())
	}
	if got, ok := x.B.Peer(b); !ok || got.Salt != x.A.Self().Salt {
		t.Errorf("B's peer is %v %v, want the salt of %v", got, ok, x.A.Self())
	}
	if _, ok := x.A.Peer(a + 1000); ok {
		t.Error("a channel that does not exist has a peer")
	}
	if err := x.A.Send(a+1000, nil); !errors.Is(err, mercury.ErrNoChannel) {
		t.Errorf("Send to a channel that does not exist: %v", err)
	}
}

func testOrdered(t *testing.T, x *bench) { x.streams(500) }

func testOrderedFaults(t *testing.T, x *bench) {
	if x.SetLink == nil {
		t.Skip("no faults here")
	}
	x.SetLink(Link{Loss: 0.1, Duplicate: 0.05, Reorder: 0.1, Delay: 200 * time.Millisecond, Jitter: 20 * time.Millisecond})
	x.streams(500)
}

func testOrderedNarrow(t *testing.T, x *bench) {
	if x.SetLink == nil {
		t.Skip("no faults here")
	}
	x.SetLink(Link{Loss: 0.02, Corrupt: 0.05, Delay: 20 * time.Millisecond, MTU: 1300, Rate: 500_000})
	x.streams(300)
}

// streams sends n messages of varied size each way, some before the channel is open.
func (x *bench) streams(n int) {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	a := x.A.Dial(x.B.Self())
	size := func() int {
		if rng.IntN(20) == 0 {
			return rng.IntN(min(20000, x.MaxMessage-4))
		}
		return rng.IntN(100)
	}
	sentA, sentB := 0, 0
	x.b.OnOpened = func(mercury.ChannelID, mercury.Address) {}
	for sentA < n || sentB < n {
		for range rng.IntN(40) {
			if sentA < n {
				x.send(x.A, a, numbered(sentA, size()))
				sentA++
			}
			if sentB < n && len(x.b.Order) > 0 {
				x.send(x.B, x.b.Order[0], numbered(sentB, size()))
				sentB++
			}
		}
		x.RunUntil(time.Duration(rng.IntN(100))*time.Millisecond, func() bool { return false })
	}
	x.until("all messages", func() bool {
		return len(x.b.Of(x.b.Order[0]).Reliable) >= n && len(x.a.Of(a).Reliable) >= n
	})
	x.wantStream(x.b.Of(x.b.Order[0]).Reliable, n)
	x.wantStream(x.a.Of(a).Reliable, n)
}

func testUnreliable(t *testing.T, x *bench) {
	a, b := x.connect()
	if x.SetLink != nil {
		x.SetLink(Link{Loss: 0.1, Duplicate: 0.3, Reorder: 0.2, Delay: 30 * time.Millisecond, Jitter: 20 * time.Millisecond})
	}
	const n = 400
	for i := range n {
		if _, err := x.A.SendUnreliable(a, numbered(i, i%50)); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 {
			x.send(x.A, a, numbered(i/7, 10))
		}
		x.RunUntil(2*time.Millisecond, func() bool { return false })
	}
	x.until("the reliable ones", func() bool { return len(x.b.Of(b).Reliable) == (n+6)/7 })
	x.wantStream(x.b.Of(b).Reliable, (n+6)/7)
	seen := make([]bool, n)
	for _, msg := range x.b.Of(b).Unreliable {
		i := int(binary.LittleEndian.Uint32(msg))
		if i >= n || seen[i] || string(msg) != string(numbered(i, i%50)) {
			t.Fatalf("unreliable message %d came twice or was changed", i)
		}
		seen[i] = true
	}
	// A transport may drop more than the link does when the machine is busy: QUIC's window shrinks.
	if got := len(x.b.Of(b).Unreliable); got < n/4 {
		t.Errorf("only %d of %d unreliable messages came over a link that loses one in ten", got, n)
	}
}

func testSizes(t *testing.T, x *bench) {
	a, b := x.connect()
	sizes := []int{0, 1, 127, 128, 1200, 1300, 1400, 1500, 16383, 16384, x.MaxMessage - 1, x.MaxMessage}
	for _, n := range sizes {
		x.send(x.A, a, make([]byte, n))
	}
	if err := x.A.Send(a, make([]byte, x.MaxMessage+1)); !errors.Is(err, mercury.ErrMessageTooLong) {
		t.Errorf("Send of MaxMessage+1: %v", err)
	}
	most := x.A.MaxUnreliable(a)
	if most <= 0 {
		t.Fatalf("MaxUnreliable of an open channel is %d", most)
	}
	if _, err := x.A.SendUnreliable(a, make([]byte, most+1)); !errors.Is(err, mercury.ErrMessageTooLong) {
		t.Errorf("SendUnreliable of MaxUnreliable+1: %v", err)
	}
	if _, err := x.A.SendUnreliable(a, make([]byte, most)); err != nil {
		t.Errorf("SendUnreliable of MaxUnreliable: %v", err)
	}
	seen := x.b.Of(b)
	x.until("all sizes", func() bool { return len(seen.Reliable) == len(sizes) && len(seen.Unreliable) == 1 })
	for i, n := range sizes {
		if len(seen.Reliable[i]) != n {
			t.Errorf("message %d has %d bytes, want %d", i, len(seen.Reliable[i]), n)
		}
	}
	if len(seen.Unreliable[0]) != most {
		t.Errorf("unreliable message has %d bytes, want %d", len(seen.Unreliable[0]), most)
	}
}

// maxUnanswered bounds what testUnreliableLimit sends without a turn of the transport.
const maxUnanswered = 64 << 20

// testUnreliableLimit sends what MaxUnreliable allows until it allows no more: then each message
// that was within the limit has come, and there is room again. A channel that is not there has no
// room.
func testUnreliableLimit(t *testing.T, x *bench) {
	a, b := x.connect()
	whole, sent, bytes := x.A.MaxUnreliable(a), 0, 0
	for most := whole; most >= 4; most = x.A.MaxUnreliable(a) {
		if most > whole {
			t.Fatalf("MaxUnreliable grew from %d to %d as messages were sent", whole, most)
		}
		msg := make([]byte, most)
		binary.LittleEndian.PutUint32(msg, uint32(sent))
		if _, err := x.A.SendUnreliable(a, msg); err != nil {
			t.Fatalf("unreliable message %d of %d bytes: %v", sent, most, err)
		}
		if sent++; bytes > maxUnanswered {
			t.Fatalf("%d bytes wait, and MaxUnreliable still is %d", bytes, most)
		}
		bytes += most
	}
	seen := x.b.Of(b)
	if x.Lossless {
		x.until("all messages within the limit", func() bool { return len(seen.Unreliable) == sent })
	}
	x.until("room again", func() bool { return x.A.MaxUnreliable(a) == whole })
	x.A.Abort(a)
	if n := x.A.MaxUnreliable(a); n != 0 {
		t.Errorf("MaxUnreliable of an ended channel is %d", n)
	}
}

func testClose(t *testing.T, x *bench) {
	a, b := x.connect()
	if x.SetLink != nil {
		x.SetLink(Link{Loss: 0.1, Delay: 20 * time.Millisecond})
	}
	const n = 100
	for i := range n {
		x.send(x.A, a, numbered(i, 500))
	}
	x.A.Close(a)
	x.A.Close(a)
	if err := x.A.Send(a, nil); !errors.Is(err, mercury.ErrNoChannel) {
		t.Errorf("Send after Close: %v", err)
	}
	x.send(x.B, b, []byte("not to be delivered"))
	x.until("B told", func() bool { return len(x.b.Of(b).Closed) > 0 })
	x.wantStream(x.b.Of(b).Reliable, n)
	x.RunUntil(x.Timeout, func() bool { return false })
	x.wantClosed(x.b.Of(b), mercury.ErrPeerClosed)
	if s := x.a.Of(a); len(s.Closed)+len(s.Reliable) > 0 {
		t.Errorf("the closer was told %v and got %d messages", s.Closed, len(s.Reliable))
	}
}

func testCloseDial(t *testing.T, x *bench) {
	a := x.A.Dial(x.B.Self())
	x.send(x.A, a, numbered(0, 10))
	x.A.Close(a)
	x.until("the message and the close", func() bool {
		return len(x.b.Order) > 0 && len(x.b.Of(x.b.Order[0]).Closed) > 0
	})
	s := x.b.Of(x.b.Order[0])
	x.wantStream(s.Reliable, 1)
	x.wantClosed(s, mercury.ErrPeerClosed)
	if s := x.a.Of(a); s.Opened+len(s.Closed) > 0 {
		t.Errorf("a dial that was closed was reported: %+v", s)
	}
}

func testAbort(t *testing.T, x *bench) {
	a, b := x.connect()
	x.A.Abort(a)
	x.A.Abort(a)
	if _, ok := x.A.Peer(a); ok {
		t.Error("an aborted channel has a peer")
	}
	x.until("B told", func() bool { return len(x.b.Of(b).Closed) > 0 })
	x.wantClosed(x.b.Of(b), mercury.ErrPeerAborted)
	if s := x.a.Of(a); len(s.Closed) > 0 {
		t.Errorf("the aborter was told %v", s.Closed)
	}
}

func testCloseInside(t *testing.T, x *bench) {
	a, b := x.connect()
	x.b.OnMessage = func(ch mercury.ChannelID, _ bool, _ []byte) {
		if len(x.b.Of(ch).Reliable) == 3 {
			x.B.Close(ch)
		}
	}
	for i := range 10 {
		x.send(x.A, a, numbered(i, 5))
	}
	x.until("A told", func() bool { return len(x.a.Of(a).Closed) > 0 })
	x.wantStream(x.b.Of(b).Reliable, 3)
	x.wantClosed(x.a.Of(a), mercury.ErrPeerClosed)

	a2 := x.A.Dial(x.B.Self())
	x.b.OnMessage = func(ch mercury.ChannelID, _ bool, msg []byte) {
		was := string(msg)
		x.B.Abort(ch)
		fresh := x.B.Dial(x.A.Self())
		for range 5 {
			x.send(x.B, fresh, []byte("overwrites what was freed too early"))
		}
		if string(msg) != was {
			t.Error("Abort inside a callback gave the message away")
		}
	}
	x.send(x.A, a2, make([]byte, 3000))
	x.send(x.A, a2, nil)
	x.until("A told of the abort", func() bool { return len(x.a.Of(a2).Closed) > 0 })
	x.wantClosed(x.a.Of(a2), mercury.ErrPeerAborted)
	if s := x.b.Of(x.b.Order[1]); len(s.Reliable) != 1 {
		t.Errorf("%d messages delivered from a channel aborted in the first", len(s.Reliable))
	}
}

func testAnswerInside(t *testing.T, x *bench) {
	x.b.OnMessage = func(ch mercury.ChannelID, _ bool, msg []byte) { x.send(x.B, ch, msg) }
	a, _ := x.connect()
	for i := range 50 {
		x.send(x.A, a, numbered(i, 5))
	}
	x.until("the answers", func() bool { return len(x.a.Of(a).Reliable) == 50 })
	x.wantStream(x.a.Of(a).Reliable, 50)
}

func testDialAgain(t *testing.T, x *bench) {
	a, _ := x.connect()
	if got := x.A.Dial(x.B.Self()); got != a {
		t.Errorf("a second Dial gave channel %d, want %d", got, a)
	}
	x.A.Close(a)
	a2 := x.A.Dial(x.B.Self())
	if a2 == a {
		t.Fatal("a Dial after Close gave the closed channel")
	}
	x.send(x.A, a2, numbered(0, 0))
	x.until("the message on the new channel", func() bool {
		return len(x.b.Order) == 2 && len(x.b.Of(x.b.Order[1]).Reliable) == 1 && len(x.b.Of(x.b.Order[0]).Closed) == 1
	})
}

func testCrossDial(_ *testing.T, x *bench) {
	a, b := x.A.Dial(x.B.Self()), x.B.Dial(x.A.Self())
	for i := range 20 {
		x.send(x.A, a, numbered(i, 50))
		x.send(x.B, b, numbered(i, 50))
	}
	got := func(r *Recorder, own mercury.ChannelID) [][]byte {
		for _, ch := range r.Order {
			if ch != own && len(r.Of(ch).Reliable) > 0 {
				return r.Of(ch).Reliable
			}
		}
		return nil
	}
	x.until("both streams", func() bool { return len(got(&x.a, a)) == 20 && len(got(&x.b, b)) == 20 })
	x.wantStream(got(&x.a, a), 20)
	x.wantStream(got(&x.b, b), 20)
}

func testDialNowhere(t *testing.T, x *bench) {
	a := x.A.Dial(mercury.Address{})
	x.until("the dial refused", func() bool { return len(x.a.Of(a).Closed) > 0 })
	x.wantClosed(x.a.Of(a), mercury.ErrAddress)

	old := x.B.Self()
	old.Salt++
	a = x.A.Dial(old)
	x.until("the dial of an older start refused", func() bool { return len(x.a.Of(a).Closed) > 0 })
	x.wantClosed(x.a.Of(a), mercury.ErrPeerRestarted)

	old.Salt = 0
	a = x.A.Dial(old)
	x.until("the dial of whatever start", func() bool { return x.a.Of(a).Opened > 0 })
	if got := x.a.Of(a).Peer; got != x.B.Self() {
		t.Errorf("whatever start answered is %v, want %v", got, x.B.Self())
	}
}

func testSilence(t *testing.T, x *bench) {
	if x.Cut == nil {
		t.Skip("no cuts here")
	}
	a, b := x.connect()
	x.RunUntil(3*x.Timeout, func() bool { return false })
	if len(x.a.Of(a).Closed)+len(x.b.Of(b).Closed) > 0 {
		t.Fatal("an idle channel was closed")
	}
	x.Cut(true)
	dialled := x.B.Dial(x.A.Self())
	x.RunUntil(x.Timeout, func() bool { return false })
	x.wantClosed(x.a.Of(a), mercury.ErrTimeout)
	x.wantClosed(x.b.Of(b), mercury.ErrTimeout)
	x.wantClosed(x.b.Of(dialled), mercury.ErrTimeout)
}
