package cellappmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

// destroy asks for the end of a space, and returns why it stays.
func (p *peer) destroy(id entity.SpaceID) string {
	p.r.t.Helper()
	p.send(&wire.DestroySpace{Request: 7, Space: id})
	got := one[wire.SpaceDestroyed](p)
	if got.Request != 7 {
		p.r.t.Errorf("the answer is to %d", got.Request)
	}
	return got.Reason
}

func TestDestroySpace(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	cell := a.confirm()[0].Cell
	a.reportRoom(id, cell, 3, true)
	r.pass(2 * time.Second) // nothing is expected of anyone
	if reason := base.destroy(id); reason != "" {
		t.Fatal(reason)
	}
	want := wire.RemoveCell{Space: id, Cell: cell, Ended: true, Peers: []mercury.Address{}}
	if d := cmp.Diff(want, one[wire.RemoveCell](a)); d != "" {
		t.Errorf("ordered (-want +got):\n%s", d)
	}
	base.send(&wire.Locate{ID: 5, Space: id})
	if l := one[wire.Located](base); !l.Gone || !l.App.IsZero() {
		t.Errorf("located %+v in a space that ends", l)
	}
	if reason := a.destroy(id); reason != "" { // a script on the cell wants the same
		t.Error(reason)
	}
	none[wire.RemoveCell](a)
	r.pass(2 * time.Second)
	if again := take[wire.RemoveCell](a); len(again) != 2 {
		t.Errorf("unconfirmed for 2 s, it was ordered again %d times", len(again))
	}
	a.send(&wire.CellRemoved{Space: id, Cell: cell})
	if len(r.m.spaces) != 1 || len(r.m.byID) != 1 || len(r.m.byRequest) != 0 || r.m.members[0].cells != 1 {
		t.Errorf("left: %d spaces, %d ids, %d requests, %d cells", len(r.m.spaces), len(r.m.byID), len(r.m.byRequest), r.m.members[0].cells)
	}
	if reason := base.destroy(id); reason != "" {
		t.Errorf("destroyed twice: %s", reason)
	}
	if reason := base.destroy(1); !strings.Contains(reason, "configuration") || r.m.space(1).ending {
		t.Errorf("the space of the configuration: %q", reason)
	}
	base.send(&wire.Locate{ID: 5, Space: id})
	if l := one[wire.Located](base); !l.Gone {
		t.Error("a space that has ended is not gone")
	}
	r.pass(3 * time.Second)
	none[wire.RemoveCell](a)
}

// A space that ends before its first cell was made, or confirmed, leaves nothing.
func TestDestroyYoungSpace(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	cell := one[wire.AddCell](a).Cell
	base.destroy(id)
	one[wire.RemoveCell](a)
	a.send(&wire.CellCreated{Space: id, Cell: cell}) // the messages crossed
	a.send(&wire.CellRemoved{Space: id, Cell: cell})
	r.pass(2 * time.Second)
	none[wire.AddCell](a)
	a.drop(mercury.ErrPeerRestarted)
	id = base.ask(2, aRoom()).Space
	base.destroy(id)
	b := r.join(wire.CellApp, 11)
	if got := b.confirm(); len(got) != 1 || got[0].Space != 1 || len(r.m.spaces) != 1 {
		t.Errorf("%d cells, %d spaces", len(got), len(r.m.spaces))
	}
}

// The CellApp that was to remove the last cell dies: the space is gone with it.
func TestDeathEndsAnEndingSpace(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	a.confirm()
	base.destroy(id)
	if len(r.m.spaces) != 2 {
		t.Fatal("gone at once")
	}
	a.drop(mercury.ErrPeerRestarted)
	if len(r.m.spaces) != 1 || r.m.space(id) != nil {
		t.Errorf("%d spaces", len(r.m.spaces))
	}
}

// A space of several cells ends on all of them; a removal that was under way needs no acks any
// more.
func TestDestroyDividedSpace(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	base := r.join(wire.BaseApp, 20)
	a.confirm()
	b.confirm()
	info := aRoom()
	info.MinCells, info.MaxCells = 2, 2
	id := base.ask(1, info).Space
	r.pass(200 * time.Millisecond)
	for range 5 {
		a.confirm()
		b.confirm()
		r.pass(time.Second)
	}
	s := r.m.space(id)
	if len(s.cells) != 2 {
		t.Fatalf("%d cells", len(s.cells))
	}
	r.m.removeCells(r.now, s, s.cells[1].id)
	take[wire.RemoveCell](a)
	take[wire.RemoveCell](b)
	base.destroy(id)
	x, y := one[wire.RemoveCell](a), one[wire.RemoveCell](b)
	if !x.Ended || !y.Ended || len(x.Peers)+len(y.Peers) != 0 {
		t.Errorf("ordered %+v and %+v", x, y)
	}
	a.send(&wire.CellRemoved{Space: id, Cell: x.Cell})
	if r.m.space(id) == nil {
		t.Error("gone before the second cell is")
	}
	b.send(&wire.CellRemoved{Space: id, Cell: y.Cell})
	if r.m.space(id) != nil {
		t.Error("not gone")
	}
}
