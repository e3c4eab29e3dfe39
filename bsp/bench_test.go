package bsp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

const benchWorld = 1e4 // metres

// newGrid makes a tree with a number of leaves of about the same size, with loads in steps.
func newGrid(t testing.TB, leaves int) *Tree {
	t.Helper()
	tree := New(Version{}, leaf(1))
	bounds := Rect{MinX: -benchWorld, MinZ: -benchWorld, MaxX: benchWorld, MaxZ: benchWorld}
	for n := uint32(2); tree.Len() < leaves; n++ {
		c, axis, ok := tree.Place()
		if !ok {
			t.Fatal("no place")
		}
		_, r, _ := tree.Leaf(c)
		lo, hi, _ := r.SplitLimits(axis)
		from, to := r.Intersect(bounds).Span(axis)
		l := leaf(n)
		l.Load = int64(n%90) * LoadStep
		if err := tree.Split(c, axis, min(max(from/2+to/2, lo), hi), l, true); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// walkPoints is a crowd at a walk: each point is a step away from the last, as when one goes
// through the entities of a cell.
func walkPoints(rng *rand.Rand, n int) [][2]float64 {
	points := make([][2]float64, n)
	x, z, angle := 0.0, 0.0, 0.0
	for i := range points {
		angle += rng.NormFloat64() * 0.3
		x = math.Mod(x+5*math.Cos(angle), benchWorld)
		z = math.Mod(z+5*math.Sin(angle), benchWorld)
		points[i] = [2]float64{x, z}
	}
	return points
}

func randomPoints(rng *rand.Rand, n int) [][2]float64 {
	points := make([][2]float64, n)
	for i := range points {
		points[i] = [2]float64{(rng.Float64()*2 - 1) * benchWorld, (rng.Float64()*2 - 1) * benchWorld}
	}
	return points
}

func BenchmarkAt(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, leaves := range []int{80, 1000} {
		tree := newGrid(b, leaves)
		for _, kind := range []struct {
			name   string
			points [][2]float64
		}{{"random", randomPoints(rng, 1<<14)}, {"coherent", walkPoints(rng, 1<<14)}} {
			b.Run(fmt.Sprintf("%d/%s", leaves, kind.name), func(b *testing.B) {
				i, sum := 0, uint32(0)
				for b.Loop() {
					p := &kind.points[i&(1<<14-1)]
					sum += tree.At(p[0], p[1]).Salt
					i++
				}
				if sum == 1 {
					b.Fatal("impossible")
				}
			})
		}
	}
}

func BenchmarkOverlapping(b *testing.B) {
	points := randomPoints(rand.New(rand.NewPCG(1, 1)), 1<<12)
	for _, leaves := range []int{80, 1000} {
		tree := newGrid(b, leaves)
		b.Run(fmt.Sprint(leaves), func(b *testing.B) {
			b.ReportAllocs()
			i, found := 0, 0
			for b.Loop() {
				p := &points[i&(1<<12-1)]
				for range tree.Overlapping(Around(p[0], p[1], 500)) {
					found++
				}
				i++
			}
			b.ReportMetric(float64(found)/float64(i), "leaves/op")
		})
	}
}

func TestQueriesOfAThousandLeavesDoNotAllocate(t *testing.T) {
	tree := newGrid(t, 1000)
	some := tree.At(10, 10).Cell
	retire(t, tree, some.N)
	sweepAll(t, tree, some.N)
	x, found := 0.0, 0
	if n := testing.AllocsPerRun(200, func() {
		x = math.Mod(x+777, benchWorld)
		for r, l := range tree.Overlapping(Around(x, -x, 1500)) {
			if l.Cell == some && r.Empty() {
				t.Error("a leaf without a point")
			}
			found++
		}
		for range tree.Leaves() {
			found++
		}
		found += int(tree.At(x, x).Load)
		l, _, _ := tree.OfApp(leaf(77).App, leaf(77).Salt)
		found += int(l.Salt)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

// quietSecond is a second in which little changes: every load fluctuates, a dozen really change,
// and ten lines move a little.
func quietSecond(rng *rand.Rand, tree *Tree, levels map[CellID]int64) {
	for _, l := range tree.Leaves() {
		l.Load = max(0, levels[l.Cell]+rng.Int64N(5*LoadStep)-5*LoadStep/2)
	}
	for range 12 {
		c := tree.index[rng.IntN(tree.Len())].cell
		levels[c] = rng.Int64N(1e9)
	}
	e := editor{rng: rng, tree: tree}
	for range 10 {
		e.moveLine()
	}
}

func TestAThousandCellsStayBelowAKilobyteASecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	tree, p := newGrid(t, 1000), NewPublisher(1, 8)
	levels := make(map[CellID]int64)
	for _, l := range tree.Leaves() {
		levels[l.Cell] = l.Load
	}
	told, _, err := p.Publish(tree)
	if err != nil {
		t.Fatal(err)
	}
	sum, most := 0, 0
	const seconds = 60
	for range seconds {
		quietSecond(rng, tree, levels)
		next, _, err := p.Publish(tree)
		if err != nil {
			t.Fatal(err)
		}
		n := len(p.Message(told.Version()))
		sum, most, told = sum+n, max(most, n), next
	}
	t.Logf("%d bytes a second, %d at most; whole tree %d", sum/seconds, most, len(p.full))
	if most > 1000 {
		t.Errorf("%d bytes in a second", most)
	}
}

func BenchmarkThousandCells(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 2))
	base := newGrid(b, 1000)
	base.SetVersion(Version{1, 1})
	next := base.Clone()
	quietSecond(rng, next, map[CellID]int64{})
	next.SetVersion(Version{1, 2})
	next.quantise(base)
	full, delta := next.Append(nil), next.AppendDelta(nil, base)
	run := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("Parse", func() error { _, err := Parse(full); return err })
	run("Apply", func() error { _, err := base.Apply(delta); return err })
	run("AppendDelta", func() error { next.AppendDelta(nil, base); return nil })
	run("Publish", func() error {
		p := NewPublisher(2, 8)
		p.Adopt(base)
		_, _, err := p.Publish(next)
		return err
	})
}
