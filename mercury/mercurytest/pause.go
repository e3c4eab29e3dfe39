package mercurytest

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// pauseAt has B pause a channel inside the callback that brings message n of it.
func (x *bench) pauseAt(ch mercury.ChannelID, n int) {
	x.b.OnMessage = func(on mercury.ChannelID, reliable bool, _ []byte) {
		if on == ch && reliable && len(x.b.Of(ch).Reliable) == n {
			x.B.Pause(ch)
		}
	}
}

// testPause pauses one of two channels for longer than a peer may be silent, while its sender fills
// it. The other channel does not notice, the sender's queue refuses what is too much, and after
// Resume everything comes in order.
func testPause(t *testing.T, x *bench) {
	a, b := x.connect()
	beside := x.B.Dial(x.A.Self())
	x.until("the channel beside it", func() bool { return len(x.a.Order) == 2 && x.a.Of(x.a.Order[1]).Opened == 1 })
	x.pauseAt(b, 3)
	seen, size := x.b.Of(b), min(x.MaxMessage-4, 64<<10)
	for i := range 10 { // in one packet, of which the rest must wait
		x.send(x.A, a, numbered(i, 5))
	}
	x.send(x.A, x.a.Order[1], numbered(0, 5))
	x.until("the message beside it", func() bool { return len(x.b.Of(beside).Reliable) == 1 })
	x.until("the pause", func() bool { return len(seen.Reliable) == 3 })
	sent := 10
	for full := false; !full; {
		switch err := x.A.Send(a, numbered(sent, size)); {
		case err == nil:
			sent++
		case errors.Is(err, mercury.ErrFull):
			full = !x.RunUntil(x.Timeout/4, func() bool { waiting, limit := x.A.Queued(a); return waiting < limit/2 })
		default:
			t.Fatalf("message %d: %v", sent, err)
		}
		if sent*size > fullMost {
			t.Fatalf("%d messages went into a paused channel", sent)
		}
	}
	rooms := x.a.Of(a).Rooms
	x.RunUntil(x.Timeout*3/2, func() bool { return false })
	if len(seen.Closed)+len(x.a.Of(a).Closed) > 0 {
		t.Fatalf("the pause has ended the channel: %v, %v", x.a.Of(a).Closed, seen.Closed)
	}
	if len(seen.Reliable) != 3 {
		t.Fatalf("%d messages came, paused after 3", len(seen.Reliable))
	}
	x.B.Resume(b)
	if len(seen.Reliable) != 3 {
		t.Fatal("Resume calls back")
	}
	x.until("what was held", func() bool { return len(seen.Reliable) == sent })
	x.wantStream(seen.Reliable, sent)
	x.until("word of room", func() bool { return x.a.Of(a).Rooms > rooms })
	x.send(x.A, a, numbered(sent, 5))
	x.until("the message after it", func() bool { return len(seen.Reliable) == sent+1 })
}

// testPauseOften pauses and resumes at random, under faults where there are some: each message
// comes once and in order, and none while the channel is paused.
func testPauseOften(t *testing.T, x *bench) {
	rng := rand.New(rand.NewPCG(1, 7))
	a, b := x.connect()
	if x.SetLink != nil {
		x.SetLink(Link{Loss: 0.1, Duplicate: 0.05, Reorder: 0.2, Delay: 20 * time.Millisecond, Jitter: 20 * time.Millisecond})
	}
	const n = 3000
	paused, sent := false, 0
	x.b.OnMessage = func(mercury.ChannelID, bool, []byte) {
		if paused {
			t.Fatal("a message in a pause")
		}
		if rng.IntN(30) == 0 {
			paused = true
			x.B.Pause(b)
		}
	}
	seen := x.b.Of(b)
	for round := 0; len(seen.Reliable) < n; round++ {
		for range rng.IntN(200) {
			if sent < n && x.A.Send(a, numbered(sent, rng.IntN(min(2000, x.MaxMessage)-4))) == nil {
				sent++
			}
		}
		was := len(seen.Reliable)
		x.RunUntil(time.Duration(rng.IntN(20))*time.Millisecond, func() bool { return false })
		if paused && rng.IntN(2) == 0 {
			paused = false
			x.B.Resume(b)
		}
		if round > 100*n {
			t.Fatalf("%d messages came of %d, %d in the last round", len(seen.Reliable), sent, len(seen.Reliable)-was)
		}
	}
	x.wantStream(seen.Reliable, n)
}

// testPauseEnd closes a channel that is paused at the other end: what was held comes before the
// end.
func testPauseEnd(t *testing.T, x *bench) {
	a, b := x.connect()
	x.pauseAt(b, 1)
	for i := range 10 {
		x.send(x.A, a, numbered(i, 5))
	}
	x.until("the pause", func() bool { return len(x.b.Of(b).Reliable) == 1 })
	x.send(x.A, a, numbered(10, 5))
	x.A.Close(a)
	x.until("the end", func() bool { return len(x.b.Of(b).Closed) > 0 })
	x.wantStream(x.b.Of(b).Reliable, 11)
	x.wantClosed(x.b.Of(b), mercury.ErrPeerClosed)
	x.B.Pause(b + 1000)
	x.B.Resume(b + 1000)
}
