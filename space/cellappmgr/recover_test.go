package cellappmgr

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

// old is the id of a cell of the earlier manager, leafOf its leaf on app n.
func old(n uint32) bsp.CellID { return bsp.CellID{Term: 1, N: n} }

func leafOf(n int, cell uint32, created bool) bsp.Leaf {
	return bsp.Leaf{Cell: old(cell), App: at(n).At, Salt: at(n).Salt, Created: created}
}

// before is a geometry of the earlier manager: cell 1 on app 10, west of a line, and cell 2 on app
// 11.
func (r *rig) before(version uint32, line float64, created bool) *bsp.Tree {
	r.t.Helper()
	t := bsp.New(bsp.Version{Term: 1, N: version}, leafOf(10, 1, true))
	if err := t.Split(old(1), bsp.AxisX, line, leafOf(11, 2, created), true); err != nil {
		r.t.Fatal(err)
	}
	return r.remember(t)
}

// remember has the network take a tree as one that was sent.
func (r *rig) remember(t *bsp.Tree) *bsp.Tree {
	r.net.versions[t.Version()] = t
	return t
}

func next(t testing.TB, change func(*Config)) *rig {
	return newRig(t, func(c *Config) {
		c.Term = 2
		if change != nil {
			change(c)
		}
	})
}

// comeBack is an app of the earlier term that tells all it has.
func (r *rig) comeBack(role wire.Role, n int, number uint32, told wire.Rejoin, cells ...wire.RejoinCell) *peer {
	p := r.connect(role, at(n))
	p.tell(number, told, cells...)
	return p
}

func (p *peer) tell(number uint32, told wire.Rejoin, cells ...wire.RejoinCell) {
	p.send(&wire.Join{Speaks: wire.Spoken(), Role: p.role, Digest: digest, Term: 1})
	told.Number = number
	p.send(&told)
	for i := range cells {
		p.send(&cells[i])
	}
	p.send(&wire.RejoinEnd{Cells: uint32(len(cells))})
}

func has(cell uint32, t *bsp.Tree, data ...wire.SpaceDataEntry) wire.RejoinCell {
	return wire.RejoinCell{Space: 1, Cell: old(cell), Version: t.Version(), Tree: t.Append(nil), Data: data}
}

func TestRecoveryWindow(t *testing.T) {
	r := next(t, func(c *Config) { c.MinCellApps = 5 })
	r.pass(10 * time.Second) // the window begins with the first that joins
	tree := r.before(7, 0, true)
	a := r.comeBack(wire.CellApp, 10, 3, wire.Rejoin{Allocator: 1<<13 | 3<<1, GameTime: time.Hour}, has(1, tree))
	fresh := r.join(wire.CellApp, 12)
	login := r.comeBack(wire.LoginApp, 13, 1, wire.Rejoin{})
	watch := r.join(wire.Observer, 14)
	one[wire.Welcome](watch)
	r.pass(1500 * time.Millisecond)
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{Allocator: 1<<13 | 2<<1, GameTime: time.Hour + time.Second}, has(2, tree))
	base := r.join(wire.BaseApp, 15)
	base.send(&wire.Locate{ID: 1, Space: 1})
	r.pass(1900 * time.Millisecond) // since the last one came back
	for _, p := range []*peer{a, b, fresh, login, base} {
		if got := p.ids(); len(got) != 0 {
			t.Fatalf("%v was sent %v within the window", p.addr, got)
		}
	}
	r.pass(200 * time.Millisecond)
	game := one[wire.Welcome](a).GameTime
	if want := time.Hour + 3500*time.Millisecond; game != want { // by the clock that is ahead
		t.Errorf("game time %v, want %v", game, want)
	}
	for _, tt := range []struct {
		p                 *peer
		number, allocator uint32
	}{{b, 2, 1<<13 | 2<<1}, {login, 1, 0}, {fresh, 4, 2<<13 | 1<<1}, {base, 1, 2<<13 | 1<<1 | 1}} {
		w := one[wire.Welcome](tt.p)
		if w.Number != tt.number || w.Allocator != tt.allocator || w.Term != 2 || w.GameTime != game {
			t.Errorf("%v %v was welcomed with %+v", tt.p.role, tt.p.addr, w)
		}
	}
	// The world that was there goes on; MinCellApps applies to a world that begins.
	for _, p := range []*peer{a, b} {
		g := one[wire.Geometry](p)
		if h := r.head(g.Tree); h.Version != (bsp.Version{Term: 2, N: 1}) || !h.Delta || h.Base != tree.Version() {
			t.Errorf("geometry %v, want a delta from what they have", h)
		}
		if d := cmp.Diff([]wire.ID{wire.FreezeID}, p.ids()); d != "" {
			t.Errorf("also sent (-want +got):\n%s", d)
		}
	}
	r.logged("goes on", "cell_apps=2")
	if st := r.m.Status(); st.Cells != 2 || !st.Spaces[0].Cells[0].Created || !st.Spaces[0].Cells[1].Created || st.Deaths != 0 {
		t.Errorf("status %+v", st)
	}
}

