package space

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
)

// trader makes an entity beside the line that is to do something in a hook, with somebody who
// watches it from each side, and brings it over the line.
func (r *rig) trader(trade uint32) {
	r.create(1, -30, 1)
	r.create(2, 60, 1)
	r.create(7, -20, 1)
	r.avatar(7).Trade.Set(trade)
	r.tick(20)
	r.move(7, 20)
	r.tick(20)
}

// Whatever a script does in a hook of a handoff, there is at most one real, nobody keeps a ghost of
// one that is gone, and the base hears of a loss.
func TestHooksOfAHandoff(t *testing.T) {
	for hook := inLeaving; hook <= inEntered; hook++ {
		for _, act := range []uint32{panics, destroys} {
			t.Run(fmt.Sprint(hook+act), func(t *testing.T) {
				r := newRig(t, 3)
				r.trader(hook + act)
				left := hook == inLeft // the real is elsewhere by then
				if got := r.real(7) != nil; got != left {
					t.Fatalf("there is a real: %v", got)
				}
				lost := !left && act == panics
				if got := len(r.bases[7].lost) > 0; got != lost {
					t.Errorf("the base was told of a loss: %v", got)
				}
				for k := range r.apps {
					if g := r.ghost(k+1, 7); g != nil && !left {
						t.Errorf("app %d has a ghost of it", k+1)
					}
				}
				for _, id := range []entity.ID{1, 2} {
					if got := r.real(id).sees(7); got != left {
						t.Errorf("%d sees it: %v", id, got)
					}
				}
				if lost {
					return // the base here does not answer the news
				}
				for _, a := range r.apps {
					a.count.Errors = 0
				}
				r.calm()
			})
		}
	}
}

// What a script changes in a hook of a handoff is what everyone sees.
func TestChangesInHooksOfAHandoff(t *testing.T) {
	for _, hook := range []uint32{inLeaving, inEntering, inEntered} {
		r := newRig(t, 3)
		r.trader(hook + changes)
		a := r.avatar(7)
		if a.cell != r.apps[1].cell.Cell || a.Hp.Get() != 1 || a.Bag.Len() != 1 || a.Stock.Len() != 1 {
			t.Errorf("hook %d: on cell %v it has %d hp and %d in its bag", hook, a.cell.id, a.Hp.Get(), a.Bag.Len())
		}
		if g := r.ghost(1, 7); g == nil || g.Entity.Props.Get(0).Uint() != 1 {
			t.Errorf("hook %d: its ghost has not what it changed", hook)
		}
		r.diary(7, "created;client true;leaving;entering;entered;")
		r.calm()
	}
}

// Where a real has left, its script is told so when a ghost is in its place, and can do nothing.
func TestOnLeftCell(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	r.tick(5)
	called := false
	r.avatar(7).hook = func(a *Avatar, what string) {
		if what != "left" {
			return
		}
		called = true
		if r.ghost(1, 7) == nil {
			t.Error("there is no ghost yet")
		}
		if err := a.SetPosition(a.Position()); err != entity.ErrGone {
			t.Errorf("it moved: %v", err)
		}
		a.Hp.Set(77)
		a.Destroy()
	}
	r.move(7, 20)
	r.tick(5)
	if !called {
		t.Error("it was not told")
	}
	if a := r.avatar(7); a.Hp.Get() != 0 {
		t.Error("what it did there came along")
	}
	r.calm()
}

// A script may panic or end itself as it comes back: the base hears of either.
func TestHookOfARestore(t *testing.T) {
	for _, act := range []uint32{panics, destroys} {
		r := newRig(t, 2)
		r.create(7, -20, 0)
		r.avatar(7).Trade.Set(inRestored + act)
		parts := r.backUp(7).Parts
		r.apps[0].cell.drop(r.real(7))
		r.restore(7, -20, parts, 0)
		r.tick(5)
		if r.real(7) != nil {
			t.Error("it is there")
		}
		if got := len(r.bases[7].lost) > 0; got != (act == panics) {
			t.Errorf("the base was told of a loss: %v", got)
		}
	}
}
