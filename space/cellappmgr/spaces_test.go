package cellappmgr

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/google/go-cmp/cmp"
)

func TestSpaceMade(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MinCellApps = 2 })
	a := r.join(wire.CellApp, 10)
	r.pass(5 * time.Second)
	none[wire.AddCell](a)

	b := r.join(wire.CellApp, 11)
	none[wire.AddCell](b)
	add := one[wire.AddCell](a)
	tree := r.tree(add.Tree)
	leaf, rect, _ := tree.Leaf(add.Cell)
	if !add.First || add.Space != 1 || add.Cell != (bsp.CellID{Term: 1, N: 1}) || rect != bsp.Everything() {
		t.Errorf("first cell: %+v of %v", add, tree)
	}
	if leaf.Created || leaf.App != a.addr.At || leaf.Salt != a.addr.Salt || tree.Version() != (bsp.Version{Term: 1, N: 1}) {
		t.Errorf("leaf %+v in version %v", leaf, tree.Version())
	}
	none[wire.Geometry](a)

	r.pass(3 * time.Second)
	if again := take[wire.AddCell](a); len(again) != 3 || again[0].Cell != add.Cell || !bytes.Equal(again[0].Tree, add.Tree) {
		t.Errorf("unconfirmed for 3 s, the order was given again %d times", len(again))
	}

	created := &wire.CellCreated{Space: 1, Cell: add.Cell}
	b.send(created) // it is not the cell of b
	none[wire.Geometry](a)
	a.send(created)
	tree = r.tree(one[wire.Geometry](a).Tree)
	if leaf, _, _ := tree.Leaf(add.Cell); !leaf.Created || tree.Version() != (bsp.Version{Term: 1, N: 2}) {
		t.Errorf("after creation: leaf %+v in version %v", leaf, tree.Version())
	}
	none[wire.Geometry](b)
	r.logged("space made", "space=1", "CellApp 1")
	r.logged("cell created", "space=1", "cell=1.1")

	a.send(created)
	r.pass(5 * time.Second)
	if ids := a.ids(); len(ids) != 1 || ids[0] != wire.WelcomeID {
		t.Errorf("nothing has changed, but a was sent %v", ids)
	}
	if n := r.m.Counts().UnknownCells; n != 1 {
		t.Errorf("%d confirmations counted as of no cell of the sender, want 1", n)
	}
}

func TestCellsSpreadOverApps(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.MinCellApps = 2
		c.Spaces = nil
		for i := range 4 {
			c.Spaces = append(c.Spaces, SpaceConfig{ID: entity.SpaceID(i + 1), Bounds: bsp.Rect{MaxX: 100, MaxZ: 100}})
		}
	})
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	if x, y := len(a.confirm()), len(b.confirm()); x != 2 || y != 2 {
		t.Errorf("four spaces on two CellApps: %d and %d", x, y)
	}
}

// split makes a space of two cells on two apps, by the load that a reports.
func (r *rig) split() (a, b *peer, first, second bsp.CellID) {
	r.t.Helper()
	a, b = r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	first = a.confirm()[0].Cell
	for range 30 {
		a.reportCells(cellReport(1, first, bsp.Version{Term: 1, N: 2}, 0.6, -100, 100))
		b.reportCells()
		r.pass(100 * time.Millisecond)
		if added := take[wire.AddCell](b); len(added) > 0 {
			second = added[0].Cell
			if added[0].First {
				r.t.Error("a cell that was cut off is not the first of its space")
			}
			b.send(&wire.CellCreated{Space: 1, Cell: second})
			return a, b, first, second
		}
	}
	r.t.Fatalf("a loaded cell was not split; log:\n%s", r.log.String())
	return
}

func TestSplitOnLoad(t *testing.T) {
	r := newRig(t, nil)
	a, b, first, second := r.split()
	told := take[wire.Geometry](a)
	if len(told) != 3 { // created, split, second created
		t.Fatalf("a was told %d geometries", len(told))
	}
	for i, g := range told {
		if v := r.tree(g.Tree).Version(); v != (bsp.Version{Term: 1, N: uint32(i + 2)}) {
			t.Errorf("geometry %d has version %v", i, v)
		}
	}
	// b got version 3 with the order, so it is told version 4 alone.
	tree := r.tree(one[wire.Geometry](b).Tree)
	if tree.Len() != 2 || tree.Version().N != 4 {
		t.Errorf("b was told version %v of %d cells", tree.Version(), tree.Len())
	}
	for _, id := range []bsp.CellID{first, second} {
		if leaf, rect, ok := tree.Leaf(id); !ok || !leaf.Created || rect == bsp.Everything() {
			t.Errorf("leaf %v: %+v, %v", id, leaf, rect)
		}
	}
	node, _ := tree.Parent(first)
	if node.Axis != bsp.AxisX || node.Line < -20 || node.Line > 20 {
		t.Errorf("a crowd from x = -100 to 100 was cut at %v = %v", node.Axis, node.Line)
	}
	r.logged("cell added", "cell=1.2", "CellApp 2", "cut_from=1.1")
}

