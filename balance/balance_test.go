package balance

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/google/go-cmp/cmp"
)

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
	plan := c.balancer.Plan(c.observe())
	if want := []bsp.CellID{{Term: 1, N: 1}}; !slices.Equal(plan.Crowded, want) {
		t.Errorf("Crowded = %v, want %v", plan.Crowded, want)
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
		c := newCrowd(t, 1, 0, 5, Config{MinCells: 4, Bounds: bounds})
		for range 10 {
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
	c = newCrowd(t, 2, 300, 3, Config{AddAbove: 0.01})
	c.run("start", 30)
	if c.tree.Len() != 3 {
		t.Errorf("%d cells on 3 apps", c.tree.Len())
	}
}

// pair is a space of two cells side by side, of 100 reals each, evenly spread over 1000 m.
func pair(t *testing.T, leftLoad, rightLoad int64) Observation {
	t.Helper()
	tree, err := bsp.ParseText("version 1.1 \n x 0 \n cell 1.1 10.0.0.1:1 0 created \n cell 1.2 10.0.0.2:1 0 created")
	if err != nil {
		t.Fatal(err)
	}
	row := func(from float32) load.Profile {
		var s []load.Sample
		for i := range 100 {
			s = append(s, load.Sample{X: from + 5 + float32(i)*10, Z: float32(i * 37 % 100 * 10), Load: 1})
		}
		return load.Build(s)
	}
	return Observation{Now: time.Minute, Tree: tree,
		Apps: []App{{ID: 1, Load: leftLoad, Cells: 1}, {ID: 2, Load: rightLoad, Cells: 1}},
		Cells: []Cell{
			{ID: bsp.CellID{Term: 1, N: 1}, App: 1, Load: leftLoad, Reals: 100, Profile: row(-1000)},
			{ID: bsp.CellID{Term: 1, N: 2}, App: 2, Load: rightLoad, Reals: 100, Profile: row(0)},
		}}
}

func TestOneLine(t *testing.T) {
	const core = load.Core
	tests := []struct {
		name   string
		cfg    Config
		edit   func(*Observation)
		l, r   int64
		lo, hi float64 // where the line goes; both 0 if it stays
	}{
		{name: "equal", l: core / 5, r: core / 5},
		{name: "dead band", l: core * 21 / 100, r: core / 5},
		{name: "left gives a quarter", l: core / 5, r: core / 10, lo: -255, hi: -235},
		{name: "right gives a quarter", l: core / 10, r: core / 5, lo: 235, hi: 255},
		{name: "at most MaxMove", cfg: Config{MaxMove: 0.02}, l: core / 5, r: core / 10, lo: -110, hi: -90},
		{name: "at most the budget", cfg: Config{OffloadBudget: 5}, l: core / 5, r: core / 10, lo: -60, hi: -40},
		{name: "all overloaded, balanced by the ratio", cfg: Config{SafetyBound: 0.05}, edit: func(o *Observation) { o.Cells[1].Load = core / 2 }, l: core, r: core / 2, lo: -140, hi: -90},
		{name: "not created", edit: func(o *Observation) { l, _, _ := o.Tree.Leaf(o.Cells[1].ID); l.Created = false }, l: core / 5, r: core / 10},
		{name: "no report", edit: func(o *Observation) { o.Cells = o.Cells[:1] }, l: core / 5, r: core / 10},
		{name: "negative load", edit: func(o *Observation) { o.Cells[1].Load = -1 }, l: core / 5, r: core / 10},
		{name: "huge load", edit: func(o *Observation) { o.Cells[0].Load = math.MaxInt64 }, l: core / 5, r: core / 10},
		{name: "NaN profile", edit: func(o *Observation) { o.Cells[0].Profile.X[3] = float32(math.NaN()) }, l: core / 5, r: core / 10},
		{name: "busy with other spaces", edit: func(o *Observation) { o.Apps[1].Load, o.Apps[1].Cells = core*3/10, 2 }, l: core / 5, r: core / 10, lo: 300, hi: 1001},
		{name: "its crowd is on the way already", edit: func(o *Observation) {
			n := slices.Collect(o.Tree.Nodes())[0]
			if err := o.Tree.MoveLine(n.ID, -250); err != nil {
				panic(err)
			}
		}, l: core / 5, r: core / 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := pair(t, tt.l, tt.r)
			if tt.edit != nil {
				tt.edit(&o)
			}
			b, err := New(tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			p := b.Plan(o)
			switch {
			case tt.lo == 0 && tt.hi == 0:
				if len(p.Moves) != 0 {
					t.Errorf("moved to %v, want no move", p.Moves)
				}
			case len(p.Moves) != 1 || p.Moves[0].To < tt.lo || p.Moves[0].To > tt.hi:
				t.Errorf("moves %v, want one to %g..%g", p.Moves, tt.lo, tt.hi)
			}
		})
	}
}

func TestNoMoveIntoASideWithAFullCell(t *testing.T) {
	o := pair(t, load.Core/2, load.Core*9/10)
	id := slices.Collect(o.Tree.Nodes())[0].ID
	idle := bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 3}, Created: true}
	if err := o.Tree.Split(o.Cells[1].ID, bsp.AxisZ, 500, idle, true); err != nil {
		t.Fatal(err)
	}
	o.Cells = append(o.Cells, Cell{ID: idle.Cell, App: 3})
	for _, bound := range []float64{0.85, 0.95} {
		b, _ := New(Config{SafetyBound: bound, AddAbove: 1})
		p := b.Plan(o)
		moved := slices.ContainsFunc(p.Moves, func(m Move) bool { return m.Node == id })
		if moved != (bound > 0.9) {
			t.Errorf("bound %v: line towards the full cell moved = %v", bound, moved)
		}
	}
}

