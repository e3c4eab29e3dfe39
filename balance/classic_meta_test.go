package balance

import (
	"testing"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// TestCheckForOverloaded is about CellAppGroups::checkForOverloaded: groups well above the average
// of all apps are connected to the best app outside of them, the worst first.
func TestCheckForOverloaded(t *testing.T) {
	runMeta(t, classicName, []metaCase{
		{name: "within the tolerance", o: Observation{Apps: apps(300, 210), Spaces: []Space{space(t, 1, "1"), space(t, 2, "2")}}},
		{name: "above it", o: Observation{Apps: apps(310, 200), Spaces: []Space{space(t, 1, "1"), space(t, 2, "2")}}, want: "add 1/1.1 on 2"},
		{name: "tolerance from the config", cfg: knobs{MetaTolerance: 0.06}, o: Observation{Apps: apps(310, 200), Spaces: []Space{space(t, 1, "1"), space(t, 2, "2")}}},
		{name: "off", cfg: knobs{NoMeta: true, MinCells: 2}, o: Observation{Apps: apps(310, 0), Spaces: []Space{space(t, 1, "1")}}},
		{name: "nowhere to go", o: Observation{Apps: []App{apps(900)[0], {ID: 2, Retiring: true}}, Spaces: []Space{space(t, 1, "1")}}, want: "wanting 1"},
		// Average 350: apps 1 (800) and 2 (500) are over, and 1 is helped by 4, the idle one.
		{name: "worst first", o: Observation{Apps: apps(500, 800, 100, 0), Spaces: []Space{space(t, 1, "1"), space(t, 2, "2"), space(t, 3, "3")}}, want: "add 2/1.2 on 4, add 1/1.1 on 3"},
		// Both are over the average of 325. The worse one is connected to the other, the only one
		// that may have its cell, which is in its group from then on.
		{name: "one just joined is passed over", cfg: knobs{Scorers: []Scorer{rankBy("not idle ones", map[uint32]float64{1: 1, 2: 1})}},
			o:    Observation{Apps: apps(700, 600, 0, 0), Spaces: []Space{space(t, 1, "1"), space(t, 2, "2")}},
			want: "add 1/1.1 on 2"},
		{name: "through the next space if the chosen one is full", cfg: knobs{Scheme: Largest}, o: Observation{Apps: apps(700, 600, 0), Spaces: []Space{
			func() Space { s := space(t, 1, "x 0\n1\n2"); s.MaxCells = 2; return s }(), space(t, 2, "1")}}, want: "add 2/1.1 on 3"},
		{name: "an app without cells is not helped", o: Observation{Apps: apps(900, 0, 0), Spaces: []Space{space(t, 1, "2")}}},
	})
}

// TestCancelRetiringCellApp is about CellAppGroup::cancelRetiringCellApp: before a group is given
// another app it takes back one that it was giving up.
func TestCancelRetiringCellApp(t *testing.T) {
	runMeta(t, classicName, []metaCase{
		{name: "the first app takes back its cells", o: Observation{Apps: apps(500, 400, 300, 0, 0), Spaces: []Space{
			space(t, 1, "x 0\n1\nz 0\n2'\n3"), space(t, 2, "x 0\n2'\nz 0\n1\n3'")}}, want: "cancel 1/1.2, cancel 2/1.2"},
		{name: "not one that is shut down", o: Observation{Apps: shutDown(apps(500, 400, 300, 0), 2), Spaces: []Space{
			space(t, 1, "x 0\nz 0\n1\n2'\nz 0\n3'\n4")}}, want: "cancel 1/1.3"},
		{name: "swept too narrow", o: Observation{Apps: apps(500, 400, 0), Spaces: []Space{
			space(t, 1, "x 0\n1\nx 10\n2'\n3/9")}}, want: "add 1/1.1 on 3"},
		{name: "not overloaded", o: Observation{Apps: apps(30, 10, 30), Spaces: []Space{space(t, 1, "x 0\nz 0\n1\n2'\n3")}}},
	})
}

// TestInternalNodeAddCell is about InternalNode::addCell and where a new cell of Classic begins.
func TestInternalNodeAddCell(t *testing.T) {
	bounds := bsp.Rect{MinX: -500, MinZ: -500, MaxX: 500, MaxZ: 500}
	empty := func(s Space) Space {
		for i := range s.Cells {
			s.Cells[i].Profile = load.Profile{}
		}
		return s
	}
	within := func(s Space) Space { s.Bounds = bounds; return s }
	geometry := func(s Space) Space { s.Geometry = bounds; return s }
	tests := []struct {
		name string
		s    Space
		cell uint32
		axis bsp.Axis
		at   float64 // to a metre
	}{
		{"beyond the last entity", space(t, 1, "1"), 1, bsp.AxisZ, 990},
		{"the side of fewer cells, alternating", space(t, 1, "x 0\nz 0\n1\n2\n3"), 3, bsp.AxisZ, 990},
		{"the narrower side", space(t, 1, "x -300\n1\n2"), 1, bsp.AxisZ, 990},
		{"at an edge that is not infinite", space(t, 1, "x 0\nz 0\n1\n2\nz 0\nx 700\n3\n4\n5"), 2, bsp.AxisX, -25},
		{"never under a retiring one", space(t, 1, "x 0\n1'\nz 0\n2\n3"), 3, bsp.AxisX, 990},
		{"nobody and no bounds", empty(space(t, 1, "1")), 1, bsp.AxisZ, 500},
		{"nobody, in bounds", within(empty(space(t, 1, "1"))), 1, bsp.AxisZ, 475},
		{"nobody, geometry to load", geometry(empty(space(t, 1, "1"))), 1, bsp.AxisZ, 475},
		{"a cell beyond the bounds", within(empty(space(t, 1, "z 600\n1\nx 600\n2\n3"))), 1, bsp.AxisX, 475},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{}.WithDefaults()
			m := newPass(&cfg, look(&Observation{Spaces: []Space{tt.s}}))
			a, ok := cutFarEdge(m, 0)
			if !ok || a.Cell.N != tt.cell || a.Axis != tt.axis || a.At < tt.at-10 || a.At > tt.at+10 || !a.NewOnHigherSide {
				t.Errorf("%+v, %v; want cell 1.%d cut at about %v = %v", a, ok, tt.cell, tt.axis, tt.at)
			}
		})
	}
}

