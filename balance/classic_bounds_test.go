package balance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// bounds makes an edge of (depth, load in thousandths of a core) pairs, the largest first; fewer
// than all levels repeat the first.
func bounds(whole bool, pairs ...float64) edgeBounds {
	b := edgeBounds{inward: 1, whole: whole}
	for k := range b.depth {
		i := max(0, 2*(k-levels)+len(pairs))
		b.depth[k], b.load[k] = pairs[i], pairs[i+1]*1e6
	}
	return b
}

// TestEntityBoundForLoadDiff is EntityBoundLevels::entityBoundForLoadDiff.
func TestEntityBoundForLoadDiff(t *testing.T) {
	low := bounds(false, 50, 22, 40, 11, 30, 6, 20, 3, 10, 1.5)
	high := low
	high.inward = -1
	tests := []struct {
		diff, low float64
	}{
		{1000, 50}, {22, 50}, {21.9, 40}, {11, 40}, {10, 30}, {3.1, 20}, {1.5, 10}, {1.4, 7},
	}
	for _, tt := range tests {
		if got := low.forDifference(tt.diff*1e6, 7); got != tt.low {
			t.Errorf("difference %v from the low edge: %v, want %v", tt.diff, got, tt.low)
		}
		want := -tt.low
		if tt.low == 7 {
			want = 7 // where it stays is no depth
		}
		if got := high.forDifference(tt.diff*1e6, 7); got != want {
			t.Errorf("difference %v from the high edge: %v, want %v", tt.diff, got, want)
		}
	}
}

// TestEntityLimitInDirection is InternalNode::entityLimitInDirection.
func TestEntityLimitInDirection(t *testing.T) {
	o := pair(t, 0.2, 0.2)
	v := look(o)
	s := &v.spaces[0]
	p := newClassicPass(newClassic(t, knobs{}), v, s, &Plan{})
	l := &s.lines[0]
	left, right := p.branch(l, true), p.branch(l, false)
	empty := cellOf(1, nil)
	unknown := Cell{ID: empty.ID, App: 1, Reals: 3}
	tests := []struct {
		name string
		cell *Cell
		give *branch
		diff float64
		want float64
	}{
		{"into the left by its high edge", nil, &left, 25e6, -110},
		{"into the right by its low edge", nil, &right, 25e6, 110},
		{"below the smallest slice", nil, &left, 1.24e6, 0},
		{"below the smallest slice, though nobody is there", &empty, &left, 1.24e6, 0},
		{"where nobody is", &empty, &left, 1.25e6, math.Inf(-1)},
		{"reals without edges", &unknown, &left, 1e9, 0},
	}
	for _, tt := range tests {
		was := s.leaves[0].cell
		if tt.cell != nil {
			s.leaves[0].cell = tt.cell
		}
		if got := p.entityLimit(l, tt.give, tt.diff); math.Abs(got-tt.want) > 0.01 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		s.leaves[0].cell = was
	}
}

// TestTakeSingleBranch is EntityBoundLevels::takeSingleBranch: of two parts one behind the other,
// the one at the edge.
func TestTakeSingleBranch(t *testing.T) {
	// The line x = -100 parts the left side again; its right part has 10 reals of 0.002.
	const tree = "version 1.1 \n x 0 \n x -100 \n cell 1.1 - 0 created \n cell 1.2 - 0 created \n cell 1.3 - 0 created"
	build := func(middle []load.Sample) (*classicPass, *lineView) {
		o := observed(t, tree, cellOf(1, row(-995, 0, 10, 90, 0.1)), cellOf(2, middle), cellOf(3, nil))
		v := look(o)
		return newClassicPass(newClassic(t, knobs{}), v, &v.spaces[0], &Plan{}), &v.spaces[0].lines[0]
	}
	p, root := build(row(-95, 0, 10, 10, 0.02))
	inner := root.left
	if b := p.edgeOf(inner, bsp.AxisX, true); math.Abs(b.depth[0]-95.1) > 0.01 || [4]float64(b.depth[1:]) != [4]float64{60, 30, 20, 10} {
		t.Errorf("high edge: %v", b)
	}
	if b := p.edgeOf(inner, bsp.AxisX, false); b.depth[0] > -100 {
		t.Errorf("low edge is not that of the outer cell: %v", b)
	}
	p, _ = build(nil)
	if b := p.edgeOf(inner, bsp.AxisX, true); b.depth != [levels]float64{100, 100, 100, 100, 100} || b.load[0] != 0 {
		t.Errorf("outer cell without reals: %v, want all at its far line for nothing", b)
	}
	// A real that is on its way out, beyond the inner line, does not take the outer line past that.
	p, _ = build([]load.Sample{{X: -130, Load: 5e6}})
	if b := p.edgeOf(inner, bsp.AxisX, true); b.depth[0] != 100 {
		t.Errorf("real beyond the inner line: %v", b)
	}
}

