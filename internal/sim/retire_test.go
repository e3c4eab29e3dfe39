package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// A whole CellApp is shut down: its cells retire, and it ends without loss.

// shutting is a CellApp that is asked to retire.
type shutting struct {
	*rig
	app, other, manager *Process
}

func (x *shutting) retired() bool { return x.app.alive && x.app.app.(*cellapp.CellApp).Retired() }

// retire asks a CellApp to let all its cells go.
func (r *rig) retire(p *Process) { p.app.(*cellapp.CellApp).Retire("maintenance") }

// TestRetire crashes another CellApp, the manager or the retiring CellApp itself at every step of
// the retirement.
func TestRetire(t *testing.T) {
	on := func(id wire.ID, pass bool) func(x *shutting, m tampered) (hit, pass bool) {
		return func(x *shutting, m tampered) (bool, bool) {
			hit := m.id == id && (m.p == x.app || m.p == x.manager) && !ofRoom(m)
			return hit, !hit || pass
		}
	}
	steps := []struct {
		name string
		see  func(x *shutting, m tampered) (hit, pass bool)
	}{
		{"RetireApp arrives", on(wire.RetireAppID, true)},
		{"RemoveCell lost", on(wire.RemoveCellID, false)},
		{"RemovalAck arrives", on(wire.RemovalAckID, true)},
		{"CellRemoved lost", on(wire.CellRemovedID, false)},
		{"Retired lost", on(wire.RetiredID, false)},
		{"Retired arrives", on(wire.RetiredID, true)},
	}
	mishaps := []struct {
		name string
		whom func(x *shutting) []*Process
	}{
		{"nobody", func(x *shutting) []*Process { return nil }},
		{"another CellApp", func(x *shutting) []*Process { return []*Process{x.other} }},
		{"the manager", func(x *shutting) []*Process { return []*Process{x.manager} }},
		{"itself", func(x *shutting) []*Process { return []*Process{x.app} }},
		{"the manager and itself", func(x *shutting) []*Process { return []*Process{x.manager, x.app} }},
	}
	n := uint64(0)
	for _, s := range steps {
		for _, f := range mishaps {
			if n++; n%everyStep != 0 {
				continue
			}
			seed := 2000 + n
			t.Run(s.name+"/"+f.name, func(t *testing.T) {
				o := Options{Seed: seed, Balance: still(2), CellApps: 3, BaseApps: 1, Players: 2, Rovers: 2}
				if n%2 == 0 {
					o.Lodgers = 2
				}
				play(t, o, func(r *rig) {
					x := &shutting{rig: r, manager: r.manager}
					x.app, _, _ = r.real(r.id())
					for _, p := range r.cellApps {
						if p != x.app && cellIn(p, theSpace) != nil {
							x.other = p
						}
					}
					x.shut(f.whom(x), func(m tampered) (hit, pass bool) { return s.see(x, m) })
				})
			})
		}
	}
}

// ofRoom reports whether a message is about the cell of a room; those cells go all the time.
func ofRoom(m tampered) bool {
	var remove wire.RemoveCell
	var removed wire.CellRemoved
	var ack wire.RemovalAck
	switch {
	case m.id == wire.RemoveCellID && remove.Parse(m.msg[1:]) == nil:
		return remove.Space != theSpace
	case m.id == wire.CellRemovedID && removed.Parse(m.msg[1:]) == nil:
		return removed.Space != theSpace
	case m.id == wire.RemovalAckID && ack.Parse(m.msg[1:]) == nil:
		return ack.Space != theSpace
	}
	return false
}

// cellIn returns the cell that a CellApp has of a space, or nil.
func cellIn(p *Process, id entity.SpaceID) *space.Hosted {
	for c := range p.app.(*cellapp.CellApp).Cells() {
		if c.Space() == id {
			return &c
		}
	}
	return nil
}

// shut lets the CellApp retire, crashes the victims at the message that see picks, and ends the
// CellApp when it may be ended.
func (x *shutting) shut(victims []*Process, see func(m tampered) (hit, pass bool)) {
	x.t.Helper()
	fell := false
	x.on(func(m tampered) (bool, bool) {
		hit, pass := see(m)
		if hit {
			fell = true
			for _, p := range victims {
				p.kill()
			}
		}
		return pass, fell
	})
	x.rig.retire(x.app)
	x.until("the step has come", removalEnds, func() bool { return fell })
	x.wait(time.Millisecond)
	died, crashes := false, 0
	for _, p := range victims {
		p.restartAt = x.now + 300*time.Millisecond
		crashes++
		died = died || p != x.manager
	}
	x.wait(2 * deadAfter)
	if x.app.starts == 1 {
		x.until("the CellApp has retired", 2*removalEnds, x.retired)
		x.app.crash() // now its operator may end it
		crashes++
	}
	x.wait(3 * deadAfter)
	if x.opts.Lodgers > 0 {
		if rooms, _ := x.rooms(); rooms == 0 {
			x.t.Error("no lodger had a room")
		}
		x.vacate() // cells of rooms are removed all the time
	}
	x.until("no removal goes on", removalEnds, func() bool { return x.manager.alive && x.removals() == 0 })
	if !died {
		if d := x.observer.last.Deaths; d > 0 || x.losses > crashes {
			x.t.Errorf("%d deaths, %d processes and sessions ended", d, x.losses)
		}
		x.nobodyRestored()
	}
}

