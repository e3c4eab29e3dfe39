package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/overload"
)

// crowded is an overload configuration that begins at a load, and reacts fast enough for a short
// run.
func crowded(start float64) overload.Config {
	return overload.Config{Start: start, Patience: time.Second, Dwell: 500 * time.Millisecond, Recovery: 1500 * time.Millisecond, MinRate: 0.4}
}

// TestOverload: a crowd gathers on one spot, where no line divides it. First logins are refused,
// then clients are told less, then the world runs more slowly; but it goes on. When the crowd has
// gone, everything is as before.
func TestOverload(t *testing.T) {
	o := Options{Seed: 41, CellApps: 2, Players: 12, Rovers: -1, Balance: still(2), Load: 80e6, Overload: crowded(0.75)}
	o.Overload.Patience = 3 * time.Second
	o.Logins = cellappmgr.LoginConfig{AvgLoad: 0.7, MaxLoad: 0.75, Tolerance: time.Second, Queue: -1}
	play(t, o, func(r *rig) {
		spot := r.across(30)
		crowd := func(int) property.Vector3 { return spot }
		apart := func(i int) property.Vector3 { return r.across(30 * float64(1-i%2*2)) }
		gather := func(where func(i int) property.Vector3) {
			for i, pl := range r.players {
				at := where(i)
				at.X, at.Z = at.X+float32(i), at.Z+float32(i%3)
				pl.steer = func() property.Vector3 { return at }
			}
		}
		gather(apart) // six on either side
		r.wait(30 * time.Second)
		if st := r.observer.last; st.LoginsRefused || r.rate() != 1000 || r.savingStep() != 0 {
			t.Fatalf("before the crowd: logins refused %v, rate %d, savingStep %d", st.LoginsRefused, r.rate(), r.savingStep())
		}

		gather(crowd)
		r.until("logins are refused", time.Minute, func() bool { return r.observer.last.LoginsRefused })
		if r.savingStep() != 0 {
			t.Error("clients were told less before logins were refused")
		}
		r.until("clients are told less", 10*time.Second, func() bool { return r.savingStep() > 0 })
		if r.rate() != 1000 {
			t.Error("the space slowed down before clients were told less")
		}
		g := r.visit("late", r.world.schema)
		r.until("a guest is refused", 5*time.Second, func() bool { return g.closed != nil })
		var why *protocol.Refused
		if !errors.As(g.closed, &why) || why.Code != protocol.WorldFull {
			t.Errorf("the guest was told %v", g.closed)
		}
		r.until("the space runs at its slowest", time.Minute, func() bool { return r.rate() == 400 })

		steps, game, at := r.steps(), r.game(), r.now
		r.wait(10 * time.Second)
		if slow := r.game() - game; slow < 3800*time.Millisecond || slow > 4200*time.Millisecond {
			t.Errorf("%v of game time in %v", slow, r.now-at)
		}
		if n := r.steps() - steps; n == 0 {
			t.Error("the world stands still")
		}

		gather(apart)
		r.until("the space is as fast as ever", 3*time.Minute, func() bool { return r.rate() == 1000 })
		r.until("clients are told all", 3*time.Minute, func() bool { return r.savingStep() == 0 })
		r.until("logins are open", 10*time.Second, func() bool { return !r.observer.last.LoginsRefused })
		for _, pl := range r.players {
			pl.steer = nil
		}
	})
}

