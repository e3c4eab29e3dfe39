package streamtest

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/mercury/stream"
)

// Listen makes a Transport at a free port of loopback that can dial others of its kind. It fails t
// if it cannot.
type Listen func(t testing.TB, cfg stream.Config) *stream.Transport

// quick is a Config for tests: real time is short here, yet a busy machine may stall this
// goroutine.
func quick(salt uint32) stream.Config {
	return stream.Config{Salt: salt, KeepAlive: 100 * time.Millisecond, Inactivity: 2 * time.Second}
}

// TestAdapter checks an adapter.
func TestAdapter(t *testing.T, listen Listen) {
	t.Run("transport", func(t *testing.T) {
		mercurytest.TestTransport(t, func(t *testing.T, _ uint64) *mercurytest.Rig {
			return Rig(start(t, listen, quick(1)), start(t, listen, quick(2)))
		})
	})
	for _, test := range []struct {
		name string
		run  func(*testing.T, Listen)
	}{
		{"batch", testBatch},
		{"slow reader", testSlowReader},
		{"unreliable beside a backlog", testBeside},
		{"silence", testSilence},
		{"nap", testNap},
		{"dial nobody", testNobody},
		{"too many channels", testFull},
		{"close wait", testCloseWait},
		{"another start", testAnotherStart},
		{"goroutines", testGoroutines},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, listen) })
	}
}

// start makes a Transport that ends with the test.
func start(t testing.TB, listen Listen, cfg stream.Config) *stream.Transport {
	t.Helper()
	x := listen(t, cfg)
	t.Cleanup(func() { Stop(t, x) })
	return x
}

// pair is two Transports with a channel from a to b.
type pair struct {
	t        *testing.T
	a, b     *stream.Transport
	atA, atB mercurytest.Recorder
	ch       mercury.ChannelID
}

func connect(t *testing.T, listen Listen, a, b stream.Config) *pair {
	t.Helper()
	p := &pair{t: t, a: start(t, listen, a), b: start(t, listen, b)}
	p.a.SetHandler(&p.atA)
	p.b.SetHandler(&p.atB)
	p.dial()
	return p
}

// begin makes a start of x.
func (p *pair) begin(x *stream.Transport, salt uint32, h mercury.Handler, clock func() time.Duration) {
	p.t.Helper()
	if err := x.Begin(mercury.Start{Salt: salt, Clock: clock, Handler: h}); err != nil {
		p.t.Fatal(err)
	}
}

// dial opens the channel.
func (p *pair) dial() {
	p.t.Helper()
	p.ch = p.a.Dial(p.b.Self())
	p.until("the channel opened", func() bool { return p.atA.Of(p.ch).Opened == 1 && len(p.atB.Order) == 1 })
}

func (p *pair) until(what string, done func() bool) {
	p.t.Helper()
	if !Until(patience, done, p.a, p.b) {
		p.t.Fatalf("waited in vain for: %s", what)
	}
}

// seenB is what b was told of its only channel.
func (p *pair) seenB() *mercurytest.Seen { return p.atB.Of(p.atB.Order[0]) }

func wantClosed(t *testing.T, s *mercurytest.Seen, reason error) {
	t.Helper()
	if len(s.Closed) != 1 || !errors.Is(s.Closed[0], reason) || s.Late > 0 {
		t.Fatalf("closed with %v and %d late callbacks, want once with %v", s.Closed, s.Late, reason)
	}
}

// wantNumbered checks that messages begin with the numbers from 0 on.
func wantNumbered(t *testing.T, msgs [][]byte) {
	t.Helper()
	for i, msg := range msgs {
		if got := binary.LittleEndian.Uint32(msg); got != uint32(i) {
			t.Fatalf("message %d is number %d", i, got)
		}
	}
}

func numbered(i, size int) []byte {
	msg := make([]byte, size)
	binary.LittleEndian.PutUint32(msg, uint32(i))
	return msg
}

// testBatch sends many messages between two flushes: they leave in one write.
func testBatch(t *testing.T, listen Listen) {
	p := connect(t, listen, quick(1), quick(2))
	before := p.a.Stats()
	for i := range 100 {
		if err := p.a.Send(p.ch, numbered(i, 20)); err != nil {
			t.Fatal(err)
		}
	}
	_ = p.a.Flush()
	after := p.a.Stats()
	if writes := after.Writes - before.Writes; writes != 1 || after.MessagesOut-before.MessagesOut != 100 {
		t.Errorf("%d messages took %d writes", after.MessagesOut-before.MessagesOut, writes)
	}
	p.until("the messages", func() bool { return len(p.seenB().Reliable) == 100 })
	wantNumbered(t, p.seenB().Reliable)
}

