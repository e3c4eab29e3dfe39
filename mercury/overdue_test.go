package mercury_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// Bursts of three packets on average, which copies cannot make good: of the messages to the client and
// from it 99 in 100 arrive within 100 ms over a path of 25 ms each way, for no more bytes than single
// losses cost without copies, and half a copy.
func TestChaosGameUnderBursts(t *testing.T) {
	const seeds, wire = 8, 1.5
	link := mercurytest.Link{Delay: 25 * time.Millisecond, BurstBegin: 0.01, BurstEnd: 1. / 3}
	var delays [2][]time.Duration
	sum := 0.0
	for seed := range uint64(seeds) {
		g := newChaosGame(t, seed, mercury.Config{}, link, chaosDown, chaosUp)
		g.play(30 * time.Second)
		g.measure()
		g.play(3 * time.Minute)
		sum += g.wire()
		g.drain()
		for i, s := range g.sides {
			delays[i] = append(delays[i], s.figures().delays...)
		}
	}
	for i, way := range []string{"S->C", "C->S"} {
		p99 := percentile(delays[i], 99)
		t.Logf("%s: p95 %v, p99 %v", way, percentile(delays[i], 95), p99)
		if p99 >= 100*time.Millisecond {
			t.Errorf("%s p99 is %v, want less than 100 ms", way, p99)
		}
	}
	if mean := sum / seeds; mean > wire {
		t.Errorf("%.2f bytes on the wire for each of payload, want at most %.1f", mean, wire)
	}
}

// The first message that falls into a burst is sent again after a round trip and the time between two
// packets of the peer, however long the burst lasts, and again until one has passed.
func TestBurstIsNotWaitedFor(t *testing.T) {
	const delay, slack = 25 * time.Millisecond, 2 * time.Millisecond
	for _, test := range []struct {
		name string
		side int           // whose packets are lost
		lost time.Duration // for how long
		most time.Duration // until the last of them has come
	}{
		{"to the client", 0, 3 * chaosDown.every, 3*delay + chaosUp.every},
		{"from the client", 1, chaosUp.every + 5*time.Millisecond, 3*delay + chaosDown.every},
		{"from the client, with what is sent again", 1, 2*chaosUp.every - 3*time.Millisecond, 3*delay + chaosDown.every},
	} {
		for phase := range 11 {
			t.Run(fmt.Sprintf("%s, phase %d", test.name, phase), func(t *testing.T) {
				g := newChaosGame(t, 1, mercury.Config{}, mercurytest.Link{Delay: delay}, chaosDown, chaosUp)
				place := [2]mercury.Address{g.sides[0].e.Self(), g.sides[1].e.Self()}
				from, to := place[test.side].At, place[1-test.side].At
				lose := func(d time.Duration) {
					g.w.Net.SetLinkOneWay(from, to, mercurytest.Link{Delay: delay, Loss: 1})
					g.play(d)
					g.w.Net.SetLinkOneWay(from, to, mercurytest.Link{Delay: delay})
				}
				g.play(5 * time.Second)
				lose(4 * chaosUp.every) // the path is known to lose packets, and more than copies could make good
				g.play(5*time.Second + time.Duration(3*phase)*time.Millisecond)
				g.measure()
				lose(test.lost)
				g.play(time.Second)
				g.drain()
				if worst := percentile(g.sides[test.side].figures().delays, 100); worst > test.most+slack {
					t.Errorf("a message took %v, want at most %v", worst, test.most+slack)
				}
			})
		}
	}
}

// On a path that has lost something, an ack that comes a little later than others is no reason to
// send anything again.
func TestJitterIsNotOverdue(t *testing.T) {
	link := mercurytest.Link{Delay: 25 * time.Millisecond, Jitter: 10 * time.Millisecond}
	lossy := link
	lossy.BurstBegin, lossy.BurstEnd = 0.02, 0.2
	for seed := range uint64(3) {
		g := newChaosGame(t, seed, mercury.Config{}, lossy, chaosDown, chaosUp)
		g.play(10 * time.Second)
		g.w.Net.SetLink(link)
		g.play(5 * time.Second)
		g.measure()
		g.play(time.Minute)
		g.drain()
		for i, s := range g.sides {
			if f := s.figures(); f.resends > f.messages/200 {
				t.Errorf("seed %d: side %d sent %d of %d messages again, though none was lost", seed, i, f.resends, f.messages)
			}
		}
	}
}

// A path on which packets overtook each other by seconds, since it was slow, is a fast one now. What it
// loses is sent again soon: how long a packet is waited for goes by the round trip of now.
func TestPatienceFollowsThePath(t *testing.T) {
	slow := mercurytest.Link{Delay: 1500 * time.Millisecond, Jitter: 1500 * time.Millisecond}
	fast := mercurytest.Link{Delay: time.Millisecond, BurstBegin: 0.02, BurstEnd: 1. / 8}
	for seed := range uint64(3) {
		g := newChaosGame(t, seed, mercury.Config{}, slow, chaosDown, chaosUp)
		g.play(10 * time.Second)
		g.w.Net.SetLink(fast)
		g.play(4 * time.Second) // what was sent before has come, and the round trip is known
		g.measure()
		g.play(4 * time.Second)
		g.drain()
		for i, s := range g.sides {
			const most = 600 * time.Millisecond // a few bursts, of which each takes eight packets
			if worst := percentile(s.figures().delays, 100); worst > most {
				t.Errorf("seed %d, side %d: a message took %v over a path of 2 ms", seed, i, worst)
			}
		}
	}
}