// TestMergeTwoBranches is EntityBoundLevels::mergeTwoBranches: two parts side by side along the
// edge.
func TestMergeTwoBranches(t *testing.T) {
	cfg := knobs{}.border() // levels 20, 10, 5, 2.5, 1.25
	empty := emptyEdge(1)
	unknown := unknownEdge(1)
	full := bounds(false, 50, 22, 40, 11, 30, 6, 20, 3, 10, 1.5)
	tests := []struct {
		name string
		a, b edgeBounds
		want edgeBounds
	}{
		// At 10 up to 1.5 + 1.5, at 20 3 + 3, and so on: twice the load at the same depth, a level
		// earlier.
		{"twice the same", full, full, bounds(false, 50, 44, 40, 22, 30, 12, 20, 6, 10, 3)},
		{"one empty", full, empty, full},
		{"both empty", empty, empty, empty},
		{"one unknown", full, unknown, unknown},
		// 10: 1.5 + 1.5, which the other reports for 15. 15: 3 + 1.5. 20: 3 + 3. 30: 6 + 11. 35: 11
		// + 11.
		{
			"other depths", full, bounds(false, 60, 22, 35, 11, 25, 3, 20, 3, 15, 1.5),
			bounds(false, 35, 22, 30, 17, 20, 6, 15, 4.5, 10, 3),
		},
		// The second has one real of 1 at 5, and no other: everywhere 1 more. Before 5 it may be
		// there.
		{
			"one real at the edge", full, bounds(true, 5, 1),
			bounds(false, 50, 23, 40, 12, 30, 7, 20, 4, 5, 2.5),
		},
		// Past 20 there is more in the second than it tells.
		{
			"one not known as deep", full, bounds(false, 20, 25, 15, 12, 10, 6, 9, 3, 8, 1.5),
			bounds(false, 20, 28, 15, 15, 10, 7.5, 9, 4.5, 8, 3),
		},
		{
			"heavy reals on both sides", bounds(false, 9, 90, 7, 70, 5, 50, 3, 30, 1, 10), bounds(true, 2, 500),
			bounds(false, 7, 570, 5, 550, 3, 530, 2, 530, 1, 510),
		},
		{"both whole", bounds(true, 30, 2), bounds(true, 20, 3), bounds(true, 30, 5, 20, 5)},
		// Together they pass the largest level at 40, and there are 30 at 60.
		{
			"whole, but not together", bounds(true, 60, 15, 40, 11, 30, 6, 20, 3, 10, 1.5), bounds(true, 50, 15, 40, 11, 30, 6, 20, 3, 10, 1.5),
			bounds(false, 50, 30, 40, 22, 30, 12, 20, 6, 10, 3),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, m := range []edgeBounds{mergeEdges(&tt.a, &tt.b, &cfg), mergeEdges(&tt.b, &tt.a, &cfg)} {
				if tt.name == "one unknown" {
					m.depth = tt.want.depth // never used
				}
				if m != tt.want {
					t.Errorf("got\n%v, want\n%v", m, tt.want)
				}
			}
		})
	}
}