// Apps that come back one by one do not hold up the others for ever.
func TestRecoveryEnds(t *testing.T) {
	r := next(t, nil)
	first := r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	for i := range 8 {
		r.pass(1500 * time.Millisecond)
		r.comeBack(wire.BaseApp, 21+i, uint32(2+i), wire.Rejoin{})
	}
	one[wire.Welcome](first)
}

// A world of which no process is left begins like any other, a little later.
func TestNothingToRecover(t *testing.T) {
	r := next(t, nil)
	a := r.join(wire.CellApp, 10)
	none[wire.Welcome](a)
	r.pass(2100 * time.Millisecond)
	one[wire.Welcome](a)
	if add := one[wire.AddCell](a); !add.First || add.Cell != (bsp.CellID{Term: 2, N: 1}) {
		t.Errorf("%+v", add)
	}
	r.logged("a new one begins")
	if strings.Contains(r.log.String(), "goes on") {
		t.Errorf("the log tells of a world that never was:\n%s", r.log.String())
	}
	at := next(t, func(c *Config) { c.RecoveryWindow = -1 })
	one[wire.Welcome](at.join(wire.CellApp, 10))
}

// What becomes of a leaf depends on who reports what.
func TestLeafAfterRecovery(t *testing.T) {
	tests := []struct {
		name           string
		created        bool // in the tree that a knows
		back, has      bool // b comes back, with the cell
		dead, ordered  bool
		cells, current int // in the geometry then; those created
	}{
		{"runs", true, true, true, false, false, 2, 2},
		{"made, and not told", false, true, true, false, false, 2, 2},
		{"ordered, and never arrived", false, true, false, false, true, 2, 1},
		{"lost by its app", true, true, false, false, true, 2, 1},
		{"of a dead app", true, false, false, true, false, 1, 1},
		{"never made by a dead app", false, false, false, true, false, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := next(t, nil)
			tree := r.before(7, 0, tt.created)
			a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, tree))
			base := r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
			var b *peer
			switch {
			case tt.back && tt.has:
				b = r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, has(2, tree))
			case tt.back:
				b = r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{})
			}
			r.pass(2100 * time.Millisecond)
			for _, p := range []*peer{a, base} {
				dead := take[wire.AppDead](p)
				if (len(dead) == 1) != tt.dead || tt.dead && dead[0].App != at(11) {
					t.Errorf("%v was told of the dead %v", p.role, dead)
				}
			}
			if b != nil {
				got := take[wire.AddCell](b)
				if (len(got) == 1) != tt.ordered || tt.ordered && (got[0].Cell != old(2) || got[0].First) {
					t.Errorf("ordered: %v", got)
				}
			}
			last := take[wire.Geometry](a)
			got, created := r.tree(last[len(last)-1].Tree), 0
			for _, leaf := range got.Leaves() {
				if leaf.Created {
					created++
				}
			}
			if got.Len() != tt.cells || created != tt.current {
				t.Errorf("%v", got)
			}
		})
	}
}

// The newest tree wins whole: a line that only one app was told of stays where it is, and a cell
// that the tree does not have is removed.
func TestNewestTreeWins(t *testing.T) {
	r := next(t, nil)
	older := bsp.New(bsp.Version{Term: 1, N: 8}, leafOf(10, 1, true))
	for _, s := range []struct {
		n    int
		cell uint32
	}{{11, 2}, {12, 3}} {
		if err := older.Split(old(1), bsp.AxisX, float64(-100*(s.n-10)), leafOf(s.n, s.cell, true), true); err != nil {
			t.Fatal(err)
		}
	}
	newer := older.Clone()
	if err := newer.Remove(old(3)); err != nil {
		t.Fatal(err)
	}
	newer.SetVersion(bsp.Version{Term: 1, N: 9})
	r.remember(older)
	r.remember(newer)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, older))
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, has(2, older))
	c := r.comeBack(wire.CellApp, 12, 3, wire.Rejoin{}, has(3, newer))
	r.pass(2100 * time.Millisecond)
	if got := r.tree(one[wire.Geometry](a).Tree); got.Len() != 2 || !got.SameCells(newer) {
		t.Errorf("%v", got)
	}
	remove := one[wire.RemoveCell](c)
	if d := cmp.Diff([]mercury.Address{at(10), at(11)}, remove.Peers, addresses); d != "" || remove.Cell != old(3) {
		t.Errorf("%+v; peers (-want +got):\n%s", remove, d)
	}
	for _, p := range []*peer{a, b} {
		if g := one[wire.CellGoing](p); g.Cell != old(3) || g.App != at(12) {
			t.Errorf("going: %+v", g)
		}
	}
	c.send(&wire.CellRemoved{Space: 1, Cell: old(3)})
	r.pass(5 * time.Second)
	none[wire.RemoveCell](c)
}