// TestCheckLoadingSpaces is about CellAppMgr::checkLoadingSpaces.
func TestCheckLoadingSpaces(t *testing.T) {
	const side = 4000 // 16 km²
	loading := func(s Space, loaded ...bsp.Rect) Space {
		s.Geometry = bsp.Around(0, 0, side/2)
		for i, r := range loaded {
			s.Cells[i].Loaded = r
		}
		return s
	}
	elsewhere := func(s Space) Space { // where the cut for the least cells is not that for loading
		s.Bounds, s.Cells[0].Profile = bsp.Around(900, 900, 100), load.Profile{}
		return s
	}
	all := bsp.Around(0, 0, side/2)
	left := bsp.Rect{MinX: -2000, MinZ: -2000, MaxX: 0, MaxZ: 2000}
	idle := func(n int) []App { return apps(make([]int64, n)...) }
	four := "x 0\nz 0\n1\n2\nz 0\n3\n4"
	tests := []metaCase{
		{name: "nothing to load", o: Observation{Apps: idle(2), Spaces: []Space{space(t, 1, "1")}}},
		{name: "nothing loaded", o: Observation{Apps: idle(2), Spaces: []Space{loading(space(t, 1, "1"))}}, want: "add 1/1.1 on 2"},
		{name: "loaded", o: Observation{Apps: idle(2), Spaces: []Space{loading(space(t, 1, "1"), all)}}},
		{name: "each cell counts by its own part", o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "x 0\n1\n2"), left, left)}}, want: "add 1/1.2 on 3"},
		{name: "all have their parts", cfg: knobs{MinCells: 2}, o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "x 0\n1\n2"), left.Grow(499), all)}}},
		{name: "one beyond the geometry needs none", cfg: knobs{MinCells: 2}, o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "x 2500\n1\n2"), all)}}},
		{name: "a retiring one needs none", o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "x 0\n1\n2'"), left.Grow(499))}}},
		{name: "one in a pass", cfg: knobs{MinCells: 2}, o: Observation{Apps: idle(3), Spaces: []Space{elsewhere(loading(space(t, 1, "1")))}}, want: "add 1/1.1 on 2"},
		{name: "helpers enough", o: Observation{Apps: idle(5), Spaces: []Space{loading(space(t, 1, four))}}},
		{name: "more helpers allowed", cfg: knobs{MaxLoadingCells: 5, Scheme: Hybrid}, o: Observation{Apps: idle(5), Spaces: []Space{
			loading(space(t, 1, four), bsp.Rect{MinX: -2000, MinZ: -2000}, all, all)}}, want: "add 1/1.4 on 5"},
		{name: "no helpers", cfg: knobs{MaxLoadingCells: -1}, o: Observation{Apps: idle(5), Spaces: []Space{loading(space(t, 1, "1"))}}},
		{name: "too small to share", cfg: knobs{MinLoadingArea: 8e6}, o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "x 0\n1\n2"))}}},
		{name: "large enough to share", cfg: knobs{MinLoadingArea: 7.9e6}, o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "x 0\n1\n2"), left)}}, want: "add 1/1.2 on 3"},
		{name: "most cells", cfg: knobs{MaxCells: 1}, o: Observation{Apps: idle(3), Spaces: []Space{loading(space(t, 1, "1"))}}},
		{name: "not on its group", o: Observation{Apps: idle(2), Spaces: []Space{loading(space(t, 1, "1")), func() Space { s := space(t, 2, "x 0\n1\n2"); s.MinCells = 2; return s }()}}, want: "wanting 1"},
	}
	runMeta(t, profileName, tests)
	// As where lines are balanced by the area to load, what lies GhostDistance around a cell is
	// part of that.
	tests = append(tests, metaCase{name: "a halo is missing", cfg: knobs{MinCells: 2}, o: Observation{Apps: idle(3), Spaces: []Space{
		loading(space(t, 1, "x 0\n1\n2"), left.Grow(498), all)}}, want: "add 1/1.2 on 3"})
	// Space 1 is connected to the group of 2 and 3, which then is no help for space 2.
	tests = append(tests, metaCase{name: "not on the group that has just joined", o: Observation{Apps: apps(500, 0, 0), Spaces: []Space{
		space(t, 1, "1", 400), loading(space(t, 2, "1")), func() Space { s := space(t, 3, "x 0\n2\n3"); s.MinCells = 2; return s }()}},
		want: "add 1/1.1 on 2, wanting 2"})
	runMeta(t, classicName, tests)
}