// testSlowReader sends to an owner that does not turn: the sender meets MaxQueued, and what was
// taken comes over whole when the owner turns again.
func testSlowReader(t *testing.T, listen Listen) {
	cfg := quick(1)
	cfg.MaxQueued, cfg.MaxMessage = 1<<20, 1<<16
	p := connect(t, listen, cfg, quick(2))
	const most = 4096 // 256 MiB, more than any system buffers
	var err error
	sent := 0
	for ; sent < most && err == nil; sent++ {
		err = p.a.Send(p.ch, numbered(sent, 1<<16))
		if backlog(p.a, p.ch) > cfg.MaxQueued {
			t.Fatalf("%d bytes wait, at most %d", backlog(p.a, p.ch), cfg.MaxQueued)
		}
		if backlog(p.a, p.ch) > cfg.MaxQueued/2 {
			turn(p.a)
		}
	}
	if !errors.Is(err, mercury.ErrFull) {
		t.Fatalf("after %d messages: %v", sent, err)
	}
	p.until("all that was taken", func() bool { return len(p.seenB().Reliable) >= sent-1 })
	if n := len(p.atA.Of(p.ch).Closed) + len(p.seenB().Closed); n != 0 {
		t.Errorf("a peer that does not keep up has lost its channel: %v", p.atA.Of(p.ch).Closed)
	}
	wantNumbered(t, p.seenB().Reliable)
}

// testBeside sends unreliable messages while reliable ones wait for a peer that does not read: the
// stale are dropped, the newest arrives, and no reliable one is missing. The newest need not come
// last: one that was sent with reliable messages, when nothing waited, is overtaken as they are.
func testBeside(t *testing.T, listen Listen) {
	cfg := quick(1)
	cfg.UnreliableQueued = 4 << 10
	cfg.MaxQueued = 64 << 20
	p := connect(t, listen, cfg, quick(2))
	sent := 0
	for ; backlog(p.a, p.ch) < 1<<20 && sent < 1000; sent++ {
		if err := p.a.Send(p.ch, numbered(sent, 1<<16)); err != nil {
			t.Fatal(err)
		}
		_ = p.a.Flush()
	}
	const loose = 200
	for i := range loose {
		if _, err := p.a.SendUnreliable(p.ch, numbered(i, 100)); err != nil {
			t.Fatal(err)
		}
		_ = p.a.Flush()
	}
	newest := func(msg []byte) bool { return binary.LittleEndian.Uint32(msg) == loose-1 }
	p.until("all reliable messages and the newest unreliable one", func() bool {
		return len(p.seenB().Reliable) == sent && slices.ContainsFunc(p.seenB().Unreliable, newest)
	})
	wantNumbered(t, p.seenB().Reliable)
	if got, dropped := len(p.seenB().Unreliable), p.a.Stats().UnreliableDropped; got+int(dropped) > loose {
		t.Errorf("%d unreliable messages came and %d were dropped of %d", got, dropped, loose)
	}
}

// testSilence lets one owner stand still: the other gives it up, and not before its time.
func testSilence(t *testing.T, listen Listen) {
	cfg := quick(1)
	cfg.KeepAlive, cfg.Inactivity = 20*time.Millisecond, 300*time.Millisecond
	other := cfg
	other.Salt = 2
	p := connect(t, listen, cfg, other)
	Until(2*cfg.Inactivity, func() bool { return false }, p.a, p.b)
	if len(p.atA.Of(p.ch).Closed)+len(p.seenB().Closed) > 0 {
		t.Fatal("an idle channel was closed")
	}
	from := p.a.Now()
	if !Until(patience, func() bool { return len(p.atA.Of(p.ch).Closed) > 0 }, p.a) {
		t.Fatal("a silent peer was never given up")
	}
	wantClosed(t, p.atA.Of(p.ch), mercury.ErrTimeout)
	if took := p.a.Now() - from; took < cfg.Inactivity-2*cfg.KeepAlive {
		t.Errorf("given up after %v, Inactivity is %v", took, cfg.Inactivity)
	}
}

// testNap lets an owner sleep for an hour: that is not its peer's silence.
func testNap(t *testing.T, listen Listen) {
	p := &pair{t: t, a: start(t, listen, quick(0)), b: start(t, listen, quick(2))}
	var slept atomic.Int64
	began := time.Now()
	p.begin(p.a, 1, &p.atA, func() time.Duration { return time.Duration(slept.Load()) + time.Since(began) })
	p.b.SetHandler(&p.atB)
	p.dial()
	slept.Store(int64(time.Hour))
	turn(p.a)
	if closed := p.atA.Of(p.ch).Closed; len(closed) > 0 {
		t.Errorf("closed with %v after a nap of its own", closed)
	}
}

