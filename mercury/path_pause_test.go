package mercury_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A silence says nothing about how long datagrams may be: neither the peer's nor the path's.
func TestSilenceIsNoBlackHole(t *testing.T) {
	for _, what := range []string{"pause", "cut"} {
		for _, bulk := range []bool{false, true} {
			for _, silent := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second, 9 * time.Second} {
				t.Run(fmt.Sprintf("%s of %v, bulk %v", what, silent, bulk), func(t *testing.T) {
					g := newChaosGame(t, 1, mercury.Config{}, mercurytest.Link{Delay: 25 * time.Millisecond}, chaosDown, chaosUp)
					mtu := func() int {
						s, _ := g.sides[0].e.ChannelStats(g.sides[0].ch)
						return s.MTU
					}
					g.play(5 * time.Second)
					if mtu() != mercury.DefaultMTU {
						t.Fatalf("MTU is %d before anything happened", mtu())
					}
					silence := func(on bool) {
						if what == "pause" {
							g.w.Pause(mercurytest.Place(2), on)
						} else {
							g.w.Net.Cut(mercurytest.Place(1), mercurytest.Place(2), on)
						}
					}
					for range 5 {
						if bulk {
							_ = g.sides[0].e.SendBulk(g.sides[0].ch, make([]byte, 200_000))
						}
						g.play(20 * time.Millisecond)
						silence(true)
						if what == "pause" {
							g.sides[1].next = g.w.Now() + silent // its app is paused as well
						}
						g.play(silent)
						silence(false)
						g.play(2 * time.Second)
						if mtu() != mercury.DefaultMTU {
							t.Errorf("MTU is %d two seconds after a silence of %v", mtu(), silent)
						}
					}
					g.drain()
				})
			}
		}
	}
}

// A path that passes no long datagrams any more is noticed, also when nothing short is sent beside
// them; bulk goes on, and once the path is as before, so is the channel.
func TestBlackHoleIsFound(t *testing.T) {
	for _, game := range []bool{false, true} {
		t.Run(fmt.Sprintf("game %v", game), func(t *testing.T) {
			down, up := chaosDown, chaosUp
			if !game {
				down, up = chaosFlow{}, chaosFlow{}
			}
			wide := mercurytest.Link{Delay: 25 * time.Millisecond}
			g := newChaosGame(t, 1, mercury.Config{}, wide, down, up)
			g.play(2 * time.Second)
			hole := wide
			hole.MTU = 1300
			g.w.Net.SetLink(hole)
			e, ch := g.sides[0].e, g.sides[0].ch
			if err := e.SendBulk(ch, make([]byte, 1_000_000)); err != nil {
				t.Fatal(err)
			}
			g.play(20 * time.Second)
			s, _ := e.ChannelStats(ch)
			if s.MTU > hole.MTU || s.InFlight > 20_000 {
				t.Errorf("20 s after the path became narrow: %+v", s)
			}
			g.w.Net.SetLink(wide)
			g.play(15 * time.Minute)
			if s, _ := e.ChannelStats(ch); s.MTU != mercury.DefaultMTU {
				t.Errorf("MTU is %d a quarter of an hour after the path became wide", s.MTU)
			}
		})
	}
}

// What was learnt of the loss of one path is not believed of the next.
func TestMoveForgetsLoss(t *testing.T) {
	for _, gap := range []time.Duration{0, 200 * time.Millisecond} {
		t.Run(fmt.Sprintf("nothing passes for %v", gap), func(t *testing.T) {
			lossy, clean := mercurytest.Link{Delay: 25 * time.Millisecond, Loss: 0.1}, mercurytest.Link{Delay: 25 * time.Millisecond}
			g := newChaosGame(t, 1, mercury.Config{}, lossy, chaosDown, chaosUp)
			g.play(30 * time.Second)
			for i, s := range g.sides {
				if d, _ := s.e.ChannelStats(s.ch); d.Copies == 0 || d.Loss < 0.05 {
					t.Fatalf("side %d before the move: %+v", i, d)
				}
			}
			g.w.Net.SetLink(clean)
			g.w.Net.Rebind(mercurytest.Place(2), mercurytest.Place(10))
			g.w.Net.Cut(mercurytest.Place(1), mercurytest.Place(2), true)
			g.play(gap)
			g.w.Net.Cut(mercurytest.Place(1), mercurytest.Place(2), false)
			g.play(time.Second)
			// The server knows that its peer has moved. The client does not hear of it: its copies
			// end as when a loss ends.
			if d, _ := g.sides[0].e.ChannelStats(g.sides[0].ch); d.Copies != 0 || d.Loss > 0.03 {
				t.Errorf("the server one second after the move: %+v", d)
			}
			g.play(15 * time.Second)
			g.measure()
			g.play(5 * time.Second)
			for i, s := range g.sides {
				if d, _ := s.e.ChannelStats(s.ch); d.Copies != 0 {
					t.Errorf("side %d after the move: %+v", i, d)
				}
			}
			g.drain()
		})
	}
}
