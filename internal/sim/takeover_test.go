package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// TestManagerAndCellAppDie: both die at once. The leaf that nobody reports is dead, and its
// entities are restored by their bases.
func TestManagerAndCellAppDie(t *testing.T) {
	play(t, Options{Seed: 36}, func(r *rig) {
		on, _, v := r.real(r.id())
		order := v.Order()
		r.manager.crash()
		on.crash()
		r.nextTerm()
		r.until("the player has a real again", 10*time.Second, func() bool {
			again, _, v := r.real(r.id())
			return again != nil && order.Before(v.Order())
		})
		r.until("the death is told", 3*time.Second, func() bool { return r.observer.last.Deaths == 1 })
	})
}

// TestManagerAndOnlyCellAppDie: the only CellApp that knew the geometry is gone, too. The bases
// name it, so it is known to be dead, and the space begins anew.
func TestManagerAndOnlyCellAppDie(t *testing.T) {
	play(t, Options{Seed: 37, Balance: still(1)}, func(r *rig) {
		on, _, v := r.real(r.id())
		order := v.Order()
		r.manager.crash()
		on.crash()
		r.nextTerm()
		r.until("the player has a real again", 15*time.Second, func() bool {
			again, _, v := r.real(r.id())
			return again != nil && order.Before(v.Order())
		})
	})
}

// TestManagerAndBaseAppDie: nobody reports the BaseApp, whose entities leave the world.
func TestManagerAndBaseAppDie(t *testing.T) {
	play(t, Options{Seed: 38}, func(r *rig) {
		dead := r.baseApps[0]
		lost := map[entity.ID]bool{}
		for _, pl := range r.players {
			if p, b := r.base(pl.id()); p == dead {
				lost[b.ID] = true
			}
		}
		if len(lost) == 0 {
			t.Fatal("no player is there")
		}
		r.manager.crash()
		dead.crash()
		r.nextTerm()
		r.until("its entities are gone", 15*time.Second, func() bool {
			for id := range lost {
				if on, _, _ := r.real(id); on != nil {
					return false
				}
			}
			return true
		})
	})
}

// TestManagerDiesTwice: the second start dies while it hears what there is.
func TestManagerDiesTwice(t *testing.T) {
	play(t, Options{Seed: 39}, func(r *rig) {
		cells := r.cells()
		r.manager.crash()
		r.manager.restartAt = r.now + time.Millisecond
		heard := false
		r.on(func(m tampered) (pass, done bool) {
			heard = m.p == r.manager && m.id == wire.RejoinEndID
			return true, heard
		})
		r.until("one tells what it has", 10*time.Second, func() bool { return heard })
		r.manager.crash()
		r.nextTerm()
		sameCells(t, cells, r.cells())
	})
}

// TestLateForTheNewManager: a CellApp that was slow while the others told what they have is dead
// for the new manager, and starts anew. One without a cell joins as it is.
func TestLateForTheNewManager(t *testing.T) {
	o, in := scripted(40, 3)
	play(t, o, func(r *rig) {
		in.held = true
		late, _, _ := r.real(r.id())
		var idle *Process
		for _, p := range r.cellApps {
			if cellsOf(p) == 0 {
				idle = p
			}
		}
		salts := [2]uint32{late.salt, idle.salt}
		number := idle.app.(*cellapp.CellApp).Number()
		r.manager.crash()
		late.pause(8 * time.Second)
		idle.pause(8 * time.Second)
		r.manager.restartAt = r.now + 300*time.Millisecond
		r.wait(15 * time.Second)
		if late.salt == salts[0] || idle.salt != salts[1] {
			t.Errorf("anew: the one with a cell %v, the one without %v", late.salt != salts[0], idle.salt != salts[1])
		}
		if n := idle.app.(*cellapp.CellApp).Number(); n != number {
			t.Errorf("number %d, was %d", n, number)
		}
		if d := r.observer.last.Deaths; d != 1 {
			t.Errorf("%d deaths", d)
		}
	})
}

func cellsOf(p *Process) (n int) {
	for range p.app.(*cellapp.CellApp).Cells() {
		n++
	}
	return n
}

// TestStalledManagerComesBack: the old manager was only stalled while another took its place.
// Nobody heeds what it says; when an app that knows the newer one joins it, it falls silent.
func TestStalledManagerComesBack(t *testing.T) {
	play(t, Options{Seed: 41}, func(r *rig) {
		cells := r.cells()
		old := r.manager
		r.take(old)
		r.until("the new one has taken over", 20*time.Second, func() bool { return r.everyoneIn(2) })
		sameCells(t, cells, r.cells())
		// The old one wakes up where it was, and sends; nothing reaches it.
		old.pausedUntil = r.now
		r.wait(5 * time.Second)
		if !r.everyoneIn(2) || r.observer.last.Deaths != 0 {
			t.Errorf("%d deaths", r.observer.last.Deaths)
		}
		// For a moment the address leads to the old one, which by now takes everyone for dead.
		r.byPlace[old.at] = old
		refused := map[*Process]bool{}
		r.on(func(m tampered) (pass, done bool) {
			if m.p != r.manager && m.id == wire.RefusedID {
				refused[m.p] = true
			}
			return true, false
		})
		r.wait(1500 * time.Millisecond)
		if len(refused) == 0 || !old.app.(*cellappmgr.CellAppMgr).Superseded() {
			t.Errorf("%d CellApps were refused by the old manager, which has fallen silent: %v", len(refused), old.app.(*cellappmgr.CellAppMgr).Superseded())
		}
		for p, a := range r.liveCellApps() {
			if a.Dismissed() || p.starts > 1 {
				t.Errorf("%s believed that it is dead", p.Name)
			}
		}
		sameCells(t, cells, r.cells())
		r.byPlace[old.at] = r.manager
		r.until("all are back at the new one", 20*time.Second, func() bool { return r.observer.last.Cells > 1 && r.everyoneIn(2) })
		old.crash()
		r.procs = slices.DeleteFunc(r.procs, func(p *Process) bool { return p == old })
	})
}

// take stalls a manager and starts another one at its address.
func (r *rig) take(old *Process) {
	old.pause(time.Hour)
	r.manager = r.add("cellappmgr2", int(old.port), r.makeCellAppMgr)
	if err := r.manager.start(); err != nil {
		r.t.Fatal(err)
	}
}
