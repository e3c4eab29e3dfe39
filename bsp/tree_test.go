package bsp

import (
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func cell(n uint32) CellID { return CellID{Term: 1, N: n} }

func leaf(n uint32) Leaf {
	return Leaf{
		Cell: cell(n), App: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 7000),
		Salt: n * 3, Created: n%2 == 0, Load: int64(n) * 1e6,
	}
}

func mustParse(t testing.TB, text string) *Tree {
	t.Helper()
	tree, err := ParseText(text)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

const four = `version 3.9
x 100
  z 0
    cell 1.1 10.0.0.1:7000 5 created load=12
    cell 1.2 [::1]:7001 6
  z -50
    cell 1.3 - 0
    cell 2.1 10.0.0.4:7000 7 created
`

func TestTextRoundTrip(t *testing.T) {
	tree := mustParse(t, four)
	if d := cmp.Diff(four, tree.String()); d != "" {
		t.Error(d)
	}
	if v := tree.Version(); v != (Version{3, 9}) {
		t.Errorf("version %v", v)
	}
}

func TestPointsOnLinesBelongToTheHigherSide(t *testing.T) {
	tree := mustParse(t, four)
	inf := math.Inf(1)
	tests := []struct {
		x, z float64
		want CellID
	}{
		{0, -1, cell(1)}, {0, 0, cell(2)}, {99.999, 5, cell(2)}, {100, 0, CellID{2, 1}}, {100, -50, CellID{2, 1}},
		{100, -50.001, cell(3)}, {-1e30, -1e30, cell(1)}, {1e30, 1e30, CellID{2, 1}},
		{inf, inf, CellID{2, 1}}, {-inf, -inf, cell(1)}, {math.NaN(), math.NaN(), CellID{2, 1}},
	}
	for _, tt := range tests {
		if got := tree.At(tt.x, tt.z).Cell; got != tt.want {
			t.Errorf("At(%v, %v) = %v, want %v", tt.x, tt.z, got, tt.want)
		}
	}
}

func TestOverlapping(t *testing.T) {
	tree := mustParse(t, four)
	tests := []struct {
		r    Rect
		want []CellID
	}{
		{Everything(), []CellID{cell(1), cell(2), cell(3), {2, 1}}},
		{Rect{0, 0, 100, 10}, []CellID{cell(2)}},
		{Rect{0, -1, 100.5, 0}, []CellID{cell(1), {2, 1}}},
		{Around(100, 0, 1), []CellID{cell(1), cell(2), {2, 1}}},
		{Rect{5, 5, 5, 5}, nil},
		{Rect{math.NaN(), 0, 1, 1}, nil},
	}
	for _, tt := range tests {
		var got []CellID
		for r, l := range tree.Overlapping(tt.r) {
			got = append(got, l.Cell)
			if _, want, _ := tree.Leaf(l.Cell); r != want {
				t.Errorf("%v: rectangle %v, want %v", l.Cell, r, want)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("Overlapping(%v) = %v, want %v", tt.r, got, tt.want)
		}
	}
	for range tree.Overlapping(Everything()) {
		break // an early end must be obeyed
	}
}

func TestRefusedChangesLeaveTheTree(t *testing.T) {
	tree := mustParse(t, four)
	node := func(i int) NodeID { return slices.Collect(tree.Nodes())[i].ID }
	tests := []struct {
		name string
		do   func() error
		want error
	}{
		{"split of an unknown cell", func() error { return tree.Split(cell(9), AxisX, 0, leaf(5), true) }, ErrNoCell},
		{"split for a cell that is there", func() error { return tree.Split(cell(1), AxisX, 0, leaf(2), true) }, ErrCellTaken},
		{"split for no cell", func() error { return tree.Split(cell(1), AxisX, 0, Leaf{}, true) }, ErrNoCell},
		{"split at NaN", func() error { return tree.Split(cell(1), AxisX, math.NaN(), leaf(5), true) }, ErrLine},
		{"split at infinity", func() error { return tree.Split(cell(1), AxisX, math.Inf(-1), leaf(5), true) }, ErrLine},
		{"split too far out", func() error { return tree.Split(cell(1), AxisX, -2*MaxCoord, leaf(5), true) }, ErrLine},
		{"split outside", func() error { return tree.Split(cell(1), AxisX, 101, leaf(5), true) }, ErrLine},
		{"split too near", func() error { return tree.Split(cell(1), AxisX, 100-MinSize+0.01, leaf(5), true) }, ErrLine},
		{"split on no axis", func() error { return tree.Split(cell(1), 2, 0, leaf(5), true) }, ErrLine},
		{"removal of an unknown cell", func() error { return tree.Remove(cell(9)) }, ErrNoCell},
		{"move of no line", func() error { return tree.MoveLine(0, 5) }, ErrNoNode},
		{"move of an unknown line", func() error { return tree.MoveLine(77, 5) }, ErrNoNode},
		{"move to NaN", func() error { return tree.MoveLine(node(0), math.NaN()) }, ErrLine},
		{"move to infinity", func() error { return tree.MoveLine(node(0), math.Inf(1)) }, ErrLine},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.do(); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if d := cmp.Diff(four, tree.String()); d != "" {
				t.Errorf("tree changed:\n%s", d)
			}
		})
	}
}