func TestLineMovesWithinLimits(t *testing.T) {
	r := newRig(t, nil)
	a, b, first, second := r.split()
	take[wire.Geometry](a)
	tree := r.tree(one[wire.Geometry](b).Tree)
	version := tree.Version()
	moves := 0
	for range 40 {
		node, _ := tree.Parent(first)
		isLeft := node.Left.Leaf != nil && node.Left.Leaf.Cell == first
		// All load stays with the first cell, on its side of the line.
		from, to := float32(node.Line)-100, float32(node.Line)-1
		if !isLeft {
			from, to = float32(node.Line)+1, float32(node.Line)+100
		}
		a.reportCells(cellReport(1, first, version, 0.5, from, to))
		b.reportCells(wire.CellReport{Space: 1, Cell: second, Version: version})
		r.pass(500 * time.Millisecond)
		for i, g := range take[wire.Geometry](a) {
			next := r.tree(g.Tree)
			if i > 0 || next.Version().N != version.N+1 {
				t.Fatalf("version %v after %v", next.Version(), version)
			}
			lo, hi, _ := tree.LineLimits(node.ID)
			after, _ := next.Parent(first)
			if after.Line == node.Line || after.Line < lo || after.Line > hi {
				t.Fatalf("the line went from %v to %v; limits %v to %v", node.Line, after.Line, lo, hi)
			}
			if (after.Line < node.Line) != isLeft {
				t.Fatalf("the line went from %v to %v, away from the load", node.Line, after.Line)
			}
			tree, version, moves = next, next.Version(), moves+1
		}
	}
	if moves < 5 {
		t.Errorf("the line moved %d times in 20 s", moves)
	}
	if st := r.m.Status(); st.LinesMoved != moves {
		t.Errorf("%d lines moved, the status says %d", moves, st.LinesMoved)
	}
}

// A crowd on one spot cannot be divided. The operator is told once, and again only when it happens
// anew.
func TestCrowdedIsTold(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11)
	cell := a.confirm()[0].Cell
	spot := cellReport(1, cell, bsp.Version{Term: 1, N: 2}, 0.9, 5, 5)
	spot.Profile = load.Build([]load.Sample{{X: 5, Z: 5, Load: 1}})
	for range 5 {
		a.reportCells(spot)
		r.pass(time.Second)
	}
	none[wire.AddCell](b)
	count := func() int { return strings.Count(r.log.String(), "too crowded") }
	if count() != 1 {
		t.Errorf("told %d times; log:\n%s", count(), r.log.String())
	}
	calm := spot
	calm.Load = 0
	for _, now := range []wire.CellReport{calm, spot} {
		a.reportCells(now)
		r.pass(time.Second)
	}
	if count() != 2 {
		t.Errorf("crowded again, told %d times", count())
	}
}

func TestLocate(t *testing.T) {
	r := newRig(t, nil)
	base := r.join(wire.BaseApp, 20)
	ask := func(space entity.SpaceID, x float32) mercury.Address {
		t.Helper()
		base.send(&wire.Locate{ID: 77, Space: space, Position: property.Vector3{X: x}})
		got := one[wire.Located](base)
		if got.ID != 77 || got.Space != space {
			t.Errorf("answer %+v", got)
		}
		return got.App
	}
	if app := ask(1, 0); !app.IsZero() {
		t.Errorf("a space without a cell is at %v", app)
	}
	a := r.join(wire.CellApp, 10)
	cell := one[wire.AddCell](a).Cell
	if app := ask(1, 0); !app.IsZero() {
		t.Errorf("a cell that is not created is offered at %v", app)
	}
	a.send(&wire.CellCreated{Space: 1, Cell: cell})
	if app := ask(1, 9000); app != at(10) {
		t.Errorf("app %v", app)
	}
	if app := ask(2, 0); !app.IsZero() {
		t.Errorf("an unknown space is at %v", app)
	}

	// A second cell is used once it is created, and not before.
	b := r.join(wire.CellApp, 11)
	var second bsp.CellID
	for second.IsZero() {
		a.reportCells(cellReport(1, cell, bsp.Version{Term: 1, N: 2}, 0.6, -100, 100))
		r.pass(time.Second)
		if added := take[wire.AddCell](b); len(added) > 0 {
			second = added[0].Cell
		}
	}
	x := float32(300)
	if leaf := r.m.spaces[0].tree.At(300, 0); leaf.Cell != second {
		x = -300
	}
	if app := ask(1, x); app != at(10) {
		t.Errorf("not created yet, but located at %v", app)
	}
	b.send(&wire.CellCreated{Space: 1, Cell: second})
	if app := ask(1, x); app != at(11) {
		t.Errorf("created, but located at %v", app)
	}
}

