package mercury_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// rig is two endpoints in a world, with a channel from a to b.
type rig struct {
	t          testing.TB
	w          *mercurytest.World
	a, b       *mercury.Endpoint
	atA, atB   mercurytest.Recorder
	chA, chB   mercury.ChannelID
	placeA     netip.AddrPort
	placeB     netip.AddrPort
	wantStream int
}

func newEndpoint(t testing.TB, place int, salt uint32, h mercury.Handler, cfg mercury.Config) *mercury.Endpoint {
	t.Helper()
	cfg.Salt = salt
	e, err := mercury.NewEndpoint(cfg, mercurytest.Place(place), h)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newRig(t testing.TB, seed uint64, cfg mercury.Config) *rig {
	r := &rig{t: t, w: mercurytest.NewWorld(seed), placeA: mercurytest.Place(1), placeB: mercurytest.Place(2)}
	r.w.Net.SetLink(mercurytest.Link{Delay: 5 * time.Millisecond})
	r.a = newEndpoint(t, 1, 101, &r.atA, cfg)
	r.b = newEndpoint(t, 2, 102, &r.atB, cfg)
	r.w.Add(r.a)
	r.w.Add(r.b)
	r.chA = r.a.Dial(r.b.Self())
	r.w.Run(100 * time.Millisecond)
	if len(r.atB.Order) != 1 || r.atA.Of(r.chA).Opened != 1 {
		t.Fatal("the channel did not open")
	}
	r.chB = r.atB.Order[0]
	return r
}

// talk sends a numbered message from A every 100 ms for d.
func (r *rig) talk(d time.Duration) {
	r.t.Helper()
	for end := r.w.Now() + d; r.w.Now() < end; r.w.Run(100 * time.Millisecond) {
		if err := r.a.Send(r.chA, binary.LittleEndian.AppendUint32(nil, uint32(r.wantStream))); err != nil {
			r.t.Fatalf("at %v: %v", r.w.Now(), err)
		}
		r.wantStream++
	}
}

func (r *rig) checkStream() {
	r.t.Helper()
	got := r.atB.Of(r.chB).Reliable
	if len(got) != r.wantStream {
		r.t.Fatalf("got %d messages, want %d", len(got), r.wantStream)
	}
	for i, msg := range got {
		if binary.LittleEndian.Uint32(msg) != uint32(i) {
			r.t.Fatalf("message %d is %v", i, msg)
		}
	}
}

func (r *rig) wantOpen() {
	r.t.Helper()
	if a, b := r.atA.Of(r.chA).Closed, r.atB.Of(r.chB).Closed; len(a)+len(b) > 0 {
		r.t.Fatalf("closed: %v, %v", a, b)
	}
}

func TestPausedPeerKeepsItsChannel(t *testing.T) {
	r := newRig(t, 1, mercury.Config{})
	for _, pause := range []time.Duration{2 * time.Second, 9 * time.Second} {
		r.w.Pause(r.placeB, true)
		r.talk(pause)
		r.w.Pause(r.placeB, false)
		woken := r.w.Now()
		r.w.RunUntil(2*time.Second, func() bool { return len(r.atB.Of(r.chB).Reliable) == r.wantStream })
		if took := r.w.Now() - woken; took > 200*time.Millisecond {
			t.Errorf("after a pause of %v the backlog took %v", pause, took)
		}
		r.checkStream()
		r.wantOpen()
	}
}

// A process that slept longer than Inactivity has heard nothing, but only because it did not
// listen.
func TestOwnSleepIsNotThePeersSilence(t *testing.T) {
	for _, cfg := range []mercury.Config{{}, {Inactivity: 500 * time.Millisecond, KeepAlive: 50 * time.Millisecond}} {
		r := newRig(t, 2, cfg)
		r.talk(time.Second)
		for range 5 {
			// The host suspends both: nobody sends meanwhile, and nothing waits in the sockets.
			r.w.Pause(r.placeA, true)
			r.w.Pause(r.placeB, true)
			r.w.Run(60 * time.Second)
			r.w.Pause(r.placeA, false)
			r.w.Pause(r.placeB, false)
			r.w.Run(300 * time.Millisecond)
			r.wantOpen()
		}
		r.talk(time.Second)
		r.w.Run(time.Second)
		r.checkStream()
	}
}

func TestRestartedPeerIsToldApart(t *testing.T) {
	for _, traffic := range []bool{true, false} {
		r := newRig(t, 3, mercury.Config{})
		r.w.Remove(r.placeB)
		fresh := newEndpoint(t, 2, 999, nil, mercury.Config{})
		r.w.Add(fresh)
		limit := mercury.DefaultKeepAlive + 100*time.Millisecond // an idle channel finds out by its ping
		if traffic {
			limit = 20 * time.Millisecond
			if err := r.a.Send(r.chA, []byte("hello?")); err != nil {
				t.Fatal(err)
			}
		}
		r.w.Run(limit)
		closed := r.atA.Of(r.chA).Closed
		if len(closed) != 1 || !errors.Is(closed[0], mercury.ErrPeerRestarted) {
			t.Fatalf("traffic %v: closed with %v", traffic, closed)
		}
		if n := fresh.Stats().Channels; n != 0 {
			t.Errorf("the new start has %d channels", n)
		}
	}
}

// The new start of a peer may give the number of an old channel to one with somebody else, who has not
// answered yet, or has. The peer of the old one is told all the same. (It heard nothing, for as long
// as a channel may be silent.)
func TestRestartedPeerWhoseNumberIsTaken(t *testing.T) {
	for _, open := range []bool{true, false} {
		r := newRig(t, 3, mercury.Config{})
		r.w.Remove(r.placeB)
		other := newEndpoint(t, 3, 103, nil, mercury.Config{})
		if open {
			r.w.Add(other)
		}
		var fresh *mercury.Endpoint
		for salt := uint32(1000); ; salt++ {
			fresh = newEndpoint(t, 2, salt, nil, mercury.Config{})
			if fresh.Dial(other.Self()) == r.chB {
				break
			}
		}
		r.w.Add(fresh)
		r.w.Run(50 * time.Millisecond)
		if err := r.a.Send(r.chA, []byte("hello?")); err != nil {
			t.Fatal(err)
		}
		r.w.Run(20 * time.Millisecond)
		if closed := r.atA.Of(r.chA).Closed; len(closed) != 1 || !errors.Is(closed[0], mercury.ErrPeerRestarted) {
			t.Errorf("open %v: closed with %v", open, closed)
		}
	}
}

// The new start of a peer dials at once; the channels of the old one end within a round trip, also
// when the pings that find out are lost.
func TestRestartedDialler(t *testing.T) {
	for seed := range uint64(20) {
		r := newRig(t, seed, mercury.Config{})
		r.w.Net.SetLink(mercurytest.Link{Delay: 5 * time.Millisecond, Loss: 0.2})
		r.w.Remove(r.placeA)
		fresh := newEndpoint(t, 1, 999, nil, mercury.Config{})
		r.w.Add(fresh)
		ch := fresh.Dial(r.b.Self())
		r.w.Run(3 * time.Second)
		if closed := r.atB.Of(r.chB).Closed; len(closed) != 1 || !errors.Is(closed[0], mercury.ErrPeerRestarted) {
			t.Fatalf("seed %d: the old start's channel closed with %v", seed, closed)
		}
		if len(r.atB.Order) != 2 || len(r.atB.Of(r.atB.Order[1]).Closed) > 0 {
			t.Fatalf("seed %d: the new start's channel is not open", seed)
		}
		if _, ok := fresh.Peer(ch); !ok {
			t.Fatalf("seed %d: the new start lost its channel", seed)
		}
	}
}

func TestForgottenChannelIsReset(t *testing.T) {
	r := newRig(t, 4, mercury.Config{})
	r.w.Net.SetLink(mercurytest.Link{Loss: 1})
	r.b.Abort(r.chB)
	r.w.Run(10 * time.Millisecond)
	r.w.Net.SetLink(mercurytest.Link{})
	r.w.Run(mercury.DefaultKeepAlive + 10*time.Millisecond)
	if closed := r.atA.Of(r.chA).Closed; len(closed) != 1 || !errors.Is(closed[0], mercury.ErrPeerAborted) {
		t.Fatalf("closed with %v", closed)
	}
}

// A full queue refuses, whatever the network does. When the peer is back, all that was taken
// arrives.
func TestFull(t *testing.T) {
	r := newRig(t, 5, mercury.Config{MaxMessage: 1000, MaxQueued: 10000})
	r.w.Net.Cut(r.placeA, r.placeB, true)
	var err error
	sent := 0
	for err == nil {
		err = r.a.Send(r.chA, make([]byte, 1000))
		sent++
	}
	if !errors.Is(err, mercury.ErrFull) || sent > 11 {
		t.Fatalf("message %d: %v", sent, err)
	}
	r.w.Run(5 * time.Second)
	r.w.Net.Cut(r.placeA, r.placeB, false)
	r.w.Run(3 * time.Second)
	if closed := r.atA.Of(r.chA).Closed; len(closed) != 0 {
		t.Fatalf("closed with %v", closed)
	}
	if got := len(r.atB.Of(r.chB).Reliable); got != sent-1 {
		t.Errorf("%d messages of %d came", got, sent-1)
	}
}

func TestMaxChannels(t *testing.T) {
	r := newRig(t, 6, mercury.Config{MaxChannels: 2})
	var at mercurytest.Recorder
	c := newEndpoint(t, 3, 103, &at, mercury.Config{})
	r.w.Add(c)
	first, second := c.Dial(r.b.Self()), c.Dial(mercury.Address{At: r.placeB})
	r.w.Run(time.Second)
	if at.Of(first).Opened != 1 || len(at.Of(second).Closed) != 1 || !errors.Is(at.Of(second).Closed[0], mercury.ErrTooManyChannels) {
		t.Errorf("first %+v, second %+v", at.Of(first), at.Of(second))
	}
	if s := r.b.Stats(); s.Channels != 2 || s.Refused != 1 {
		t.Errorf("%d channels, %d refused", s.Channels, s.Refused)
	}
	over := []mercury.ChannelID{r.a.Dial(c.Self()), r.a.Dial(mercury.Address{At: c.Self().At})}
	r.w.Run(time.Second)
	if closed := r.atA.Of(over[1]).Closed; len(closed) != 1 || !errors.Is(closed[0], mercury.ErrTooManyChannels) {
		t.Errorf("a dial above MaxChannels closed with %v", closed)
	}
}

// At the tick of a game, over a bad link, the 99th percentile of the delay stays within a few round
// trips.
func TestDelayUnderLoss(t *testing.T) {
	r := newRig(t, 7, mercury.Config{})
	r.w.Net.SetLink(mercurytest.Link{Loss: 0.1, Delay: 50 * time.Millisecond, Jitter: 5 * time.Millisecond})
	sentAt := map[int]time.Duration{}
	late := 0
	r.atB.OnMessage = func(_ mercury.ChannelID, _ bool, msg []byte) {
		i := int(binary.LittleEndian.Uint32(msg))
		if r.w.Now()-sentAt[i] > 600*time.Millisecond {
			late++
		}
	}
	const n = 2000
	for i := range n {
		sentAt[i] = r.w.Now()
		if err := r.a.Send(r.chA, binary.LittleEndian.AppendUint32(nil, uint32(i))); err != nil {
			t.Fatal(err)
		}
		r.wantStream++
		r.w.Run(100 * time.Millisecond)
	}
	r.w.Run(5 * time.Second)
	r.checkStream()
	if late > n/100 {
		t.Errorf("%d of %d messages took more than 600 ms over a link of 100 ms round trip", late, n)
	}
	if s := r.a.Stats(); s.Resends > n*3/10 {
		t.Errorf("%d resends for %d messages at a loss of one in ten", s.Resends, n)
	}
}

// An idle channel costs its keep-alives and their acks, and few wake-ups.
func TestIdleCost(t *testing.T) {
	r := newRig(t, 8, mercury.Config{})
	before := r.a.Stats()
	r.w.Run(100 * time.Second)
	s := r.a.Stats()
	if n := s.PacketsOut - before.PacketsOut; n > 220 {
		t.Errorf("%d packets in 100 idle seconds", n)
	}
	if s.Resends > 0 || s.Lost > 0 {
		t.Errorf("an idle channel resent: %+v", s)
	}
	wakes := 0
	for now, end := r.w.Now(), r.w.Now()+8*time.Second; now < end; wakes++ {
		d, ok := r.a.NextDeadline()
		if !ok || d > now+time.Second {
			t.Fatalf("next deadline %v %v at %v", d, ok, now)
		}
		now = max(now, d)
		r.a.Advance(now)
		r.a.Flush(now, func(netip.AddrPort, []byte) {})
	}
	if wakes > 40 {
		t.Errorf("%d wake-ups in 8 s of silence", wakes)
	}
}

// A big transfer fills the link and loses little of it; time is the link's, not the timers'.
func TestThroughput(t *testing.T) {
	r := newRig(t, 9, mercury.Config{})
	const n = 40
	start := r.w.Now()
	got := 0
	r.atB.OnMessage = func(_ mercury.ChannelID, _ bool, msg []byte) { got += len(msg) }
	for range n {
		if err := r.a.Send(r.chA, make([]byte, 200<<10)); err != nil {
			t.Fatal(err)
		}
	}
	if !r.w.RunUntil(time.Minute, func() bool { return got == n*200<<10 }) {
		t.Fatalf("%d bytes after a minute", got)
	}
	// 8 MB in windows of 64 doubling to 1024 packets, a round trip of 10 ms each.
	if took := r.w.Now() - start; took > 400*time.Millisecond {
		t.Errorf("8 MB took %v at a round trip of 10 ms", took)
	}
	if s := r.a.Stats(); s.Resends > 0 {
		t.Errorf("%d resends without loss", s.Resends)
	}
}

// The same seed gives the same datagrams.
func TestDeterminism(t *testing.T) {
	run := func() []mercury.Stats {
		r := newRig(t, 10, mercury.Config{})
		r.w.Net.SetLink(mercurytest.Link{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond})
		rng := rand.New(rand.NewPCG(1, 1))
		for range 200 {
			_ = r.a.Send(r.chA, make([]byte, rng.IntN(5000)))
			_, _ = r.b.SendUnreliable(r.chB, make([]byte, rng.IntN(1000)))
			r.w.Run(time.Duration(rng.IntN(50)) * time.Millisecond)
		}
		return []mercury.Stats{r.a.Stats(), r.b.Stats()}
	}
	first, second := run(), run()
	for i := range first {
		if first[i] != second[i] {
			t.Errorf("endpoint %d: %+v, then %+v", i, first[i], second[i])
		}
	}
}
