package balance

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

func newProfile(t testing.TB, cfg knobs) *Profile {
	t.Helper()
	p, err := cfg.profile().make(cfg.shared(), cfg.border())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCrowdOnOneSpotIsNotCut(t *testing.T) {
	c := newCrowd(t, 7, 300, 4, knobs{})
	for i := range c.walkers {
		c.walkers[i].x, c.walkers[i].z = 40, 40
	}
	c.halt()
	c.run("spot", 20)
	if c.tree.Len() != 1 {
		t.Errorf("%d cells for a crowd that cannot be divided", c.tree.Len())
	}
	if want := []Ref{{1, bsp.CellID{Term: 1, N: 1}}}; !slices.Equal(c.crowded, want) {
		t.Errorf("Crowded = %v, want %v", c.crowded, want)
	}
	// The crowd walks apart: now it can be cut.
	c.goals(func(i int) (float64, float64) { return float64(i%20) * 30, float64(i/20) * 30 })
	c.run("apart", 120)
	if c.tree.Len() != 4 {
		t.Errorf("%d cells, want 4", c.tree.Len())
	}
}

func TestCellsGatheringOnOneSpotComeToRest(t *testing.T) {
	c := newCrowd(t, 8, 300, 4, knobs{})
	c.run("start", 30)
	c.goals(func(int) (float64, float64) { return 100, -100 })
	c.run("gather", 150)
	if _, late := c.run("spot", 60); late != 0 {
		t.Errorf("%d lines moved about a crowd on one spot", late)
	}
}

// TestHeavyEntitiesDoNotSwingALine has some entities cost a twentieth to a third of a cell each,
// which no line can divide and a profile only partly shows.
func TestHeavyEntitiesDoNotSwingALine(t *testing.T) {
	for seed := range uint64(6) {
		c := newCrowd(t, seed, 200, 4, knobs{})
		for i := range c.walkers {
			if i%15 == 0 {
				c.walkers[i].heavy = 20e6 + c.rng.Int64N(int64(1+seed*20)*1e6)
			}
		}
		c.halt()
		c.run("settle", 40)
		if _, late := c.run("still", 40); late != 0 {
			t.Errorf("seed %d: %d lines moved about a still crowd\n%v", seed, late, c.tree)
		}
	}
}

func TestMinCellsNeedNoLoad(t *testing.T) {
	for _, bounds := range []bsp.Rect{{}, {MinX: -200, MinZ: 100, MaxX: 200, MaxZ: 900}} {
		c := newCrowd(t, 1, 0, 5, knobs{MinCells: 4})
		c.bounds = bounds
		for range 12 {
			c.second()
		}
		if c.tree.Len() != 4 {
			t.Errorf("bounds %v: %d cells, want 4\n%v", bounds, c.tree.Len(), c.tree)
		}
		for r := range c.tree.Leaves() {
			if bounds != (bsp.Rect{}) && !r.Overlaps(bounds) {
				t.Errorf("leaf %v is outside of %v", r, bounds)
			}
		}
	}
}

func TestMaxCellsAndAppsLimit(t *testing.T) {
	c := newCrowd(t, 2, 300, 4, knobs{MaxCells: 2})
	c.run("start", 30)
	if c.tree.Len() != 2 {
		t.Errorf("%d cells, want 2", c.tree.Len())
	}
	c = newCrowd(t, 2, 300, 3, knobs{TargetLoad: 0.01})
	c.run("start", 30)
	if c.tree.Len() != 3 {
		t.Errorf("%d cells on 3 apps", c.tree.Len())
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct {
		name        string
		cfg         knobs
		edit        func(*Observation)
		left, right float64
		lo, hi      float64 // where the line goes; both 0 if it stays
		blocked     int
	}{
		{name: "equal", left: 0.2, right: 0.2},
		{name: "dead band", left: 0.203, right: 0.2},
		{name: "left gives a quarter", left: 0.2, right: 0.1, lo: -255, hi: -235},
		{name: "right gives a quarter", left: 0.1, right: 0.2, lo: 235, hi: 255},
		{name: "farther by the band, since nobody leaves before", cfg: knobs{Band: 12}, left: 0.2, right: 0.1, lo: -267, hi: -247},
		{name: "who comes in is let be first", left: 0.2, right: 0.2, lo: -5, hi: 5, edit: func(o *Observation) {
			if err := o.Spaces[0].Tree.MoveLine(lineIDs(o.Spaces[0].Tree)[0], 250); err != nil {
				panic(err)
			}
		}},
		{name: "retiring, with neighbours who step about in it", cfg: knobs{Band: 12}, right: 0.2, lo: -1e9, hi: -1e9, edit: func(o *Observation) {
			leafOf(o, 1).Retiring = true
			if err := o.Spaces[0].Tree.MoveLine(lineIDs(o.Spaces[0].Tree)[0], 20); err != nil {
				panic(err)
			}
		}},
		{name: "at most the budget", cfg: knobs{OffloadRate: 10}, left: 0.2, right: 0.1, lo: -60, hi: -40},
		{name: "all overloaded, balanced by the ratio", cfg: knobs{SafetyBound: 0.3}, left: 1, right: 0.5, lo: -255, hi: -235},
		{name: "retiring takes all that the budget allows", cfg: knobs{OffloadRate: 100}, left: 0.1, right: 0.5, lo: -510, hi: -490, edit: func(o *Observation) {
			leafOf(o, 1).Retiring = true
		}},
		{name: "retiring, sibling over its bound", left: 0.1, right: 1, blocked: 1, cfg: knobs{SafetyRatio: 1}, edit: func(o *Observation) {
			leafOf(o, 1).Retiring = true
			o.Spaces[0].Cells[1].Load = 1.2e9
			o.Spaces[0].Tree = mustParse(t, "version 1.1 \n x -2000 \n cell 1.3 - 0 \n x 0 \n cell 1.1 - 0 created retiring \n cell 1.2 - 0 created")
			o.Spaces[0].Cells = append(o.Spaces[0].Cells, cellOf(3, nil))
		}},
		{name: "not created", edit: func(o *Observation) { leafOf(o, 2).Created = false }, left: 0.2, right: 0.1},
		{name: "no report", edit: func(o *Observation) { o.Spaces[0].Cells = o.Spaces[0].Cells[:1] }, left: 0.2, right: 0.1},
		{name: "negative load", edit: func(o *Observation) { o.Spaces[0].Cells[1].Load = -1 }, left: 0.2, right: 0.1},
		{name: "huge load", edit: func(o *Observation) { o.Spaces[0].Cells[0].Load = math.MaxInt64 }, left: 0.2, right: 0.1},
		{name: "NaN profile", edit: func(o *Observation) { o.Spaces[0].Cells[0].Profile.X[3] = float32(math.NaN()) }, left: 0.2, right: 0.1},
		{name: "busy with other spaces", edit: func(o *Observation) {
			o.Apps[1].Load = 3e8
			other := bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 7}, App: o.Apps[1].Addr, Created: true}
			o.Spaces = append(o.Spaces, Space{ID: 2, Tree: bsp.New(bsp.Version{}, other)})
		}, left: 0.2, right: 0.1, lo: 300, hi: 1001},
		{name: "its crowd is on the way already", edit: func(o *Observation) {
			if err := o.Spaces[0].Tree.MoveLine(lineIDs(o.Spaces[0].Tree)[0], -250); err != nil {
				panic(err)
			}
		}, left: 0.2, right: 0.1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := pair(t, tt.left, tt.right)
			if tt.edit != nil {
				tt.edit(o)
			}
			if tt.cfg.Band == 0 {
				tt.cfg.Band = math.SmallestNonzeroFloat64
			}
			p := newProfile(t, tt.cfg).Balance(o)
			switch {
			case tt.lo == 0 && tt.hi == 0:
				if len(p.Moves) != 0 {
					t.Errorf("moved to %v, want no move", p.Moves)
				}
			case len(p.Moves) != 1 || p.Moves[0].To < tt.lo || p.Moves[0].To > tt.hi:
				t.Errorf("moves %v, want one to %g..%g", p.Moves, tt.lo, tt.hi)
			}
			if len(p.Blocked) != tt.blocked {
				t.Errorf("Blocked %v, want %d", p.Blocked, tt.blocked)
			}
		})
	}
}