// TestCheckForUnderloaded is about CellAppGroup::checkForUnderloaded: a group that would stay under
// the lower bound without an app gives back the least loaded one.
func TestCheckForUnderloaded(t *testing.T) {
	two, three := "x 0\n1\n2", "x 0\n1\nz 0\n2\n3"
	runMeta(t, classicName, []metaCase{
		{name: "at the bound", o: Observation{Apps: apps(11, 9), Spaces: []Space{space(t, 1, two)}}},
		{name: "under it", o: Observation{Apps: apps(11, 8), Spaces: []Space{space(t, 1, two)}}, want: "retire 1/1.2"},
		{name: "bound from the config", cfg: knobs{LowerBound: 0.1, MetaTolerance: 0.1}, o: Observation{Apps: apps(49, 50), Spaces: []Space{space(t, 1, two)}}, want: "retire 1/1.1"},
		{name: "of equals the first", o: Observation{Apps: apps(1, 1, 1), Spaces: []Space{space(t, 1, three)}}, want: "retire 1/1.1"},
		{name: "one app", o: Observation{Apps: apps(0), Spaces: []Space{space(t, 1, "1"), space(t, 2, "1")}}},
		{name: "one that is left beside one that retires", o: Observation{Apps: apps(1, 1), Spaces: []Space{space(t, 1, "x 0\n1\n2'")}}},
		{name: "one in each group", o: Observation{Apps: apps(1, 2, 2, 1), Spaces: []Space{space(t, 1, two), space(t, 2, "x 0\n3\n4")}}, want: "retire 1/1.1, retire 2/1.4"},
		{name: "not while any space loads", o: Observation{Apps: apps(1, 2, 1), Spaces: []Space{space(t, 1, two),
			func() Space { s := space(t, 2, "3"); s.Geometry = bsp.Around(0, 0, 100); return s }()}}},
		{name: "not below the least cells", o: Observation{Apps: apps(1, 2), Spaces: []Space{func() Space { s := space(t, 1, two); s.MinCells = 2; return s }()}}},
		{name: "one that is shut down has gone already", o: Observation{Apps: shutDown(apps(5, 9, 9), 1), Spaces: []Space{space(t, 1, three)}}, want: "retire 1/1.1"},
		{name: "not the only created one", o: Observation{Apps: apps(1, 2), Spaces: []Space{space(t, 1, "x 0\n1\n2?")}}},
	})
}