func TestLineMovesUntilItsNeighboursAreNarrow(t *testing.T) {
	tree := mustParse(t, "x 0 \n x -100 \n cell 1.1 \n z 0 \n cell 1.2 \n x -60 \n cell 1.3 \n cell 1.4 \n cell 1.5")
	root := slices.Collect(tree.Nodes())[0].ID
	lo, hi, ok := tree.LineLimits(root)
	if !ok || lo != -60+MinSize || hi != MaxCoord {
		t.Fatalf("limits %v to %v, want %v to %v", lo, hi, -60+MinSize, MaxCoord)
	}
	for _, to := range []float64{lo, hi, 17} {
		if err := tree.MoveLine(root, to); err != nil {
			t.Errorf("to %v: %v", to, err)
		}
	}
	for _, to := range []float64{math.Nextafter(lo, -1e9), math.Nextafter(hi, 1e10)} {
		if err := tree.MoveLine(root, to); !errors.Is(err, ErrLine) {
			t.Errorf("to %v: error %v", to, err)
		}
	}
	if _, r, _ := tree.Leaf(cell(4)); r.MaxX != 17 || r.MinX != -60 {
		t.Errorf("rectangle of a nested leaf after the move: %v", r)
	}
}

func TestRemovedLineIsNotMistakenForALaterOne(t *testing.T) {
	tree := New(Version{}, leaf(1))
	if err := tree.Remove(cell(1)); !errors.Is(err, ErrLastLeaf) {
		t.Errorf("removing the last leaf: %v", err)
	}
	split := func(n uint32) NodeID {
		if err := tree.Split(cell(1), AxisX, 0, leaf(n), true); err != nil {
			t.Fatal(err)
		}
		p, _ := tree.Parent(cell(n))
		return p.ID
	}
	first := split(2)
	if err := tree.Remove(cell(2)); err != nil {
		t.Fatal(err)
	}
	second := split(3)
	if first == second || tree.MoveLine(first, 5) == nil {
		t.Errorf("line ids %v and %v: the first still works", first, second)
	}
}

func TestDepthAndLeavesAreLimited(t *testing.T) {
	tree := New(Version{}, leaf(1))
	n := uint32(2)
	for ; ; n++ {
		if err := tree.Split(cell(1), AxisX, -float64(n)*100, leaf(n), true); err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			break
		}
	}
	if int(n-2) != MaxDepth {
		t.Errorf("%d lines above a leaf, want %d", n-2, MaxDepth)
	}
	got, err := Parse(tree.Append(nil))
	if err != nil || got.String() != tree.String() {
		t.Errorf("deepest tree does not survive the wire: %v", err)
	}
	count := 0
	for range tree.Leaves() {
		count++
	}
	if count != tree.Len() {
		t.Errorf("walked %d of %d leaves", count, tree.Len())
	}
}