func TestDataAfterRecovery(t *testing.T) {
	r := next(t, nil)
	tree := r.before(7, 0, true)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, tree, entry(3, 1, "rain"), entry(8, 2, "noon")))
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, has(2, tree, entry(2, 1, "sun"), entry(1, 2, "dawn")))
	r.pass(2100 * time.Millisecond)
	none[wire.SpaceData](a)
	var got []string
	for _, d := range take[wire.SpaceData](b) {
		got = append(got, string(d.Entry.Value))
	}
	if !slices.Equal(got, []string{"rain", "noon"}) {
		t.Errorf("the other was told %v", got)
	}
	b.send(&wire.SetSpaceData{Space: 1, Key: 1, Value: []byte("fog")})
	if e := one[wire.SpaceData](a).Entry; e.Number != spacekey.Base(2)+1 || string(e.Value) != "fog" {
		t.Errorf("the next entry is %+v", e)
	}
}

// What a CellApp has missed of a space's data comes before what is set as the world goes on, such as the
// area of a cell that nobody has any more. Later it would be old to the cell, and dropped.
func TestDataAfterRecoveryWithALostCell(t *testing.T) {
	r := next(t, nil)
	tree := r.before(7, 0, true)
	if err := tree.Split(old(2), bsp.AxisX, 100, leafOf(12, 3, true), true); err != nil {
		t.Fatal(err)
	}
	r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, tree, entry(3, 1, "rain"), entry(8, 2, "noon")))
	b := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, has(2, tree, entry(3, 1, "rain")))
	r.pass(2100 * time.Millisecond)
	var got []uint64
	for _, d := range take[wire.SpaceData](b) {
		got = append(got, d.Entry.Number)
	}
	if want := []uint64{8, spacekey.Base(2) + 1}; !slices.Equal(got, want) {
		t.Errorf("it was told of %v, want %v", got, want)
	}
}

// A cell that is in no geometry any more hears what it has missed before the order that removes it, with
// which the new geometry comes.
func TestDataBeforeGeometry(t *testing.T) {
	r := next(t, nil)
	r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, r.before(7, 0, true), entry(8, 2, "noon")))
	b := r.comeBack(wire.CellApp, 12, 2, wire.Rejoin{}, has(9, r.before(5, 0, true), entry(3, 1, "rain")))
	r.pass(2100 * time.Millisecond)
	ids := b.ids()
	data, tree := slices.Index(ids, wire.SpaceDataID), slices.Index(ids, wire.GeometryID)
	if data < 0 || tree < 0 || data > tree || !slices.Contains(ids, wire.RemoveCellID) {
		t.Errorf("it was told %v", ids)
	}
}

// A verdict that only one app has heard holds for all; whoever comes back in spite of it is told
// so.
func TestGravesAfterRecovery(t *testing.T) {
	r := next(t, nil)
	tree := r.before(7, 0, true)
	grave := wire.AppRef{Role: wire.CellApp, App: at(11)}
	dead := r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{}, has(2, tree))
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{Graves: []wire.AppRef{grave}}, has(1, tree))
	base := r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	r.pass(2100 * time.Millisecond)
	if d := one[wire.Dismissed](dead); d.Term != 2 {
		t.Errorf("dismissed in term %d", d.Term)
	}
	none[wire.AppDead](a)
	if d := one[wire.AppDead](base); d.App != grave.App || d.Role != grave.Role {
		t.Errorf("dead: %+v", d)
	}
	if got := r.tree(one[wire.Geometry](a).Tree); got.Len() != 1 || r.m.Status().Deaths != 1 {
		t.Errorf("%d deaths, %v", r.m.Status().Deaths, got)
	}
}

func TestStatesAfterRecovery(t *testing.T) {
	r := next(t, nil)
	tree := r.before(7, 0, true)
	mgr := r.comeBack(wire.BaseAppMgr, 30, 1, wire.Rejoin{})
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{Frozen: true}, has(1, tree))
	r.comeBack(wire.CellApp, 11, 2, wire.Rejoin{Retiring: true}, has(2, tree))
	r.pass(2100 * time.Millisecond)
	if w := one[wire.Welcome](a); w.BaseAppMgr != mgr.addr {
		t.Errorf("the BaseAppMgr is at %v", w.BaseAppMgr)
	}
	if f := one[wire.Freeze](a); !f.On || !r.m.frozen {
		t.Error("the world moves")
	}
	if !r.m.cellApp(2).retiring {
		t.Error("the CellApp no longer retires")
	}
	second := r.join(wire.BaseAppMgr, 31)
	if got := one[wire.Refused](second); !strings.Contains(got.Reason, mgr.addr.String()) {
		t.Errorf("a second BaseAppMgr: %q", got.Reason)
	}
}

// Who waits to join and is declared dead meanwhile is told so: an earlier manager had given it a cell, and its
// Welcome had been lost. (It was let in as a member, in which all others saw a dead process. Bases were sent to
// it for ever.)
func TestDeadWhileItWaits(t *testing.T) {
	r := next(t, nil)
	r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, r.before(7, 0, true)))
	waits := r.join(wire.CellApp, 11)
	r.pass(2100 * time.Millisecond)
	one[wire.Dismissed](waits)
	if r.m.byAddress(at(11)) != nil || !r.m.buried(at(11)) {
		t.Error("it is a member, and dead")
	}
}