// TestMergedBoundsCountEveryReal compares what merged bounds of random crowds say with the crowds.
func TestMergedBoundsCountEveryReal(t *testing.T) {
	const tree = "version 1.1 \n x 0 \n z 0 \n z -300 \n cell 1.1 - 0 created \n cell 1.2 - 0 created \n x -200 \n cell 1.3 - 0 created \n cell 1.4 - 0 created \n cell 1.5 - 0 created"
	rng := rand.New(rand.NewPCG(1, 1))
	for round := range 300 {
		o := observed(t, tree, cellOf(1, nil), cellOf(2, nil), cellOf(3, nil), cellOf(4, nil), cellOf(5, nil))
		var all []load.Sample
		reals := make([][]load.Sample, 6)
		for range rng.IntN(60) {
			s := load.Sample{X: -400 * rng.Float32(), Z: 600*rng.Float32() - 450, Load: rng.Int64N(4e6)}
			n := o.Spaces[0].Tree.At(float64(s.X), float64(s.Z)).Cell.N
			all, reals[n] = append(all, s), append(reals[n], s)
		}
		for i := range o.Spaces[0].Cells {
			o.Spaces[0].Cells[i] = cellOf(uint32(i+1), reals[i+1])
		}
		v := look(o)
		p := newClassicPass(newClassic(t, knobs{}), v, &v.spaces[0], &Plan{})
		root := &v.spaces[0].lines[0]
		b := p.edgeOf(root.left, root.axis, true)
		lo, _, _ := o.Spaces[0].Tree.LineLimits(root.id)
		for k := range levels {
			at, sum := max(-b.depth[k], lo), int64(0)
			for _, s := range all {
				if float64(s.X) >= at {
					sum += s.Load
				}
			}
			if float64(sum) > b.load[k] {
				t.Fatalf("round %d, level %d: %d lies beyond %v, told as %v\n%v", round, k, sum, at, b.load[k], b)
			}
		}
	}
}

// TestLevelNotReachedHasAllReals: past the deepest bound lies nothing if the largest level was not
// reached, else no one knows what.
func TestLevelNotReachedHasAllReals(t *testing.T) {
	for cores, want := range map[float64]float64{0.019: 19e6, 0.5: math.Inf(1)} {
		c := cellOf(1, row(0, 0, 1, 1000, cores))
		b := leafEdge(&leafView{leaf: &bsp.Leaf{}, cell: &c}, bsp.AxisX, false, &newClassic(t, knobs{}).cfg.Border)
		if got := b.beyond(1e6); math.Abs(got-want) > 1 && got != want {
			t.Errorf("%v cores: up to %v beyond everything, want %v", cores, got, want)
		}
	}
}

func TestDisorderedEdgesAreReadAsTheWorst(t *testing.T) {
	x := leafView{leaf: &bsp.Leaf{}, cell: &Cell{Reals: 1}}
	x.cell.Edges[0][0] = [levels]load.Bound{{At: 5, Load: 1}, {At: 50, Load: 9}, {At: 1, Load: 30}, {At: 20, Load: 4}, {At: 10, Load: 2}}
	b := leafEdge(&x, bsp.AxisX, false, &newClassic(t, knobs{}).cfg.Border)
	if b.depth != [levels]float64{50, 50, 20, 20, 10} || b.load != [levels]float64{30, 30, 30, 4, 2} {
		t.Errorf("got %v", b)
	}
}

// TestBoundsLieDeeperByTheBand: cells keep who is within the band, so a line passes a bound by
// that. A retiring cell keeps no one.
func TestBoundsLieDeeperByTheBand(t *testing.T) {
	c := Cell{Reals: 1}
	for k := range levels {
		c.Edges[0][0][k], c.Edges[0][1][k] = load.Bound{At: 50, Load: 1}, load.Bound{At: 50, Load: 1}
	}
	x := leafView{leaf: &bsp.Leaf{}, cell: &c, rect: bsp.Rect{MaxX: 1000, MaxZ: 1000}}
	cfg := &newClassic(t, knobs{Band: 10}).cfg.Border
	place := func(high bool) float64 {
		b := leafEdge(&x, bsp.AxisX, high, cfg)
		return b.forDifference(2, 0)
	}
	if low, high := place(false), place(true); low != 60 || high != 40 {
		t.Errorf("lines at %v and %v, want 60 and 40", low, high)
	}
	x.leaf.Retiring = true
	if low, high := place(false), place(true); low != 50 || high != 50 {
		t.Errorf("lines at %v and %v of a retiring cell, want 50", low, high)
	}
}