// flat is the naive twin: a list of rectangles, searched from end to end.
type flat []flatLeaf

type flatLeaf struct {
	r Rect
	l Leaf
}

func (f flat) at(x, z float64) (found []CellID) {
	for _, e := range f {
		if e.r.Contains(x, z) {
			found = append(found, e.l.Cell)
		}
	}
	return found
}

func (f flat) index(c CellID) int {
	return slices.IndexFunc(f, func(e flatLeaf) bool { return e.l.Cell == c })
}

// edges gives the twin's edge coordinates on an axis.
func edges(r *Rect, a Axis) (lo, hi *float64) {
	if a == AxisX {
		return &r.MinX, &r.MaxX
	}
	return &r.MinZ, &r.MaxZ
}

func TestTwin(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tree, twin := New(Version{}, leaf(1)), flat{{Everything(), leaf(1)}}
		next := uint32(2)
		for range 150 {
			switch rng.IntN(5) {
			case 0, 1:
				i := rng.IntN(len(twin))
				axis, at, higher := Axis(rng.IntN(2)), rng.NormFloat64()*200, rng.IntN(2) == 0
				if tree.Split(twin[i].l.Cell, axis, at, leaf(next), higher) == nil {
					a, b := twin[i], flatLeaf{twin[i].r, leaf(next)}
					_, aHi := edges(&a.r, axis)
					bLo, bHi := edges(&b.r, axis)
					aLo, _ := edges(&a.r, axis)
					if higher {
						*aHi, *bLo = at, at
					} else {
						*bHi, *aLo = at, at
					}
					twin[i] = a
					twin = append(twin, b)
					next++
				}
			case 2:
				lines := slices.Collect(tree.Nodes())
				if len(lines) == 0 {
					continue
				}
				n := lines[rng.IntN(len(lines))]
				lo, hi, _ := tree.LineLimits(n.ID)
				to := n.Line + rng.NormFloat64()*50
				err := tree.MoveLine(n.ID, to)
				if (err == nil) != (lo <= to && to <= hi) {
					t.Fatalf("seed %d: move to %v within %v..%v: %v", seed, to, lo, hi, err)
				}
				if err != nil {
					continue
				}
				for _, side := range []struct {
					child Child
					upper bool
				}{{n.Left, true}, {n.Right, false}} {
					for _, l := range tree.Under(side.child) {
						lo, hi := edges(&twin[twin.index(l.Cell)].r, n.Axis)
						if side.upper && *hi == n.Line {
							*hi = to
						} else if !side.upper && *lo == n.Line {
							*lo = to
						}
					}
				}
			case 3:
				if rng.IntN(3) > 0 || tree.Len() == 1 {
					continue
				}
				i := rng.IntN(len(twin))
				n, _ := tree.Parent(twin[i].l.Cell)
				other := n.Left
				if other.Leaf != nil && other.Leaf.Cell == twin[i].l.Cell {
					other = n.Right
				}
				gone := twin[i].r
				var keep []CellID
				for _, l := range tree.Under(other) {
					keep = append(keep, l.Cell)
				}
				if err := tree.Remove(twin[i].l.Cell); err != nil {
					t.Fatal(err)
				}
				for _, c := range keep {
					lo, hi := edges(&twin[twin.index(c)].r, n.Axis)
					glo, ghi := edges(&gone, n.Axis)
					if *hi == n.Line && *glo == n.Line {
						*hi = *ghi
					} else if *lo == n.Line && *ghi == n.Line {
						*lo = *glo
					}
				}
				twin = slices.Delete(twin, i, i+1)
			case 4:
				if rng.IntN(2) == 0 {
					tree = tree.Clone()
					continue
				}
				got, err := Parse(tree.Append(nil))
				if err != nil {
					t.Fatalf("seed %d: %v\n%v", seed, err, tree)
				}
				tree = got
			}
			check(t, seed, rng, tree, twin)
		}
	}
}