func TestSpaceData(t *testing.T) {
	r := newRig(t, nil)
	a, idle, base := r.join(wire.CellApp, 10), r.join(wire.CellApp, 11), r.join(wire.BaseApp, 12)
	base.send(&wire.SetSpaceData{Space: 1, Key: 5, Value: []byte("dawn")})
	a.send(&wire.SetSpaceData{Space: 1, Key: 6, Value: []byte("rain")})
	base.send(&wire.SetSpaceData{Space: 1, Key: 5, Value: []byte("noon")})
	want := []wire.SpaceData{
		{Space: 1, Entry: wire.SpaceDataEntry{Number: 1, Key: 5, Value: []byte("dawn")}},
		{Space: 1, Entry: wire.SpaceDataEntry{Number: 2, Key: 6, Value: []byte("rain")}},
		{Space: 1, Entry: wire.SpaceDataEntry{Number: 3, Key: 5, Value: []byte("noon")}},
	}
	if d := cmp.Diff(want, take[wire.SpaceData](a)); d != "" {
		t.Errorf("told to the space's app (-want +got):\n%s", d)
	}
	none[wire.SpaceData](idle)

	// A new cell gets the present entries, in the order of the changes.
	a.drop(mercury.ErrPeerAborted)
	add := one[wire.AddCell](idle)
	if d := cmp.Diff([]wire.SpaceDataEntry{want[1].Entry, want[2].Entry}, add.Data); d != "" {
		t.Errorf("data of a new cell (-want +got):\n%s", d)
	}

	base.send(&wire.SetSpaceData{Space: 9, Key: 1})
	big := make([]byte, wire.MaxSpaceDataValue)
	for key := range uint16(MaxSpaceDataBytes/len(big) + 2) {
		base.send(&wire.SetSpaceData{Space: 1, Key: 100 + key, Value: big})
	}
	if n := r.m.Counts().RefusedData; n != 4 { // the unknown space, and three above the limit
		t.Errorf("%d changes refused", n)
	}
	r.logged("space data is full", "BaseApp 1")
	base.send(&wire.SetSpaceData{Space: 1, Key: 100, Value: []byte("small")})
	if got := take[wire.SpaceData](idle); string(got[len(got)-1].Entry.Value) != "small" {
		t.Error("a full space refuses to shrink")
	}
}

// The order of a cell with the largest tree and data fits a mercury message.
func TestLargestOrderFits(t *testing.T) {
	data := MaxSpaceDataBytes + wire.MaxSpaceData*(10+2+3+5+10)
	if total := bsp.MaxEncoded + data + 64; total > mercury.DefaultMaxMessage {
		t.Errorf("an AddCell may have %d bytes, mercury carries %d", total, mercury.DefaultMaxMessage)
	}
	if bsp.MaxEncoded > wire.MaxTree {
		t.Errorf("a tree may have %d bytes, its readers take %d", bsp.MaxEncoded, wire.MaxTree)
	}
}

// The CellApps whose cells touch an area, each once, as soon as the cells are created.
func TestLocateArea(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	ask := func(space entity.SpaceID, area bsp.Rect) []mercury.Address {
		t.Helper()
		a.send(&wire.LocateArea{Gateway: spacekey.GatewayEnd(3, true), Space: space, Area: area})
		got := one[wire.LocatedArea](a)
		if got.Gateway != 7 || got.Space != space {
			t.Errorf("answer %+v", got)
		}
		return got.Apps
	}
	cell, here := one[wire.AddCell](a).Cell, bsp.Around(0, 0, 50)
	if apps := ask(1, here); len(apps) > 0 {
		t.Errorf("a cell that is not created is at %v", apps)
	}
	a.send(&wire.CellCreated{Space: 1, Cell: cell})
	if apps := ask(1, here); len(apps) > 0 {
		t.Errorf("a gateway that the space does not have leads to %v", apps)
	}
	a.send(&wire.SetSpaceData{Space: 1, Key: spacekey.Gateway, ID: 3, Value: []byte("it"), Said: 1})
	if apps := ask(1, here); !slices.Equal(apps, []mercury.Address{at(10)}) {
		t.Errorf("the cells are at %v", apps)
	}
	for _, none := range []bsp.Rect{{}, bsp.Around(0, 0, -1), {MinX: math.NaN(), MaxX: 1, MaxZ: 1}} {
		if apps := ask(1, none); len(apps) > 0 {
			t.Errorf("%v touches cells of %v", none, apps)
		}
	}
	if apps := ask(2, here); len(apps) > 0 {
		t.Errorf("an unknown space is at %v", apps)
	}
	a.send(&wire.SetSpaceData{Space: 1, Key: spacekey.Gateway, ID: 3, Removed: true, Said: 2})
	if apps := ask(1, here); len(apps) > 0 {
		t.Errorf("a gateway that was closed leads to %v", apps)
	}
}
