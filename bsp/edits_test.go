package bsp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// editor makes random changes to a tree, as a manager would, of every kind there is.
type editor struct {
	rng  *rand.Rand
	tree *Tree
	next uint32 // cell
}

func newEditor(seed uint64) *editor {
	return &editor{rng: rand.New(rand.NewPCG(seed, 7)), tree: New(Version{Term: 1}, leaf(1)), next: 2}
}

func (e *editor) someLeaf() *Leaf {
	return e.tree.nodes[e.tree.index[e.rng.IntN(e.tree.Len())].slot].leaf
}

// edit makes one change, or none where the tree refuses it.
func (e *editor) edit() {
	l := e.someLeaf()
	switch e.rng.IntN(12) {
	case 0, 1, 2:
		if e.tree.Split(l.Cell, Axis(e.rng.IntN(2)), e.rng.NormFloat64()*200, leaf(e.next), e.rng.IntN(2) == 0) == nil {
			e.next++
		}
	case 3, 4:
		e.moveLine()
	case 5:
		_ = e.tree.Remove(l.Cell)
	case 6:
		_ = e.tree.Retire(l.Cell)
	case 7:
		e.sweep(l)
	case 8:
		_ = e.tree.Unretire(l.Cell)
	case 9:
		l.Created, l.Overloaded, l.Loading = e.rng.IntN(2) == 0, e.rng.IntN(2) == 0, e.rng.IntN(4) == 0
	case 10:
		l.Load = e.rng.Int64N(3e9)
	case 11:
		if e.rng.IntN(3) == 0 && e.tree.Replace(l.Cell, leaf(e.next)) == nil {
			e.next++
		}
	}
}

func (e *editor) moveLine() {
	lines := slices.Collect(e.tree.Nodes())
	if len(lines) == 0 {
		return
	}
	n := lines[e.rng.IntN(len(lines))]
	lo, hi, _ := e.tree.LineLimits(n.ID)
	_ = e.tree.MoveLine(n.ID, min(max(n.Line+e.rng.NormFloat64()*50, lo), hi))
}

// sweep moves the line over a retiring leaf, as far as it goes.
func (e *editor) sweep(l *Leaf) {
	n, ok := e.tree.Parent(l.Cell)
	if !ok || !l.Retiring {
		return
	}
	lo, hi, _ := e.tree.LineLimits(n.ID)
	to := lo
	if n.Right.Leaf == l {
		to = hi
	}
	_ = e.tree.MoveLine(n.ID, to)
}

// checkInvariants looks at a tree from outside, without the code that keeps the invariants.
func checkInvariants(t testing.TB, tree *Tree) {
	t.Helper()
	count := 0
	for r, l := range tree.Leaves() {
		count++
		if got, rect, ok := tree.Leaf(l.Cell); !ok || got != l || rect != r {
			t.Fatalf("cell %v is not found as it is walked\n%v", l.Cell, tree)
		}
		if !l.Retiring && (r.MaxX-r.MinX < MinSize || r.MaxZ-r.MinZ < MinSize) {
			t.Fatalf("%v is narrow: %v\n%v", l.Cell, r, tree)
		}
		if l.Retiring {
			n, ok := tree.Parent(l.Cell)
			if !ok || (n.Left.Leaf != nil && n.Right.Leaf != nil && n.Left.Leaf.Retiring && n.Right.Leaf.Retiring) {
				t.Fatalf("%v retires without an heir\n%v", l.Cell, tree)
			}
		}
	}
	if count != tree.Len() {
		t.Fatalf("walked %d leaves of %d", count, tree.Len())
	}
	for n := range tree.Nodes() {
		if lo, hi, ok := tree.LineLimits(n.ID); !ok || !(lo <= n.Line && n.Line <= hi) || math.Abs(n.Line) > MaxCoord {
			t.Fatalf("line %v = %v stands outside its limits %v to %v\n%v", n.Axis, n.Line, lo, hi, tree)
		}
	}
}

// checkTiling asks every point of a grid, including points on lines, the slow way.
func checkTiling(t testing.TB, tree *Tree) {
	t.Helper()
	xs, zs := []float64{-1e12, 1e12}, []float64{-1e12, 1e12}
	for v := -500.0; v <= 500; v += 50 {
		xs, zs = append(xs, v), append(zs, v)
	}
	for n := range tree.Nodes() {
		if n.Axis == AxisX {
			xs = append(xs, n.Line, math.Nextafter(n.Line, -1e12))
		} else {
			zs = append(zs, n.Line, math.Nextafter(n.Line, -1e12))
		}
	}
	type tile struct {
		r Rect
		l *Leaf
	}
	var tiles []tile
	for r, l := range tree.Leaves() {
		tiles = append(tiles, tile{r, l})
	}
	for _, x := range xs {
		for _, z := range zs {
			owner, owners := (*Leaf)(nil), 0
			for _, e := range tiles {
				if e.r.Contains(x, z) {
					owner, owners = e.l, owners+1
				}
			}
			if owners != 1 || tree.At(x, z) != owner {
				t.Fatalf("(%v, %v) has %d owners, At says %v\n%v", x, z, owners, tree.At(x, z).Cell, tree)
			}
			area := Rect{MinX: x, MinZ: z, MaxX: x + 60, MaxZ: z + 60}
			if area.Empty() {
				continue // so far out that 60 m make no difference
			}
			i := 0
			for r, l := range tree.Overlapping(area) {
				for ; i < len(tiles) && !tiles[i].r.Overlaps(area); i++ {
				}
				if i == len(tiles) || tiles[i].l != l || tiles[i].r != r {
					t.Fatalf("Overlapping(%v) gives %v out of order\n%v", area, l.Cell, tree)
				}
				i++
			}
			for ; i < len(tiles); i++ {
				if tiles[i].r.Overlaps(area) {
					t.Fatalf("Overlapping(%v) misses %v\n%v", area, tiles[i].l.Cell, tree)
				}
			}
		}
	}
}

func TestLeavesTileThePlaneAfterAnyEdits(t *testing.T) {
	swept := 0
	for seed := range uint64(20) {
		e := newEditor(seed)
		for i := range 300 {
			e.edit()
			checkInvariants(t, e.tree)
			if i%50 == 49 {
				checkTiling(t, e.tree)
			}
			for r := range e.tree.Leaves() {
				if r.Empty() {
					swept++
				}
			}
			wire, err := Parse(e.tree.Append(nil))
			if err != nil || wire.String() != e.tree.String() {
				t.Fatalf("seed %d: does not survive the wire: %v\n%v", seed, err, e.tree)
			}
			text, err := ParseText(e.tree.String())
			if err != nil || text.String() != e.tree.String() {
				t.Fatalf("seed %d: does not survive as text: %v\n%v", seed, err, e.tree)
			}
		}
	}
	if swept == 0 {
		t.Error("no leaf was ever swept to nothing: the test shows less than it says")
	}
}
