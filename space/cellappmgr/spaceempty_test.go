package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

func TestEmptySpaceEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		keep, held bool
		ends       bool
	}{
		"held":       {held: true, ends: true},
		"never held": {},
		"kept":       {keep: true, held: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, a, base := roomRig(t, nil)
			info := aRoom()
			info.Keep = tt.keep
			id := base.ask(1, info).Space
			cell := a.confirm()[0].Cell
			report := func(reals uint32, held bool) {
				a.reportRoom(id, cell, reals, held)
				r.pass(time.Second)
			}
			report(0, false)
			r.pass(5 * time.Minute)
			none[wire.RemoveCell](a)
			if tt.held {
				report(2, true)
				report(2, true)
			}
			report(0, tt.held)
			r.pass(emptyGrace - 2*time.Second)
			none[wire.RemoveCell](a)
			base.send(&wire.Locate{ID: 5, Space: id}) // somebody is about to come
			r.pass(arrivalGrace - 2*time.Second)
			none[wire.RemoveCell](a)
			r.pass(5 * time.Second)
			if got := take[wire.RemoveCell](a); (len(got) > 0) != tt.ends {
				t.Errorf("ended: %v, want %v", len(got) > 0, tt.ends)
			}
		})
	}
}

// A space is not empty while someone is in it, comes back in time, or waits for a new cell after a
// death.
func TestNotEmpty(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	cell := a.confirm()[0].Cell
	for range 6 {
		a.reportRoom(id, cell, 0, true)
		r.pass(emptyGrace / 2)
		a.reportRoom(id, cell, 1, true)
		r.pass(emptyGrace / 2)
	}
	none[wire.RemoveCell](a)
	a.reportRoom(id, cell, 0, true) // its last report
	a.drop(mercury.ErrPeerRestarted)
	r.pass(5 * time.Minute) // there is no CellApp
	if r.m.space(id) == nil {
		t.Fatal("a space ended although its entities wait for a CellApp")
	}
	b := r.join(wire.CellApp, 11)
	for _, c := range b.confirm() {
		if c.Space == id {
			if c.First {
				t.Error("a space that had a cell gets a first one again")
			}
			cell = c.Cell
		}
	}
	b.reportRoom(id, cell, 0, false)
	r.pass(emptyGrace - time.Second)
	none[wire.RemoveCell](b)
	r.pass(1500 * time.Millisecond)
	one[wire.RemoveCell](b) // nobody came back

	id = base.ask(2, aRoom()).Space
	cell = b.confirm()[0].Cell
	b.reportRoom(id, cell, 1, true)
	c := r.join(wire.CellApp, 12)
	b.drop(mercury.ErrPeerRestarted)
	for _, x := range c.confirm() {
		if x.Space == id {
			c.reportRoom(id, x.Cell, 0, false)
		}
	}
	r.pass(lossGrace - 2*time.Second)
	none[wire.RemoveCell](c)
	r.pass(4 * time.Second)
	if len(take[wire.RemoveCell](c)) == 0 {
		t.Error("a space stays for ever after a death")
	}
}

// A CellApp dies that has not said yet that somebody came to the room. If they do not come back, it ends.
func TestUsedUnheard(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	a.reportRoom(id, a.confirm()[0].Cell, 0, false)
	b := r.join(wire.CellApp, 11)
	a.drop(mercury.ErrPeerRestarted)
	for _, x := range b.confirm() {
		if x.Space == id {
			b.reportRoom(id, x.Cell, 0, false)
		}
	}
	r.pass(lossGrace - 2*time.Second)
	none[wire.RemoveCell](b)
	r.pass(4 * time.Second)
	if len(take[wire.RemoveCell](b)) == 0 {
		t.Error("it stays for ever")
	}
}

// In a frozen world no space ends by itself.
func TestFrozenSpacesStay(t *testing.T) {
	r, a, base := roomRig(t, nil)
	watch := r.join(wire.Observer, 30)
	id := base.ask(1, aRoom()).Space
	a.reportRoom(id, a.confirm()[0].Cell, 0, true)
	watch.send(&wire.Freeze{On: true})
	r.pass(2 * emptyGrace)
	none[wire.RemoveCell](a)
	watch.send(&wire.Freeze{})
	r.pass(time.Second)
	one[wire.RemoveCell](a)
}

// A BaseApp that has asked for spaces dies: the spaces that nobody has used end after a while;
// those that somebody uses do not.
func TestOrphanedSpaces(t *testing.T) {
	r, a, base := roomRig(t, nil)
	unused, used := base.ask(1, aRoom()).Space, base.ask(2, aRoom()).Space
	for _, c := range a.confirm() {
		a.reportRoom(c.Space, c.Cell, 0, false)
	}
	base.drop(mercury.ErrPeerRestarted)
	r.pass(orphanGrace / 2)
	a.reportRoom(used, r.m.space(used).cells[0].id, 1, true)
	r.pass(orphanGrace/2 + 500*time.Millisecond)
	if got := take[wire.RemoveCell](a); len(got) != 1 || got[0].Space != unused {
		t.Errorf("removed %+v", got)
	}
	r.logged("space ends", "never used")
}