func TestNoMoveIntoASideWithAFullCell(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n cell 1.1 - 0 created \n z 500 \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	for _, bound := range []float64{0.85, 0.95} {
		o := observed(t, tree, cellOf(1, row(-995, 0, 10, 100, 0.5)), cellOf(2, row(5, 0, 10, 100, 0.9)), cellOf(3, nil))
		p := newProfile(t, knobs{SafetyBound: bound}).Balance(o)
		moved := slices.ContainsFunc(p.Moves, func(m Move) bool { return m.Node == lineIDs(o.Spaces[0].Tree)[0] })
		if moved != (bound > 0.9) {
			t.Errorf("bound %v: line towards the full cell moved = %v", bound, moved)
		}
	}
}

func TestTurningWidensTheDeadBand(t *testing.T) {
	l := newProfileLine()
	const pace = regainPace / 20
	regained := 1 + math.Ln2/20
	for _, step := range []struct {
		name      string
		direction int
		width     float64
	}{
		{"first move", -1, 1}, {"rest", 0, 1}, {"turned after a rest", 1, 1.5}, {"the same way", 1, 1.5 / regained},
	} {
		if l.turn(step.direction, pace); l.width != step.width {
			t.Errorf("%s: width %v, want %v", step.name, l.width, step.width)
		}
	}
	for range 20 {
		l.turn(-l.direction, pace)
	}
	if l.width != maxWidth {
		t.Errorf("swinging on: width %v, want %v", l.width, maxWidth)
	}
	if l.turn(0, 0); l.width != maxWidth {
		t.Errorf("a still crowd: width %v, want %v", l.width, maxWidth)
	}
	for range 40 {
		l.turn(0, pace)
	}
	if math.Abs(l.width-1) > 1e-9 {
		t.Errorf("after twice that time: width %v, want 1", l.width)
	}
}