// TestOverloadComesAndGoes: a crowd gathers and parts, three times. Each time logins are refused before
// clients are told less, budgets shrink before details, details before time runs slower, and it comes
// back in the reverse order. No step of the way is gone twice: the direction changes once when the
// crowd comes and once when it has gone. The status tells each step.
func TestOverloadComesAndGoes(t *testing.T) {
	long(t)
	o := Options{Seed: 43, CellApps: 2, Players: 12, Rovers: -1, Balance: still(2), Load: 80e6, Overload: crowded(0.75)}
	o.Overload.Patience = 3 * time.Second
	o.Logins = cellappmgr.LoginConfig{AvgLoad: 0.7, MaxLoad: 0.75, Tolerance: time.Second, Queue: -1}
	play(t, o, func(r *rig) {
		gather := func(apart bool) {
			for i, pl := range r.players {
				at := r.across(30)
				if apart {
					at = r.across(30 * float64(1-i%2*2))
				}
				at.X, at.Z = at.X+float32(i), at.Z+float32(i%3)
				pl.steer = func() property.Vector3 { return at }
			}
		}
		turns, direction, last := 0, 1, 0
		refused := false
		look := func() {
			st := &r.observer.last
			refused = st.LoginsRefused
			for i := range st.Apps {
				a := &st.Apps[i]
				if (a.Saving != nil) != (a.SavingStep > 0) {
					t.Errorf("step %d saves %+v", a.SavingStep, a.Saving)
				}
				if s := a.Saving; s != nil {
					if s.Budget > .25 && s.Detail < 1 || s.Detail > .5 && s.Rate < 1 || s.Budget == 1 {
						t.Errorf("out of order: step %d saves %+v", a.SavingStep, *s)
					}
					if !refused {
						t.Errorf("logins are open at step %d", a.SavingStep)
					}
				}
			}
			is := r.savingStep()
			if is != last && (is > last) != (direction > 0) {
				turns, direction = turns+1, -direction
			}
			last = is
		}
		gather(true)
		r.wait(30 * time.Second)
		for cycle := range 3 {
			deepest := 0
			gather(false)
			for range 60 {
				r.wait(time.Second)
				look()
				deepest = max(deepest, last)
			}
			gather(true)
			for range 120 {
				r.wait(time.Second)
				look()
			}
			t.Logf("cycle %d: step %d at the deepest, %d turns so far", cycle, deepest, turns)
			if deepest == 0 || last != 0 || refused {
				t.Errorf("cycle %d: step %d at the deepest, %d at the end, logins refused %v", cycle, deepest, last, refused)
			}
		}
		if turns > 2*3 {
			t.Errorf("%d turns in three crowds", turns)
		}
		for _, pl := range r.players {
			pl.steer = nil
		}
	})
}

// rate is that of the slowest cell, savingStep the most steps by which a CellApp saves, game the game
// time of the first cell.
func (r *rig) rate() uint16 {
	slowest := uint16(1000)
	for _, a := range r.liveCellApps() {
		for cell := range a.Cells() {
			slowest = min(slowest, cell.Rate())
		}
	}
	return slowest
}

func (r *rig) savingStep() (most int) {
	for _, a := range r.observer.last.Apps {
		most = max(most, a.SavingStep)
	}
	return most
}

func (r *rig) game() (game time.Duration) {
	for v := range r.views() {
		game = v.cell.Game()
	}
	return game
}

// steps is the sum of what all walkers have counted by timers.
func (r *rig) steps() (n uint64) {
	for v := range r.reals() {
		n += get(v, "steps")
	}
	return n
}

// TestSlowSpaceLosesNothing: a space slows down, a CellApp of it dies, and the manager stands still
// in the meantime. A restored entity has the game time of the space.
func TestSlowSpaceLosesNothing(t *testing.T) {
	play(t, Options{Seed: 42, Overload: crowded(0.1), Load: 60e6}, func(r *rig) {
		r.until("the space is slow", time.Minute, func() bool { return r.rate() == 400 })
		on, _, _ := r.real(r.id())
		on.crash()
		r.manager.pause(2 * time.Second)
		r.wait(3 * time.Second)
		on.restartAt = r.now + time.Millisecond
		r.wait(10 * time.Second)
		cells := 0
		for _, a := range r.liveCellApps() {
			for cell := range a.Cells() {
				cells++
				if cell.Rate() != 400 {
					t.Errorf("a cell runs at %d", cell.Rate())
				}
			}
		}
		if cells < 2 {
			t.Errorf("%d cells", cells)
		}
	})
}
