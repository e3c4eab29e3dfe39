package cellapp

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

func TestGeometry(t *testing.T) {
	r := newRig(t)
	r.world()
	c := r.app.cell(1)
	for _, v := range []struct{ version, want uint32 }{{5, 5}, {4, 5}, {5, 5}, {6, 6}} {
		r.manage(&wire.Geometry{Space: 1, Tree: tree(t, v.version).Append(nil)})
		if c.Tree().Version().N != v.want {
			t.Errorf("version %d: it has %v", v.version, c.Tree().Version())
		}
	}
	r.manage(&wire.Geometry{Space: 1, Tree: []byte{9}})
	r.manage(&wire.Geometry{Space: 8, Tree: tree(t, 9).Append(nil)})
	if r.app.Counters().Refused != 1 || c.Tree().Version().N != 6 {
		t.Error("a malformed tree, or that of another space, was taken")
	}
}

// delta is what a manager sends that is at version to and has sent version from before.
func delta(t testing.TB, from, to uint32) []byte {
	t.Helper()
	return tree(t, to).AppendDelta(nil, tree(t, from))
}

func (r *rig) geometry(msg []byte) { r.manage(&wire.Geometry{Space: 1, Tree: msg}) }

// lacked takes out what the app has asked the manager for.
func (r *rig) lacked() (asked []bsp.Version) {
	r.t.Helper()
	for _, s := range r.net.to(mercury.Address{At: manager}) {
		var m wire.GeometryLacked
		if s.id != wire.GeometryLackedID {
			continue
		}
		if err := m.Parse(s.body); err != nil || m.Space != 1 {
			r.t.Errorf("asked %+v, %v", m, err)
		}
		asked = append(asked, m.From)
	}
	return asked
}

// reported returns the version in the next report.
func (r *rig) reported() bsp.Version {
	r.t.Helper()
	r.net.to(mercury.Address{At: manager})
	r.app.sayAll()
	r.app.reportCells(r.now)
	var m wire.CellsReport
	list := r.net.to(mercury.Address{At: manager})
	if len(list) != 1 || m.Parse(list[0].body) != nil || len(m.Cells) != 1 {
		r.t.Fatalf("it reports %v", ids(list))
	}
	return m.Cells[0].Version
}

func TestDeltas(t *testing.T) {
	r := newRig(t)
	r.world()
	c := r.app.cell(1)
	for _, v := range []struct{ from, to, want uint32 }{{1, 2, 2}, {1, 2, 2}, {2, 3, 3}, {1, 3, 3}, {3, 9, 9}} {
		r.geometry(delta(t, v.from, v.to))
		if c.Tree().Version().N != v.want || r.reported().N != v.want {
			t.Errorf("from %d to %d: it has %v and reports %v", v.from, v.to, c.Tree().Version(), r.reported())
		}
	}
	if asked := r.lacked(); len(asked) != 0 || r.app.Counters().Refused != 0 {
		t.Errorf("it asked for %v", asked)
	}
}

// The next delta shows that one was lost. The app asks at once, and again after a while, but not at
// each message.
func TestLostDeltaIsAskedFor(t *testing.T) {
	r := newRig(t)
	r.world()
	c := r.app.cell(1)
	r.lacked()
	r.geometry(delta(t, 2, 3)) // the delta before it was lost
	r.geometry(delta(t, 3, 4))
	if asked := r.lacked(); len(asked) != 1 || asked[0].N != 1 || c.Tree().Version().N != 1 {
		t.Fatalf("at version %v it asked for %v", c.Tree().Version(), asked)
	}
	if r.reported().N != 1 {
		t.Error("it reports what it does not have")
	}
	begun := r.now
	for r.now < begun+askAgain-DefaultTick {
		r.tick(1)
	}
	if asked := r.lacked(); len(asked) != 0 {
		t.Errorf("%d questions within %v", len(asked)+1, askAgain)
	}
	r.tick(2)
	if asked := r.lacked(); len(asked) != 1 || asked[0].N != 1 {
		t.Errorf("without an answer it asked for %v", asked)
	}
	r.geometry(delta(t, 1, 2)) // the delta that waits follows
	r.tick(20)
	if asked := r.lacked(); len(asked) != 0 || c.Tree().Version().N != 4 || r.app.Counters().Refused != 0 {
		t.Errorf("repaired, it has %v and asked for %v", c.Tree().Version(), asked)
	}
}

// While its manager is away an app asks nobody; it asks when the manager is back.
func TestNothingIsAskedWithoutTheManager(t *testing.T) {
	r := newRig(t)
	r.world()
	r.geometry(delta(t, 2, 3))
	r.app.Closed(r.now, r.mgr, mercury.ErrTimeout)
	r.lacked()
	r.tick(5)
	if asked := r.lacked(); len(asked) != 0 {
		t.Errorf("it asked for %v", asked)
	}
	for range int(2 * time.Second / DefaultTick) {
		r.tick(1)
	}
	r.app.Opened(r.now, r.mgr, mercury.Address{At: manager, Salt: 9})
	r.tick(1)
	if asked := r.lacked(); len(asked) != 0 {
		t.Errorf("before the welcome it asked for %v", asked)
	}
	r.manage(&wire.Welcome{Number: 4, Allocator: 6, Term: 1})
	r.tick(1)
	if asked := r.lacked(); len(asked) != 1 {
		t.Errorf("it asked for %v", asked)
	}
}

// A delta that does not fit its claimed base changes nothing, is counted, and makes the app ask for
// a whole tree.
func TestDamagedDelta(t *testing.T) {
	r := newRig(t)
	r.world()
	c := r.app.cell(1)
	r.lacked()
	damaged := delta(t, 1, 2)
	damaged[5]++ // in the checksum
	r.geometry(damaged)
	if asked := r.lacked(); len(asked) != 1 || asked[0] != (bsp.Version{}) || c.Tree().Version().N != 1 || r.app.Counters().Refused != 1 {
		t.Errorf("it has %v, asked for %v, refused %d", c.Tree().Version(), asked, r.app.Counters().Refused)
	}
	if v := r.reported(); v != (bsp.Version{}) {
		t.Errorf("in doubt it reports %v", v)
	}
	r.geometry(tree(t, 3).Append(nil))
	r.tick(20)
	if asked := r.lacked(); len(asked) != 0 || c.Tree().Version().N != 3 || r.reported().N != 3 {
		t.Errorf("repaired, it has %v and asked for %v", c.Tree().Version(), asked)
	}
}

func TestNewCellNeedsAWholeTree(t *testing.T) {
	r := newRig(t)
	r.join()
	r.manage(&wire.AddCell{Space: 1, Cell: bsp.CellID{Term: 1, N: 1}, Tree: delta(t, 1, 2)})
	if r.app.cell(1) != nil || r.app.Counters().Refused != 1 {
		t.Error("a cell without a geometry")
	}
}