// TestRetireAllCells is about CellApp::retireAllCells, for apps given back and apps that are shut
// down.
func TestRetireAllCells(t *testing.T) {
	// Loads are such that a group neither needs nor gives back an app for Profile, and all are
	// equal for Classic.
	mid := apps(200, 200, 200, 200)
	at := func(ids ...uint32) []App { return shutDown(append([]App(nil), mid...), ids...) }
	l := []int64{200, 200, 200, 200}
	both := []metaCase{
		{name: "all of a shut down app", o: Observation{Apps: at(2), Spaces: []Space{space(t, 1, "x 0\n1\n2", l...), space(t, 2, "x 0\n2\n3", l...)}}, want: "retire 1/1.2, retire 2/1.2"},
		{name: "the only cell gets another beside it first", o: Observation{Apps: at(1), Spaces: []Space{space(t, 1, "1", l...)}}, want: "add 1/1.1 on 2"},
		{name: "which must be there", o: Observation{Apps: at(1), Spaces: []Space{space(t, 1, "z 0\n1\n2?", l...)}}},
		{name: "then it retires", o: Observation{Apps: at(1), Spaces: []Space{space(t, 1, "z 0\n1\n2", l...)}}, want: "retire 1/1.1"},
		{name: "not twice", o: Observation{Apps: shutDown(apps(0, 200, 200, 200), 1), Spaces: []Space{space(t, 1, "z 0\n1'\n2", l...)}}},
		{name: "one sibling at a time", o: Observation{Apps: at(1, 2), Spaces: []Space{space(t, 1, "z 0\n3\nx 0\n1\n2", l...)}}, want: "retire 1/1.1"},
		{name: "nowhere to go", o: Observation{Apps: at(1, 2, 3, 4), Spaces: []Space{space(t, 1, "z 0\n1\n2", l...)}}, want: "wanting 1"},
		{name: "its heir must not retire", o: Observation{Apps: at(1), Spaces: []Space{space(t, 1, "z 0\n1\n2'", l...)}}, want: "cancel 1/1.2, retire 1/1.1"},
	}
	runMeta(t, classicName, both)
	both[0].cfg = knobs{TargetLoad: 0.85} // two apps of three must do
	both[4].cfg, both[5].cfg = both[0].cfg, both[0].cfg
	both[3].cfg, both[7].cfg = both[0].cfg, both[0].cfg
	runMeta(t, profileName, both)

	runMeta(t, classicName, []metaCase{
		{name: "all but the only ones of their spaces", o: Observation{Apps: apps(1, 2), Spaces: []Space{space(t, 1, "x 0\n1\n2"), space(t, 2, "1")}}, want: "retire 1/1.1"},
		{name: "the next app if the first has none that can", o: Observation{Apps: apps(1, 2, 3), Spaces: []Space{
			func() Space { s := space(t, 1, "x 0\n1\n2"); s.MinCells = 2; return s }(), space(t, 2, "x 0\n2\n3")}}, want: "retire 2/1.2"},
		{name: "one that has begun goes on alone", o: Observation{Apps: apps(3, 2, 1), Spaces: []Space{space(t, 1, "x 0\n1'\nz 0\n2\n3"), space(t, 2, "x 0\n1\n2")}}, want: "retire 2/1.1"},
		{name: "and nobody else begins", o: Observation{Apps: apps(3, 2, 1), Spaces: []Space{space(t, 1, "x 0\n1'\nz 0\n2\n3"), space(t, 2, "1")}}},
	})
}
