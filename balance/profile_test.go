package balance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

func newProfile(t testing.TB, cfg Config) *Profile {
	t.Helper()
	p, err := NewProfile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCrowdOnOneSpotIsNotCut(t *testing.T) {
	c := newCrowd(t, 7, 300, 4, Config{})
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
	c := newCrowd(t, 8, 300, 4, Config{})
	c.run("start", 30)
	c.goals(func(int) (float64, float64) { return 100, -100 })
	c.run("gather", 150)
	if _, late := c.run("spot", 60); late != 0 {
		t.Errorf("%d lines moved about a crowd on one spot", late)
	}
}

// TestHeavyEntitiesDoNotSwingALine has some entities cost a twentieth to a third of a cell each, which no line can
// divide and a profile only partly shows.
func TestHeavyEntitiesDoNotSwingALine(t *testing.T) {
	for seed := range uint64(6) {
		c := newCrowd(t, seed, 200, 4, Config{})
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
		c := newCrowd(t, 1, 0, 5, Config{MinCells: 4})
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
	c := newCrowd(t, 2, 300, 4, Config{MaxCells: 2})
	c.run("start", 30)
	if c.tree.Len() != 2 {
		t.Errorf("%d cells, want 2", c.tree.Len())
	}
	c = newCrowd(t, 2, 300, 3, Config{TargetLoad: 0.01})
	c.run("start", 30)
	if c.tree.Len() != 3 {
		t.Errorf("%d cells on 3 apps", c.tree.Len())
	}
}

func TestOneLine(t *testing.T) {
	tests := []struct {
		name        string
		cfg         Config
		edit        func(*Observation)
		left, right float64
		lo, hi      float64 // where the line goes; both 0 if it stays
		blocked     int
	}{
		{name: "equal", left: 0.2, right: 0.2},
		{name: "dead band", left: 0.21 * 0.98, right: 0.2},
		{name: "left gives a quarter", left: 0.2, right: 0.1, lo: -255, hi: -235},
		{name: "right gives a quarter", left: 0.1, right: 0.2, lo: 235, hi: 255},
		{name: "at most the budget", cfg: Config{OffloadBudget: 5}, left: 0.2, right: 0.1, lo: -60, hi: -40},
		{name: "all overloaded, balanced by the ratio", cfg: Config{SafetyBound: 0.3}, left: 1, right: 0.5, lo: -255, hi: -235},
		{name: "retiring takes all that the budget allows", cfg: Config{OffloadBudget: 50}, left: 0.1, right: 0.5, lo: -510, hi: -490, edit: func(o *Observation) {
			leafOf(o, 1).Retiring = true
		}},
		{name: "retiring, sibling over its bound", left: 0.1, right: 1, blocked: 1, cfg: Config{SafetyRatio: 1}, edit: func(o *Observation) {
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
		p := newProfile(t, Config{SafetyBound: bound}).Balance(o)
		moved := slices.ContainsFunc(p.Moves, func(m Move) bool { return m.Node == lineIDs(o.Spaces[0].Tree)[0] })
		if moved != (bound > 0.9) {
			t.Errorf("bound %v: line towards the full cell moved = %v", bound, moved)
		}
	}
}

func TestTurningHalvesTheStep(t *testing.T) {
	p := newProfile(t, Config{})
	heavyLeft, heavyRight, even := pair(t, 0.2, 0.1), pair(t, 0.1, 0.2), pair(t, 0.2, 0.2)
	id := lineIDs(even.Spaces[0].Tree)[0]
	aggression := func(o *Observation) float64 {
		p.Balance(o)
		s, ok := p.Line(1, id)
		if !ok {
			t.Fatal("line not remembered")
		}
		return s.Aggression
	}
	if a := aggression(heavyLeft); a != 1 {
		t.Errorf("first move: aggression %v", a)
	}
	if a := aggression(even); a != 1 {
		t.Errorf("at rest: aggression %v", a)
	}
	if a := aggression(heavyRight); a != 0.5 {
		t.Errorf("turned after a rest: aggression %v, want 0.5", a)
	}
	for range 10 {
		aggression(even)
	}
	if a := aggression(even); a < 0.999 || a > 1 {
		t.Errorf("after ten periods: aggression %v, want about 1", a)
	}
	for range 20 {
		aggression(heavyLeft)
		aggression(heavyRight)
	}
	if a := aggression(heavyLeft); a != minAggression {
		t.Errorf("swinging on: aggression %v, want %v", a, minAggression)
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
	p := newProfile(t, Config{})
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

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("zero Config: %v", err)
	}
	bad := Config{
		Policy: "x", Period: -1, TargetLoad: math.NaN(), MinCells: -1, MaxCells: -1, MinDifference: 2, MinMove: -1,
		OffloadBudget: -1, SafetyBound: math.NaN(), SafetyRatio: 0.5, Smoothing: 2, InitialCellLoad: -1,
		WarningLevel: math.Inf(1), GhostDistance: -1, MaxLoadingCells: bsp.MaxLeaves + 1, MinLoadingArea: -1,
		Scheme: 9, Scorers: []Scorer{{Name: "mine"}}, MetaTolerance: 2, LowerBound: -1, MaxCPUOffload: 2,
		AggressionDecrease: 1, AggressionIncreasePeriod: -1, MaxAggressionIncreasePeriod: -2, MaxAggression: 2,
	}
	err := bad.Validate()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		t.Fatalf("want many faults, got: %v", err)
	}
	for _, field := range strings.Fields(`Policy Period TargetLoad MinCells MaxCells MinDifference MinMove OffloadBudget
		SafetyBound SafetyRatio Smoothing InitialCellLoad WarningLevel GhostDistance MaxLoadingCells MinLoadingArea Scheme
		Scorers MetaTolerance LowerBound MaxCPUOffload AggressionDecrease AggressionIncreasePeriod
		MaxAggressionIncreasePeriod MaxAggression`) {
		if !slices.ContainsFunc(all.Unwrap(), func(e error) bool { return strings.Contains(fmt.Sprint(e), "balance: "+field) }) {
			t.Errorf("no fault names %s", field)
		}
	}
	for _, policy := range []string{"", ClassicPolicy, ProfilePolicy, "x"} {
		if _, err := New(Config{Policy: policy, MinMove: -1}); err == nil {
			t.Errorf("New takes a bad Config for %q", policy)
		}
	}
}

func TestConfigThatContradictsItself(t *testing.T) {
	tests := []struct {
		cfg   Config
		field string // "" if it is sound
	}{
		{Config{MinCells: 5, MaxCells: 4}, "MaxCells"},
		{Config{Period: 10 * time.Second, MetaPeriod: time.Second}, "MetaPeriod"},
		{Config{TargetLoad: 0.9}, "TargetLoad"},
		{Config{AggressionIncreasePeriod: time.Minute, MaxAggressionIncreasePeriod: time.Second}, "MaxAggressionIncreasePeriod"},
		// An app is given back, and its group at once is over the tolerance: it is taken back, and so on.
		{Config{LowerBound: 0.3}, "LowerBound"},
		{Config{LowerBound: 0.3, MetaTolerance: 0.3}, ""},
		// No side would ever be so far under its bound that a line moves by the area to be loaded.
		{Config{MaxCPUOffload: 0.3, SafetyBound: 0.3, TargetLoad: 0.2}, "MaxCPUOffload"},
		{Config{MaxCPUOffload: 0.3, SafetyBound: 0.4, TargetLoad: 0.2}, ""},
		{Config{MinCells: 5, MaxCells: 4, TargetLoad: 0.9, LowerBound: 0.3}, "MaxCells TargetLoad LowerBound"},
	}
	for _, tt := range tests {
		err := fmt.Sprint(tt.cfg.Validate())
		for _, field := range strings.Fields(tt.field) {
			if !strings.Contains(err, "balance: "+field+" ") {
				t.Errorf("%+v: no fault names %s: %v", tt.cfg, field, err)
			}
		}
		if n := strings.Count(err, "balance: "); n != len(strings.Fields(tt.field)) {
			t.Errorf("%+v: %d faults: %v", tt.cfg, n, err)
		}
	}
}