// TestTwoRetire: two CellApps are shut down at once, and the first hears that the second's cell
// goes only when its own cell has gone. It owes an ack nevertheless, and is not let go before it
// has sent it.
func TestTwoRetire(t *testing.T) {
	play(t, Options{Seed: 51, Balance: still(2), CellApps: 4, Players: 2, Rovers: 2}, func(r *rig) {
		var going []*Process
		for _, p := range r.cellApps {
			if cellsOf(p) > 0 {
				going = append(going, p)
			}
		}
		first, second := going[0], going[1]
		r.on(func(m tampered) (pass, done bool) {
			return m.id != wire.CellGoingID || m.p != first || cellsOf(first) == 0, false
		})
		r.retire(first)
		r.retire(second)
		r.until("both have retired", 2*removalEnds, func() bool {
			return first.app.(*cellapp.CellApp).Retired() && second.app.(*cellapp.CellApp).Retired()
		})
		r.nobodyRestored()
	})
}

// TestAllRetire: every CellApp is to be shut down, and none can go, since nobody takes over. In the
// meantime the world goes on, and lodgers get the rooms that they ask for. When one CellApp starts
// anew, and is to stay, the other goes.
func TestAllRetire(t *testing.T) {
	play(t, Options{Seed: 53, CellApps: 2, Players: 2, Rovers: 2, Lodgers: 3}, func(r *rig) {
		for _, p := range r.cellApps {
			r.retire(p)
		}
		r.wait(time.Second)
		_, before := r.rooms()
		r.until("lodgers get rooms", 40*time.Second, func() bool {
			_, now := r.rooms()
			return now >= before+12 // more than three lodgers without rooms give up
		})
		r.cellApps[0].crash()
		r.cellApps[0].restartAt = r.now + time.Second
		other := r.cellApps[1]
		r.until("the other has retired", 2*removalEnds, other.app.(*cellapp.CellApp).Retired)
		other.crash() // now its operator may end it
	})
}

// TestManagerForgetsAnAck: two cells go at once. One of them waits for an ack of the other's
// CellApp, which drops its own cell without having heard that it owes one. Then the manager dies,
// and the next one no longer knows of the debt.
func TestManagerForgetsAnAck(t *testing.T) {
	o, in := scripted(52, 4)
	o.CellApps = 5
	play(t, o, func(r *rig) {
		first, second := r.twoThatMayGo()
		r.on(func(m tampered) (pass, done bool) {
			return m.id != wire.CellGoingID || m.p != first, false
		})
		in.give(func(o *balance.Observation) balance.Plan {
			plan := retire(first)(o)
			plan.Retires = append(plan.Retires, retire(second)(o).Retires...)
			return plan
		})
		r.until("the first is gone, the second is not", 2*removalEnds, func() bool {
			return cellsOf(first) == 0 && second.app.(*cellapp.CellApp).Removing(theSpace)
		})
		r.manager.crash()
		r.nextTerm()
		r.until("both are gone", removalEnds, func() bool { return r.removals() == 0 && cellsOf(second) == 0 })
	})
}

// twoThatMayGo returns CellApps whose cells can retire at once.
func (r *rig) twoThatMayGo() (first, second *Process) {
	r.t.Helper()
	tree := r.newest()
	for i, p := range r.cellApps {
		for _, q := range r.cellApps[i+1:] {
			a, _, ok := tree.OfApp(p.at, p.salt)
			b, _, too := tree.OfApp(q.at, q.salt)
			if !ok || !too {
				continue
			}
			if t := tree.Clone(); t.Retire(a.Cell) == nil && t.Retire(b.Cell) == nil {
				return p, q
			}
		}
	}
	r.t.Fatal("no two may go")
	return nil, nil
}

// TestRetireWithoutBand: the reals of a cell that retires leave as soon as its line passes them,
// and not only when they are beyond it by the band. Where there is no dwell, other cells keep a
// real that stands still within the band for good.
func TestRetireWithoutBand(t *testing.T) {
	play(t, Options{Seed: 54, Balance: still(2), CellApps: 3, Players: 6, Rovers: 6}, func(r *rig) {
		for _, pl := range r.players {
			pl.steer = func() property.Vector3 { return pl.client.Player().Position }
		}
		on, _, _ := r.real(r.id())
		r.retire(on)
		beyond, longest := map[entity.ID]int{}, 0
		for on.alive && cellIn(on, theSpace) != nil && !on.app.(*cellapp.CellApp).Retired() {
			r.wait(100 * time.Millisecond) // a tick
			cell := cellIn(on, theSpace)
			if cell == nil {
				break
			}
			for v := range cell.Views() {
				p := v.Position()
				if !v.IsReal() || !cell.Retiring() || cell.Tree().At(float64(p.X), float64(p.Z)).Cell == cell.ID() {
					delete(beyond, v.ID())
					continue
				}
				beyond[v.ID()]++
				longest = max(longest, beyond[v.ID()])
			}
		}
		if longest > 3 { // one to see that the line has passed, and two for whatever was in the way
			t.Errorf("a real stood beyond the line of its retiring cell for %d ticks", longest)
		}
		on.crash() // now its operator may end it
		r.nobodyRestored()
	})
}