func TestTurningHalvesTheStep(t *testing.T) {
	b, _ := New(Config{})
	heavyLeft, heavyRight, even := pair(t, load.Core/5, load.Core/10), pair(t, load.Core/10, load.Core/5), pair(t, load.Core/5, load.Core/5)
	id := slices.Collect(even.Tree.Nodes())[0].ID
	aggression := func(o Observation) float64 {
		b.Plan(o)
		s, ok := b.Line(id)
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

func TestFreeAppIsLeastLoadedThenLowestID(t *testing.T) {
	o := pair(t, load.Core/2, load.Core/2)
	o.Apps = append(o.Apps, App{ID: 9, Load: 5}, App{ID: 8, Load: 5}, App{ID: 3, Load: 6}, App{ID: 4, Load: -1})
	b, _ := New(Config{})
	p := b.Plan(o)
	if p.Split != nil {
		t.Error("split before a period has passed since the tree was first seen")
	}
	o.Now += time.Second
	p = b.Plan(o)
	if p.Split == nil || p.Split.App != 8 || p.Split.Cell != (bsp.CellID{Term: 1, N: 1}) || p.Ignored != 1 {
		t.Fatalf("plan %+v, split %+v", p, p.Split)
	}
	// Both axes spread alike, so the cut is across the line above, near the median.
	if s := p.Split; s.Axis != bsp.AxisZ || s.At < 480 || s.At > 520 {
		t.Errorf("cut %+v, want z near 500", s)
	}
	o.Apps[3].Load, o.Apps[2].Load, o.Apps[4].Load = load.Core, load.Core, load.Core
	o.Now += time.Second
	if p = b.Plan(o); p.Split != nil {
		t.Errorf("split for an app that is busier than the space's own")
	}
}

// randomObservation makes any figures that a caller could hand in, sense or nonsense.
func randomObservation(rng *rand.Rand, tree *bsp.Tree, now time.Duration) Observation {
	o := Observation{Now: now, Tree: tree}
	pick := func(values ...int64) int64 { return values[rng.IntN(len(values))] }
	n := uint32(0)
	for _, leaf := range tree.Leaves() {
		n++
		leaf.Created = rng.IntN(10) > 0
		var s []load.Sample
		for range rng.IntN(30) {
			s = append(s, load.Sample{X: float32(rng.NormFloat64() * 300), Z: float32(rng.IntN(3) * 50), Load: rng.Int64N(1e7)})
		}
		c := Cell{ID: leaf.Cell, App: n, Load: pick(0, 1, 1e8, rng.Int64N(2e9), load.Max), Reals: rng.IntN(1000), Profile: load.Build(s)}
		switch rng.IntN(30) {
		case 0:
			c.Load = pick(-1, math.MinInt64, math.MaxInt64)
		case 1:
			c.Profile.X[rng.IntN(load.Slices+1)] = float32(math.Inf(rng.IntN(2)))
		case 2:
			c.Profile.Z[rng.IntN(load.Slices+1)] = float32(math.NaN())
		case 3:
			c.ID.N += 1000
		case 4:
			c.Reals = -5
		case 5:
			o.Cells = append(o.Cells, c)
		}
		o.Cells = append(o.Cells, c)
		o.Apps = append(o.Apps, App{ID: n, Load: pick(c.Load, 0, rng.Int64N(2e9)), Cells: rng.IntN(3)})
	}
	for range 3 {
		o.Apps = append(o.Apps, App{ID: n + uint32(rng.IntN(4)), Load: pick(0, 5, -1, math.MaxInt64)})
	}
	return o
}

func TestAnyPlanCanBeApplied(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		b, _ := New(Config{AddAbove: 0.01})
		tree := bsp.New(bsp.Version{}, bsp.Leaf{Cell: bsp.CellID{N: 1}})
		for i := range 200 {
			o := randomObservation(rng, tree, time.Duration(i)*time.Second)
			before := tree.String()
			p := b.Plan(o)
			if tree.String() != before {
				t.Fatalf("seed %d: Plan changed the tree", seed)
			}
			if err := p.Apply(tree, bsp.Leaf{Cell: bsp.CellID{N: uint32(i + 2)}}); err != nil {
				t.Fatalf("seed %d, step %d: %v\n%+v\n%s", seed, i, err, p, before)
			}
			for n := range tree.Nodes() {
				if math.IsNaN(n.Line) || math.IsInf(n.Line, 0) {
					t.Fatalf("seed %d: line at %v", seed, n.Line)
				}
			}
			if tree.Len() > 12 {
				for _, l := range tree.Leaves() {
					if err := tree.Remove(l.Cell); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
		}
	}
}

func TestOrderOfFiguresDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	one, _ := New(Config{AddAbove: 0.01})
	two, _ := New(Config{AddAbove: 0.01})
	tree := bsp.New(bsp.Version{}, bsp.Leaf{Cell: bsp.CellID{N: 1}})
	for i := range 200 {
		o := randomObservation(rng, tree, time.Duration(i)*time.Second)
		// Of two reports for one cell the first counts, so only distinct ones may change places.
		slices.SortStableFunc(o.Cells, func(a, b Cell) int { return a.ID.Compare(b.ID) })
		o.Cells = slices.CompactFunc(o.Cells, func(a, b Cell) bool { return a.ID == b.ID })
		shuffled := o
		shuffled.Cells, shuffled.Apps = slices.Clone(o.Cells), slices.Clone(o.Apps)
		rng.Shuffle(len(shuffled.Cells), func(i, j int) {
			shuffled.Cells[i], shuffled.Cells[j] = shuffled.Cells[j], shuffled.Cells[i]
		})
		rng.Shuffle(len(shuffled.Apps), func(i, j int) { shuffled.Apps[i], shuffled.Apps[j] = shuffled.Apps[j], shuffled.Apps[i] })
		p, q := one.Plan(o), two.Plan(shuffled)
		if d := cmp.Diff(p, q); d != "" {
			t.Fatalf("step %d: plans differ:\n%s", i, d)
		}
		if err := p.Apply(tree, bsp.Leaf{Cell: bsp.CellID{N: uint32(i + 2)}}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Errorf("zero Config: %v", err)
	}
	bad := Config{
		Period: -1, AddAbove: math.NaN(), MinCells: -1, MaxCells: -1, Bounds: bsp.Rect{MaxX: 1}, MinDifference: 2,
		MinMove: -1, MaxMove: math.Inf(1), OffloadBudget: -1, SafetyBound: math.NaN(), SafetyRatio: 0.5,
	}
	err := bad.Validate()
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) || len(all.Unwrap()) != 11 {
		t.Errorf("want 11 faults, got:\n%v", err)
	}
	for _, field := range strings.Fields("Period AddAbove MinCells MaxCells Bounds MinDifference MinMove MaxMove OffloadBudget SafetyBound SafetyRatio") {
		if !strings.Contains(fmt.Sprint(err), field) {
			t.Errorf("no fault names %s", field)
		}
	}
	if _, err := New(bad); err == nil {
		t.Error("New accepts a bad Config")
	}
}

func BenchmarkPlan64Cells(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 5))
	tree := bsp.New(bsp.Version{}, bsp.Leaf{Cell: bsp.CellID{N: 1}})
	for n := uint32(2); tree.Len() < 64; n++ {
		x, z := rng.Float64()*4000, rng.Float64()*4000
		l := tree.At(x, z)
		at, axis := x, bsp.Axis(n%2)
		if axis == bsp.AxisZ {
			at = z
		}
		_ = tree.Split(l.Cell, axis, at, bsp.Leaf{Cell: bsp.CellID{N: n}}, true)
	}
	o := randomObservation(rng, tree, 0)
	for _, l := range tree.Leaves() {
		l.Created = true
	}
	bal, _ := New(Config{})
	for b.Loop() {
		o.Now += time.Second
		bal.Plan(o)
	}
}
