package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// TestDrive: a player's client moves another player's entity, over a bad line, while both cross borders
// and a CellApp dies. The one is the only one who moves it, and in the end all agree where it is.
func TestDrive(t *testing.T) {
	play(t, Options{Seed: 34, Crash: true}, func(r *rig) {
		driver, driven := r.players[0], r.players[1]
		meet := r.across(-20)
		driven.steer = func() property.Vector3 { return meet }
		r.lead(meet)
		r.wait(30 * time.Second)
		driven.driven = true
		n := 0
		at := func(phase int) property.Vector3 { return r.across([]float64{-30, 30}[(n+phase)/60%2]) }
		driver.steer = func() property.Vector3 {
			n++
			if e := driver.client.Entity(driven.id()); e != nil && e.Controls() {
				if err := e.SetPosition(toward(e.Position, at(30)), property.Vector3{X: 2}); err != nil {
					t.Error(err)
				}
			}
			return at(0)
		}
		on, lines, controlled, rounds := (*Process)(nil), 0, 0, 0
		r.net.SetLink(lossy())
		for ; rounds < 160; rounds++ {
			r.wait(250 * time.Millisecond)
			for v := range r.views() {
				s, ok := v.Script().(*walkerCell)
				if v.ID() != driven.id() || !v.IsReal() || !ok {
					continue
				}
				if s.ControlledBy() != driver.id() {
					if err := s.SetControlledBy(driver.id()); err != nil {
						t.Error(err)
					}
				}
				if on != v.p {
					on, lines = v.p, lines+1
				}
			}
			if e := driver.client.Entity(driven.id()); e != nil && e.Controls() {
				controlled++
				if driven.playing() && driven.client.Controls() && rounds > 20 && rounds < 100 {
					t.Error("two clients have the control")
				}
			}
			if rounds == 120 {
				on.crash()
			}
		}
		t.Logf("%d of %d rounds controlled, %d lines crossed, %d corrected", controlled, rounds, lines, r.observer.last.Counters.Corrected)
		if lines < 4 || controlled < rounds/2 {
			t.Errorf("%d lines crossed, %d of %d rounds controlled", lines, controlled, rounds)
		}
		r.net.SetLink(cleanLink())
		// Lines that have moved may have parted them: they meet where the one is.
		var v space.View
		r.until("it has a real", 5*time.Second, func() bool {
			cell := (*space.Hosted)(nil)
			_, cell, v = r.real(driven.id())
			return cell != nil
		})
		there := v.Position()
		driver.steer = func() property.Vector3 { return there }
		driven.steer = driver.steer
		r.until("the driver sees it", time.Minute, func() bool { return driver.client.Entity(driven.id()) != nil })
		if _, _, v := r.real(driven.id()); v.Script().(*walkerCell).ControlledBy() != driver.id() {
			if err := v.Script().(*walkerCell).SetControlledBy(driver.id()); err != nil {
				t.Error(err)
			}
		}
		r.wait(10 * time.Second)
		e := driver.client.Entity(driven.id())
		if _, _, v := r.real(driven.id()); e == nil || !e.Controls() || v.Position() != e.Position || driven.client.Player().Position != e.Position {
			t.Errorf("the driver has it at %v, the server at %v", e, v.Position())
		}
		_, _, v = r.real(driven.id())
		if err := v.Script().(*walkerCell).SetControlledBy(driven.id()); err != nil {
			t.Error(err)
		}
		r.wait(2 * time.Second)
		if e := driver.client.Entity(driven.id()); e == nil || e.Controls() || !driven.client.Controls() {
			t.Errorf("its own client shall move it again: the driver has %v", e)
		}
	})
}

// toward is a step from a place to another.
func toward(at, to property.Vector3) property.Vector3 {
	d := property.Distance(at, to)
	if d < walkSpeed {
		return to
	}
	return property.Vector3{X: at.X + (to.X-at.X)*walkSpeed/d, Z: at.Z + (to.Z-at.Z)*walkSpeed/d}
}