func check(t *testing.T, seed uint64, rng *rand.Rand, tree *Tree, twin flat) {
	t.Helper()
	if tree.Len() != len(twin) {
		t.Fatalf("seed %d: %d leaves, twin has %d", seed, tree.Len(), len(twin))
	}
	for _, e := range twin {
		l, r, ok := tree.Leaf(e.l.Cell)
		if !ok || r != e.r || *l != e.l {
			t.Fatalf("seed %d: leaf %+v %v, want %+v %v\n%v", seed, l, r, e.l, e.r, tree)
		}
		if r.MaxX-r.MinX < MinSize || r.MaxZ-r.MinZ < MinSize {
			t.Fatalf("seed %d: %v is narrow", seed, r)
		}
	}
	for range 20 {
		x, z := rng.NormFloat64()*200, rng.NormFloat64()*200
		if rng.IntN(3) == 0 && tree.Len() > 1 { // exactly on a line
			for n := range tree.Nodes() {
				if n.Axis == AxisX {
					x = n.Line
				} else {
					z = n.Line
				}
			}
		}
		if found := twin.at(x, z); len(found) != 1 || found[0] != tree.At(x, z).Cell {
			t.Fatalf("seed %d: (%v, %v) is in %v, tree says %v\n%v", seed, x, z, found, tree.At(x, z).Cell, tree)
		}
		area := Rect{x, z, x + rng.Float64()*100, z + rng.Float64()*100}
		var got, want []CellID
		for _, l := range tree.Overlapping(area) {
			got = append(got, l.Cell)
		}
		for _, e := range twin {
			if e.r.Overlaps(area) {
				want = append(want, e.l.Cell)
			}
		}
		slices.SortFunc(got, CellID.Compare)
		slices.SortFunc(want, CellID.Compare)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v overlaps %v, want %v", seed, area, got, want)
		}
	}
}

func TestCloneSharesNothing(t *testing.T) {
	tree := mustParse(t, four)
	c := tree.Clone()
	root := slices.Collect(c.Nodes())[0].ID
	c.At(0, -1).Load = 99
	if c.MoveLine(root, 150) != nil || c.Split(cell(1), AxisX, 0, leaf(7), true) != nil || c.Remove(cell(3)) != nil {
		t.Fatal("change of the clone refused")
	}
	c.SetVersion(Version{4, 1})
	if d := cmp.Diff(four, tree.String()); d != "" {
		t.Error(d)
	}
}

func TestQueriesDoNotAllocate(t *testing.T) {
	tree := mustParse(t, four)
	sum := 0
	if n := testing.AllocsPerRun(100, func() {
		for _, l := range tree.Overlapping(Around(100, 0, 60)) {
			sum += int(l.Salt)
		}
		sum += int(tree.At(3, 4).Salt)
		l, _, _ := tree.Leaf(cell(2))
		sum += int(l.Salt)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func grid(b testing.TB, n int) *Tree {
	rng := rand.New(rand.NewPCG(1, 1))
	tree := New(Version{}, leaf(1))
	for next := uint32(2); tree.Len() < n; next++ {
		x, z := rng.Float64()*1e4, rng.Float64()*1e4
		at := []float64{x, z}[next%2]
		if err := tree.Split(tree.At(x, z).Cell, Axis(next%2), at, leaf(next), true); err != nil && !errors.Is(err, ErrLine) {
			b.Fatal(err)
		}
	}
	return tree
}

func BenchmarkAt64Cells(b *testing.B) {
	tree, x := grid(b, 64), 0.0
	for b.Loop() {
		x = math.Mod(x+777, 1e4)
		tree.At(x, 1e4-x)
	}
}

func BenchmarkOverlapping64Cells(b *testing.B) {
	tree, x := grid(b, 64), 0.0
	for b.Loop() {
		x = math.Mod(x+777, 1e4)
		for range tree.Overlapping(Around(x, 1e4-x, 500)) {
		}
	}
}

func BenchmarkParse64Cells(b *testing.B) {
	wire := grid(b, 64).Append(nil)
	for b.Loop() {
		if _, err := Parse(wire); err != nil {
			b.Fatal(err)
		}
	}
}
