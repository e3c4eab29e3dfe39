package navigation

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

func newMesh(t testing.TB, tiles ...Tile) *Mesh {
	t.Helper()
	m, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tile := range tiles {
		if _, err := m.Add(tile); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// rect is a tile of one rectangle at a height.
func rect(minX, minZ, maxX, maxZ, y float32) Tile {
	return Tile{
		Corners:  []property.Vector3{{X: minX, Y: y, Z: minZ}, {X: maxX, Y: y, Z: minZ}, {X: maxX, Y: y, Z: maxZ}, {X: minX, Y: y, Z: maxZ}},
		Polygons: [][]uint32{{0, 1, 2, 3}},
	}
}

func at(x, y, z float32) property.Vector3 { return property.Vector3{X: x, Y: y, Z: z} }

func length(from property.Vector3, corners []property.Vector3) (sum float64) {
	for _, c := range corners {
		sum += float64(from.Distance(c))
		from = c
	}
	return sum
}

// A way round a wall turns at its ends, and nowhere else.
func TestRoundAWall(t *testing.T) {
	// A yard of 10 by 10 metres with a wall along x = 5 from z = 0 to z = 8: three rectangles.
	m := newMesh(t, rect(0, 0, 5, 8, 0), rect(5.5, 0, 10, 8, 0), rect(0, 8, 10, 10, 0))
	got, err := m.Path(nil, at(2, 0, 2), at(8, 0, 2))
	want := []property.Vector3{at(5, 0, 8), at(5.5, 0, 8), at(8, 0, 2)}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	// In a straight line, and to itself.
	if got, err := m.Path(nil, at(1, 0, 9), at(9, 0, 9)); err != nil || len(got) != 1 || got[0] != at(9, 0, 9) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.Path(nil, at(1, 0, 9), at(1, 0, 9)); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNoWay(t *testing.T) {
	m := newMesh(t, rect(0, 0, 5, 5, 0), rect(7, 0, 12, 5, 0))
	for _, c := range []struct {
		from, to property.Vector3
		want     error
	}{
		{at(1, 0, 1), at(8, 0, 1), ErrNoPath},
		{at(1, 0, 1), at(6, 0, 1), ErrOffMesh},
		{at(-1, 0, 1), at(1, 0, 1), ErrOffMesh},
		{at(1, 5, 1), at(2, 0, 1), ErrOffMesh}, // in the air
		{at(float32(math.NaN()), 0, 1), at(2, 0, 1), ErrOffMesh},
		{at(1, 0, 1), at(2, float32(math.Inf(1)), 1), ErrOffMesh},
	} {
		before := []property.Vector3{{X: 7}}
		if got, err := m.Path(before, c.from, c.to); !errors.Is(err, c.want) || len(got) != 1 {
			t.Errorf("%v to %v: %v, %v", c.from, c.to, got, err)
		}
	}
	long := make([]Tile, 0)
	var row Tile
	for i := range uint32(MaxVisited + 10) {
		row.Corners = append(row.Corners, at(float32(i), 0, 0), at(float32(i), 0, 1))
		if i > 0 {
			row.Polygons = append(row.Polygons, []uint32{2*i - 2, 2 * i, 2*i + 1, 2*i - 1})
		}
	}
	far := newMesh(t, append(long, row)...)
	if _, err := far.Path(nil, at(0.5, 0, 0.5), at(MaxVisited+5, 0, 0.5)); !errors.Is(err, ErrTooFar) {
		t.Errorf("%v", err)
	}
}

// Floors above one another are told apart by height, and joined by a ramp only.
func TestFloors(t *testing.T) {
	ramp := Tile{Corners: []property.Vector3{at(10, 0, 0), at(14, 0, 0), at(14, 4, 10), at(10, 4, 10)}, Polygons: [][]uint32{{0, 1, 2, 3}}}
	m := newMesh(t, rect(0, 0, 10, 10, 0), rect(0, 0, 10, 10, 4), rect(0, -5, 14, 0, 0), ramp, rect(0, 10, 14, 15, 4))
	got, err := m.Path(nil, at(5, 0, 5), at(5, 4, 5))
	if err != nil || length(at(5, 0, 5), got) < 15 {
		t.Fatalf("%v, %v", got, err)
	}
	for _, c := range got {
		if q := m.locate(pointOf(c)); q == nil || math.Abs(q.height(float64(c.X), float64(c.Z))-float64(c.Y)) > 0.01 {
			t.Errorf("a corner at %v is not on the ground", c)
		}
	}
	if got, err := m.Path(nil, at(5, 0.4, 5), at(6, -0.4, 5)); err != nil || got[len(got)-1] != at(6, 0, 5) {
		t.Errorf("%v, %v: it ends on the ground", got, err)
	}
}

// A way over a hill follows the ground.
func TestHill(t *testing.T) {
	hill := Tile{
		Corners:  []property.Vector3{at(0, 0, 0), at(5, 3, 0), at(10, 0, 0), at(0, 0, 4), at(5, 3, 4), at(10, 0, 4)},
		Polygons: [][]uint32{{0, 1, 4, 3}, {1, 2, 5, 4}},
	}
	got, err := newMesh(t, hill).Path(nil, at(1, 0.6, 1), at(9, 0.6, 3))
	if err != nil || len(got) != 2 || got[0] != at(5, 3, 2) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNearest(t *testing.T) {
	m := newMesh(t, rect(0, 0, 5, 5, 1))
	for _, c := range []struct {
		from, want property.Vector3
		within     float32
		ok         bool
	}{
		{at(2, 1.5, 2), at(2, 1, 2), 1, true},
		{at(7, 1, 2), at(5, 1, 2), 3, true},
		{at(7, 1, 2), at(0, 0, 0), 1, false},
		{at(-3, 1, -4), at(0, 1, 0), 5, true},
		{at(float32(math.NaN()), 1, 2), at(0, 0, 0), 100, false},
	} {
		if got, ok := m.Nearest(c.from, c.within); got != c.want || ok != c.ok {
			t.Errorf("%v within %v: %v, %v", c.from, c.within, got, ok)
		}
	}
}

func TestTileFaults(t *testing.T) {
	square := rect(0, 0, 1, 1, 0)
	for want, tile := range map[string]Tile{
		"has no polygons": {},
		"with 2 corners":  {Corners: square.Corners, Polygons: [][]uint32{{0, 1}}},
		"corner 9 of 4":   {Corners: square.Corners, Polygons: [][]uint32{{0, 1, 9}}},
		"has no area":     {Corners: square.Corners, Polygons: [][]uint32{{0, 1, 0}}},
		"not convex":      {Corners: []property.Vector3{at(0, 0, 0), at(4, 0, 0), at(1, 0, 1), at(0, 0, 4)}, Polygons: [][]uint32{{0, 1, 2, 3}}},
		"NaN":             {Corners: []property.Vector3{at(0, 0, 0), at(float32(math.NaN()), 0, 0), at(1, 0, 1)}, Polygons: [][]uint32{{0, 1, 2}}},
		"has 3 more":      {Corners: square.Corners, Polygons: make([][]uint32, most+3)},
	} {
		m := newMesh(t)
		if _, err := m.Add(tile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if len(m.tiles) != 0 || len(m.polys) != 0 {
			t.Errorf("%s: a tile with a fault was added", want)
		}
	}
	// A star turns left at each corner, and goes round twice.
	var star Tile
	for i := range 5 {
		a := float64(i) * 4 * math.Pi / 5
		star.Corners = append(star.Corners, at(float32(5*math.Cos(a)), 0, float32(5*math.Sin(a))))
	}
	star.Polygons = [][]uint32{{0, 1, 2, 3, 4}}
	if _, err := newMesh(t).Add(star); err == nil || !strings.Contains(err.Error(), "not convex") {
		t.Errorf("a star: %v", err)
	}
	if _, err := New(Config{Climb: -1}); err == nil {
		t.Error("a climb below 0 is taken")
	}
}

// maze is a field of squares of which some are walls.
type maze struct {
	n    int
	open []bool
}

func newMaze(chance *rand.Rand, n int) *maze {
	z := &maze{n: n, open: make([]bool, n*n)}
	for i := range z.open {
		z.open[i] = chance.IntN(100) < 70
	}
	return z
}

func (z *maze) is(x, y int) bool { return x >= 0 && y >= 0 && x < z.n && y < z.n && z.open[y*z.n+x] }

// tiles cuts the maze into tiles of some squares a side. In every other one the squares of a row are one
// polygon, so that edges of different lengths meet.
func (z *maze) tiles(side int) (list []Tile) {
	for y := 0; y < z.n; y += side {
		for x := 0; x < z.n; x += side {
			var t Tile
			rows := (x/side+y/side)%2 == 1
			for v := y; v < min(y+side, z.n); v++ {
				for u := x; u < min(x+side, z.n); u++ {
					if !z.is(u, v) {
						continue
					}
					end := u + 1
					for rows && end < min(x+side, z.n) && z.is(end, v) {
						end++
					}
					first := uint32(len(t.Corners))
					r := rect(float32(u), float32(v), float32(end), float32(v+1), 0)
					t.Corners = append(t.Corners, r.Corners...)
					t.Polygons = append(t.Polygons, []uint32{first, first + 1, first + 2, first + 3})
					u = end - 1
				}
			}
			if len(t.Polygons) > 0 {
				list = append(list, t)
			}
		}
	}
	return list
}

// reach are the squares that are joined to one.
func (z *maze) reach(x, y int) map[[2]int]bool {
	seen := map[[2]int]bool{{x, y}: true}
	for todo := [][2]int{{x, y}}; len(todo) > 0; {
		c := todo[0]
		todo = todo[1:]
		for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			o := [2]int{c[0] + d[0], c[1] + d[1]}
			if z.is(o[0], o[1]) && !seen[o] {
				seen[o] = true
				todo = append(todo, o)
			}
		}
	}
	return seen
}

// clear reports whether all of a straight line is on open squares, as far as its points tell.
func (z *maze) clear(a, b property.Vector3) bool {
	n := int(a.Distance(b)*50) + 1
	for i := range n + 1 {
		p := a.Add(b.Sub(a).Scale(float32(i) / float32(n)))
		on := false
		for _, dx := range []float32{-1e-3, 1e-3} {
			for _, dz := range []float32{-1e-3, 1e-3} {
				on = on || z.is(int(math.Floor(float64(p.X+dx))), int(math.Floor(float64(p.Z+dz))))
			}
		}
		if !on {
			return false
		}
	}
	return true
}

// shortest is the length of the shortest way there is, by Dijkstra over all corners that see each other.
func (z *maze) shortest(from, to property.Vector3) float64 {
	nodes := []property.Vector3{from, to}
	for y := range z.n + 1 {
		for x := range z.n + 1 {
			if z.is(x, y) || z.is(x-1, y) || z.is(x, y-1) || z.is(x-1, y-1) {
				nodes = append(nodes, at(float32(x), 0, float32(y)))
			}
		}
	}
	far := make([]float64, len(nodes))
	done := make([]bool, len(nodes))
	for i := range far {
		far[i] = math.Inf(1)
	}
	for far[0] = 0; ; {
		best := -1
		for i := range nodes {
			if !done[i] && (best < 0 || far[i] < far[best]) {
				best = i
			}
		}
		if best < 0 || best == 1 || math.IsInf(far[best], 1) {
			return far[1]
		}
		done[best] = true
		for i := range nodes {
			if d := float64(nodes[best].Distance(nodes[i])); !done[i] && far[best]+d < far[i] && z.sees(nodes[best], nodes[i]) {
				far[i] = far[best] + d
			}
		}
	}
}

// sees is clear without slipping between two walls that meet at a corner.
func (z *maze) sees(a, b property.Vector3) bool {
	if !z.clear(a, b) {
		return false
	}
	n := int(a.Distance(b)*50) + 1
	for i := range n + 1 {
		p := a.Add(b.Sub(a).Scale(float32(i) / float32(n)))
		x, y := int(math.Round(float64(p.X))), int(math.Round(float64(p.Z)))
		if p.Distance(at(float32(x), 0, float32(y))) < 0.02 && i > 0 && i < n &&
			(!z.is(x, y) && !z.is(x-1, y-1) || !z.is(x-1, y) && !z.is(x, y-1)) {
			return false
		}
	}
	return true
}

// TestMazes compares with what can be known of random mazes: where a way leads, that it stays on open ground,
// and how long the shortest is. All of it also in tiles, with some taken out and put back.
func TestMazes(t *testing.T) {
	ways, excess := 0, 0.0
	for seed := range uint64(60) {
		chance := rand.New(rand.NewPCG(seed, 1))
		z := newMaze(chance, 9)
		m := newMesh(t)
		side := 1 + chance.IntN(9)
		for _, tile := range z.tiles(side) {
			id, err := m.Add(tile)
			if err != nil {
				t.Fatal(err)
			}
			if chance.IntN(2) == 0 {
				if !m.Remove(id) || m.Remove(id) {
					t.Fatal("a tile is removed once")
				}
				if _, err := m.Add(tile); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 20 {
			a, b := at(9*chance.Float32(), 0, 9*chance.Float32()), at(9*chance.Float32(), 0, 9*chance.Float32())
			ax, ay, bx, by := int(a.X), int(a.Z), int(b.X), int(b.Z)
			got, err := m.Path(nil, a, b)
			switch {
			case !z.is(ax, ay) || !z.is(bx, by):
				continue // on a wall, but perhaps on an edge
			case !z.reach(ax, ay)[[2]int{bx, by}]:
				if !errors.Is(err, ErrNoPath) {
					t.Fatalf("seed %d, %v to %v: %v, %v, and there is no way", seed, a, b, got, err)
				}
				continue
			case err != nil:
				t.Fatalf("seed %d, %v to %v: %v, and there is a way", seed, a, b, err)
			}
			last := a
			for _, c := range got {
				if !z.clear(last, c) {
					t.Fatalf("seed %d, %v to %v: %v goes through a wall", seed, a, b, got)
				}
				last = c
			}
			if last.Distance(b) > 1e-4 {
				t.Fatalf("seed %d, %v to %v: %v ends elsewhere", seed, a, b, got)
			}
			best, is := z.shortest(a, b), length(a, got)
			if is < best-0.05 || is > 1.5*best+0.5 {
				t.Errorf("seed %d, tiles of %d, %v to %v: %v is %.2f m long, the shortest %.2f", seed, side, a, b, got, is, best)
			}
			ways++
			excess += is/max(best, 0.1) - 1
			again, err := m.Path(nil, a, b)
			if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
				t.Fatalf("seed %d: found again, the way is %v, %v", seed, again, err)
			}
		}
	}
	t.Logf("%d ways, %.1f %% longer than the shortest on average", ways, 100*excess/float64(ways))
	if ways < 100 || excess/float64(ways) > 0.05 {
		t.Errorf("%d ways are %.1f %% longer than the shortest on average", ways, 100*excess/float64(ways))
	}
}

// Polygons that lie on one another are refused, and soon.
func TestPile(t *testing.T) {
	pile := rect(0, 0, 100, 100, 0)
	for range 20_000 {
		pile.Polygons = append(pile.Polygons, pile.Polygons[0])
	}
	if _, err := newMesh(t).Add(pile); err == nil || !strings.Contains(err.Error(), "lie on one another") {
		t.Error(err)
	}
	pile.Polygons = pile.Polygons[:20]
	m := newMesh(t, pile)
	if n := len(m.tiles[0].listed); n > maxShare*len(pile.Polygons) {
		t.Errorf("the grid has %d entries", n)
	}
	var dust Tile
	for i := range uint32(3000) {
		dust.Corners = append(dust.Corners, rect(0, 0, 100, 100, 0).Corners...)
		dust.Polygons = append(dust.Polygons, []uint32{4 * i, 4*i + 1, 4*i + 2, 4*i + 3})
	}
	if _, err := m.Add(dust); err == nil {
		t.Error("a tile that lies on others is taken")
	}
	if !m.Remove(1) || len(m.tiles) != 0 {
		t.Error("it is not as it was")
	}
}

// The ways that are kept are bounded, and a tile that goes takes them along.
func TestKept(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 1))
	z := &maze{n: 40, open: make([]bool, 1600)}
	for i := range z.open {
		z.open[i] = true
	}
	tiles := z.tiles(40)
	m := newMesh(t)
	id, err := m.Add(tiles[0])
	if err != nil {
		t.Fatal(err)
	}
	for range 3 * MaxKept {
		if _, err := m.Path(nil, at(40*chance.Float32(), 0, 40*chance.Float32()), at(40*chance.Float32(), 0, 40*chance.Float32())); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.kept.ways) != MaxKept {
		t.Errorf("%d ways are kept", len(m.kept.ways))
	}
	if !m.Remove(id) || len(m.kept.ways) != 0 {
		t.Error("a way is kept without its ground")
	}
	if _, err := m.Path(nil, at(1, 0, 1), at(2, 0, 2)); !errors.Is(err, ErrOffMesh) {
		t.Errorf("%v", err)
	}
}

func BenchmarkPath(b *testing.B) {
	z := newMaze(rand.New(rand.NewPCG(1, 1)), 100)
	m := newMesh(b, z.tiles(20)...)
	chance := rand.New(rand.NewPCG(2, 1))
	var corners []property.Vector3
	found := 0
	for b.Loop() {
		var err error
		if corners, err = m.Path(corners[:0], at(100*chance.Float32(), 0, 100*chance.Float32()), at(100*chance.Float32(), 0, 100*chance.Float32())); err == nil {
			found++
		}
	}
	b.ReportMetric(100*float64(found)/float64(b.N), "%found")
}