// testAnotherStart begins anew at the same place: the peer's channel ends, the start before is not
// to be dialled any more, and the new one hears nothing of it.
func testAnotherStart(t *testing.T, listen Listen) {
	p := connect(t, listen, quick(1), quick(2))
	before, heard := p.b.Self(), len(p.atB.Order)
	var again mercurytest.Recorder
	p.begin(p.b, 3, &again, p.a.Now)
	if after := p.b.Self(); after.At != before.At || after.Salt != 3 {
		t.Fatalf("was at %v, is at %v", before, after)
	}
	p.until("the old channel ended", func() bool { return len(p.atA.Of(p.ch).Closed) == 1 })
	wantClosed(t, p.atA.Of(p.ch), mercury.ErrPeerAborted)
	old, fresh := p.a.Dial(before), p.a.Dial(p.b.Self())
	p.until("both dials answered", func() bool { return len(p.atA.Of(old).Closed) == 1 && p.atA.Of(fresh).Opened == 1 })
	wantClosed(t, p.atA.Of(old), mercury.ErrPeerRestarted)
	p.until("the new start has its channel", func() bool { return len(again.Order) == 1 })
	if len(p.atB.Order) != heard || len(p.seenB().Closed) != 0 || p.b.Channels() != 1 {
		t.Errorf("the old start was told of %d channels and the end %v; %d channels are there", len(p.atB.Order), p.seenB().Closed, p.b.Channels())
	}
}

// testNobody dials a place where no one listens any more.
func testNobody(t *testing.T, listen Listen) {
	cfg := quick(1)
	cfg.KeepAlive, cfg.Inactivity = 50*time.Millisecond, 200*time.Millisecond
	a, b := start(t, listen, cfg), start(t, listen, quick(2))
	Stop(t, b)
	var at mercurytest.Recorder
	a.SetHandler(&at)
	ch := a.Dial(b.Self())
	if err := a.Send(ch, []byte("to nobody")); err != nil {
		t.Fatal(err)
	}
	if !Until(patience, func() bool { return len(at.Of(ch).Closed) > 0 }, a) {
		t.Fatal("the dial was never given up")
	}
	wantClosed(t, at.Of(ch), mercury.ErrTimeout)
}

// testFull dials one that has no room left.
func testFull(t *testing.T, listen Listen) {
	cfg := quick(2)
	cfg.MaxChannels = 1
	p := connect(t, listen, quick(1), cfg)
	c := start(t, listen, quick(3))
	var at mercurytest.Recorder
	c.SetHandler(&at)
	ch := c.Dial(p.b.Self())
	if !Until(patience, func() bool { return len(at.Of(ch).Closed) > 0 }, p.b, c) {
		t.Fatal("the dial was never refused")
	}
	wantClosed(t, at.Of(ch), mercury.ErrTooManyChannels)
	if refused := p.b.Stats().Refused; refused != 1 {
		t.Errorf("%d refused, want 1", refused)
	}
	own := p.b.Dial(c.Self())
	turn(p.b)
	wantClosed(t, p.atB.Of(own), mercury.ErrTooManyChannels)
	p.a.Abort(p.ch)
	p.until("room again", func() bool { return p.b.Stats().Channels == 0 })
	ch = c.Dial(p.b.Self())
	if !Until(patience, func() bool { return at.Of(ch).Opened == 1 }, p.b, c) {
		t.Fatal("an ended channel left no room")
	}
}

// testCloseWait closes a channel whose peer's owner stands still: it is given up after its time.
func testCloseWait(t *testing.T, listen Listen) {
	cfg := quick(1)
	cfg.CloseWait = 50 * time.Millisecond
	p := connect(t, listen, cfg, quick(2))
	p.a.Close(p.ch)
	if !Until(time.Second, func() bool { return p.a.Stats().Channels == 0 }, p.a) {
		t.Fatal("a condemned channel lives on")
	}
}

// testGoroutines leaves nothing running, whatever state connections are in.
func testGoroutines(t *testing.T, listen Listen) {
	before := runtime.NumGoroutine()
	for range 3 {
		p := connect(t, listen, quick(1), quick(2))
		for i := range 200 {
			_ = p.a.Send(p.ch, numbered(i, 1<<16))
			_, _ = p.a.SendUnreliable(p.ch, numbered(i, 100))
		}
		p.b.Dial(mercury.Address{At: p.a.Self().At, Salt: 99})
		p.b.Dial(p.a.Self())
		_ = p.b.Flush()
		Stop(t, p.b)
		p.a.Dial(p.b.Self())
		Stop(t, p.a)
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}