// TestStillRowsComeToRest has a crowd in rows, of which a line passes a whole one or none.
func TestStillRowsComeToRest(t *testing.T) {
	c := newCrowd(t, 3, 300, 4, knobs{})
	for i := range c.walkers {
		c.walkers[i].x, c.walkers[i].z = float64(i%15)*60, float64(i/15)*60
	}
	c.halt()
	c.run("settle", 60)
	if _, late := c.run("still", 40); late != 0 {
		t.Errorf("%d lines moved about a crowd in rows\n%v", late, c.tree)
	}
}

// TestSweepGoesToTheEnd has a retiring cell of less width than any other step: it must not be left
// over.
func TestSweepGoesToTheEnd(t *testing.T) {
	o := observed(t, "version 1.1 \n x 0 \n x -0.00095 \n cell 1.3 - 0 created \n cell 1.1 - 0 created retiring \n cell 1.2 - 0 created",
		cellOf(1, nil), cellOf(2, row(5, 0, 10, 100, 0.2)), cellOf(3, row(-995, 0, 9, 100, 0.2)))
	p := newProfile(t, knobs{})
	for range 3 {
		plan := p.Balance(o)
		if err := apply(o, &plan); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, ok := o.Spaces[0].Tree.Leaf(bsp.CellID{Term: 1, N: 1}); ok {
		t.Errorf("the retiring cell is left\n%v", o.Spaces[0].Tree)
	}
}

func TestWantedIsTheLargerTheMoreLeaves(t *testing.T) {
	// Two sides whose sums differ by twice the transfer; the band of a line between two leaves is
	// 1.
	for _, tt := range []struct {
		leaves   int
		transfer float64
		width    float64
		moves    bool
	}{
		{1, 1, 1, false}, {1, 1.1, 1, true}, {16, 3.9, 1, false}, {16, 4.1, 1, true}, {1, 1.4, 1.5, false}, {1, 1.6, 1.5, true},
	} {
		m := mover{band: 1}
		left := side{sum: 100 + 2*tt.transfer, weight: tt.leaves, known: true}
		right := side{sum: 100, weight: tt.leaves, known: true}
		if got := m.wanted(&left, &right, tt.width); (got != 0) != tt.moves {
			t.Errorf("%d leaves a side, %v to pass, width %v: %v", tt.leaves, tt.transfer, tt.width, got)
		}
	}
}

func TestNewCellGoesToTheLeastLoadedThenLowestApp(t *testing.T) {
	// Both axes spread alike, so that the cut is across the line above, near the median of z.
	square := func(from float32) []load.Sample {
		s := row(from, 0, 10, 100, 0.5)
		for i := range s {
			s[i].Z = float32(i * 37 % 100 * 10)
		}
		return s
	}
	o := observed(t, pairTree, cellOf(1, square(-995)), cellOf(2, square(5)))
	for _, a := range []App{{ID: 9, AppLoad: reported(5e6)}, {ID: 8, AppLoad: reported(5e6)}, {ID: 3, AppLoad: reported(60e6)}, {ID: 4, AppLoad: AppLoad{Load: -1}}} {
		a.Addr = appAddr(a.ID)
		o.Apps = append(o.Apps, a)
	}
	p := newProfile(t, knobs{})
	if plan := p.Meta(o); len(plan.Adds) != 0 {
		t.Error("a cell is added before a period has passed since the tree was first seen")
	}
	o.Now += 3 * time.Second
	plan := p.Meta(o)
	if len(plan.Adds) == 0 || plan.Ignored != 1 {
		t.Fatalf("plan %+v", plan)
	}
	if a := plan.Adds[0]; a.Axis != bsp.AxisZ || a.At < 480 || a.At > 520 {
		t.Errorf("cut %+v, want z near 500", a)
	}
	for _, a := range plan.Adds {
		if a.App == 1 || a.App == 2 {
			t.Errorf("%+v: the app has a cell of the space", a)
		}
	}
	for i := range o.Apps[2:] {
		o.Apps[2+i].AppLoad = reported(load.Core)
	}
	o.Now += 3 * time.Second
	if plan = p.Meta(o); len(plan.Adds) != 0 {
		t.Errorf("%v: for an app that is busier than the space's own", plan.Adds)
	}
}

func reported(l int64) AppLoad {
	var a AppLoad
	a.Report(l, 1)
	return a
}

// TestANarrowCellKeepsLess: a step must know that the band becomes narrower with the cell that it
// takes from, or it takes more than it should.
func TestANarrowCellKeepsLess(t *testing.T) {
	cfg := knobs{Band: 10}
	profile := load.Build(row(0, 0, 0.5, 100, 1))
	s := step{m: &mover{p: newProfile(t, cfg)}, from: 40, direction: -1, axis: bsp.AxisX}
	p := passing{quanta: &profile.X, rect: bsp.Rect{MaxX: 40, MaxZ: 100}, band: 10}
	for _, tt := range []struct{ to, share float64 }{{40, 0}, {36, 0.1}, {20, 0.5}, {4, 0.9}} {
		if got := s.share(&p, tt.to); math.Abs(got-tt.share) > 0.01 {
			t.Errorf("line at %v: share %v leaves, want %v", tt.to, got, tt.share)
		}
	}
}

// TestWhoCannotLeaveYetIsThere: of a crowd that stands beyond its cell, the cell hands over what
// its budget allows. Whoever is left is its load still, and no line gives it more.
func TestWhoCannotLeaveYetIsThere(t *testing.T) {
	beyond := row(100, 0, 1, 100, 0.4)
	for budget, want := range map[int]float64{10: 0.36, 40: 0.24, 1000: 0} {
		p := newProfile(t, knobs{OffloadRate: 2 * float64(budget), MinMove: 1})
		p.Balance(observed(t, pairTree, cellOf(1, beyond), cellOf(2, row(300, 0, 1, 100, 0.35))))
		if got := p.levels[0].cells[0].planned / 1e9; math.Abs(got-want) > 0.01 {
			t.Errorf("with a budget of %d it is taken to keep %v, want %v", budget, got, want)
		}
	}
	o := observed(t, pairTree, cellOf(1, beyond), cellOf(2, row(300, 0, 1, 100, 0.3)))
	for _, move := range newProfile(t, knobs{OffloadRate: 20}).Balance(o).Moves {
		t.Errorf("the line goes to %v", move.To)
	}
}

// A line does not move on while the handovers of its last moves are under way, but one that sweeps a
// retiring cell does, or the cell would never go.
func TestLinesWaitForHandovers(t *testing.T) {
	moves := func(handoffs, reals int, retires bool) int {
		o := pair(t, 0.3, 0.1)
		if retires {
			if err := o.Spaces[0].Tree.Retire(bsp.CellID{Term: 1, N: 1}); err != nil {
				t.Fatal(err)
			}
		}
		c := &o.Spaces[0].Cells[0]
		c.Handoffs, c.Reals = handoffs, reals
		return len(newProfile(t, knobs{}).Balance(o).Moves)
	}
	for _, c := range []struct {
		name            string
		handoffs, reals int
		retires         bool
		want            int
	}{
		{"none", 0, 100, false, 1},
		{"a few, as ever", 4, 100, false, 1},
		{"a part of them", 30, 100, false, 0},
		{"a few of many", 30, 1000, false, 1},
		{"a sweep", 30, 100, true, 1},
	} {
		if got := moves(c.handoffs, c.reals, c.retires); got != c.want {
			t.Errorf("%s: %d moves with %d handovers of %d reals under way, want %d", c.name, got, c.handoffs, c.reals, c.want)
		}
	}
}
