package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// lossy is a bad line, but not one that stalls for seconds.
func lossy() mercurytest.Link {
	return mercurytest.Link{Loss: 0.05, Duplicate: 0.01, Reorder: 0.02, Delay: 20 * time.Millisecond, Jitter: 30 * time.Millisecond}
}

// TestHonestPlayers: who walks at top speed is never put back, over a bad line and over borders. The
// network stalls now and then, and delivers at once what was said in the meantime.
func TestHonestPlayers(t *testing.T) {
	play(t, Options{Seed: 31}, func(r *rig) {
		before := r.observer.last.Counters.Migrations
		stalls := lossy()
		stalls.Outage, stalls.OutageEvery = time.Second, 8*time.Second
		r.net.SetLink(stalls)
		r.wait(40 * time.Second)
		for _, pl := range r.players {
			if n := pl.client.Stats().Forced; n > 0 {
				t.Errorf("%s was put back %d times", pl.name, n)
			}
		}
		if n := r.observer.last.Counters.Migrations - before; n < 20 {
			t.Errorf("only %d borders were crossed", n)
		}
		r.net.SetLink(cleanLink())
	})
}

// TestCheat: players that claim to fly are put back and counted; lastWord watches that their reals
// do not leap, and that nobody else is put back. In the end they are where the server has them.
func TestCheat(t *testing.T) {
	play(t, Options{Seed: 32}, func(r *rig) {
		r.players[0].cheat, r.players[1].cheat = true, true
		for _, link := range []mercurytest.Link{cleanLink(), lossy()} {
			r.net.SetLink(link)
			before := r.observer.last.Counters.Corrected
			r.wait(20 * time.Second)
			if n := r.observer.last.Counters.Corrected - before; n < 20 {
				t.Errorf("%d moves were corrected", n)
			}
		}
		for i, pl := range r.players {
			if n := pl.client.Stats().Forced; (n == 0) == (i < 2) {
				t.Errorf("%s was put back %d times", pl.name, n)
			}
		}
		r.net.SetLink(cleanLink())
		r.players[0].cheat, r.players[1].cheat = false, false
	})
}

// TestShoved: the server puts players elsewhere and walks them about, over a bad line and over
// borders, while their clients walk, too, and CellApps die. In the end each client is where the
// server has its entity, and has the control.
func TestShoved(t *testing.T) {
	play(t, Options{Seed: 33, Crash: true}, func(r *rig) {
		r.net.SetLink(lossy())
		for n := range 60 {
			r.shove(n)
			for range 20 {
				r.wait(25 * time.Millisecond)
				r.unmoved()
			}
			if n == 40 {
				on, _, _ := r.real(r.id())
				on.crash()
			}
		}
		r.net.SetLink(cleanLink())
		r.wait(30 * time.Second) // longer than a walk
		for _, pl := range r.players {
			_, _, v := r.real(pl.id())
			if pl.playing() && (!pl.client.Controls() || pl.client.Stats().Forced == 0 || v.ID() != pl.id()) {
				t.Errorf("%s has not got the control, or was never put elsewhere: %d", pl.name, pl.client.Stats().Forced)
			}
		}
	})
}

// shove walks every second player elsewhere, and puts the others elsewhere at once. Their
// top speed is lifted, or it alone would keep old uploads from undoing that.
func (r *rig) shove(n int) {
	pl := r.players[n%len(r.players)]
	for v := range r.views() {
		s, ok := v.Script().(*walkerCell)
		if v.ID() != pl.id() || !v.IsReal() || !ok {
			continue
		}
		pl.shoved++
		to := property.Vector3{X: float32(r.chance.IntN(2*half) - half), Z: float32(r.chance.IntN(2*half) - half)}
		if n%2 == 0 {
			if _, err := s.MoveTo(to, 40, "", 0); err != nil {
				r.t.Error(err)
			}
			continue
		}
		if err := errors.Join(s.SetTopSpeed(0, 0), s.SetPosition(to)); err != nil {
			r.t.Error(err)
		}
		pl.put = put{at: to, order: v.Order(), forced: pl.client.Stats().Forced, logins: pl.logins}
	}
}

// unmoved demands that who was put aside stays there until its client has heard of it.
func (r *rig) unmoved() {
	for _, pl := range r.players {
		if pl.put.order.Incarnation == 0 || pl.client.Stats().Forced != pl.put.forced || pl.logins != pl.put.logins {
			pl.put = put{}
			continue
		}
		on, _, v := r.real(pl.id())
		if on != nil && v.Order().Incarnation == pl.put.order.Incarnation && v.Position() != pl.put.at {
			r.t.Fatalf("%s is at %v: its client has undone what the server said, %v", pl.name, v.Position(), pl.put.at)
		}
	}
}
