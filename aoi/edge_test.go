package aoi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A box holds exactly the places of the points in the square, also where a float32 has few digits
// left, at both zeros and at the ends.
func TestBoxIsTheSquare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	ends := []float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, math.MaxFloat32, -math.MaxFloat32, 1, -1, 1 << 24, 0.1}
	value := func() float32 {
		if r.IntN(4) == 0 {
			return ends[r.IntN(len(ends))]
		}
		return float32(math.Ldexp(r.Float64()*2-1, r.IntN(60)-30))
	}
	hits := 0
	for range 200000 {
		c := spot{value(), value()}
		d := math.Abs(float64(value())) + math.Abs(float64(value()))
		b := newBox(c, d)
		p := spot{value(), value()}
		if r.IntN(2) == 0 { // at an edge, or a step beside it
			for a := range p {
				p[a] = float32(float64(c[a]) + d*float64(r.IntN(3)-1))
				p[a] = math.Nextafter32(p[a], value())
			}
		}
		if !Finite(p[0], p[1]) {
			continue
		}
		want := inSquare(p, c, d)
		if got := b.holds(placeOf(p)); got != want {
			t.Fatalf("%v around %v holds %v: %v, want %v", d, c, p, got, want)
		}
		if want {
			hits++
		}
		if none := nothing(); none.holds(placeOf(p)) || b.holds(absent()) {
			t.Fatalf("%v is in nothing, or %v around %v holds what is absent", p, d, c)
		}
	}
	if hits < 10000 {
		t.Errorf("%d of the points were inside", hits)
	}
}

// What lies in outer and not in inner is among what cover finds, wherever the grid repeats itself.
func TestCoverFindsAll(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for range 300 {
		g := grid{bits: uint(3 + r.IntN(3)), cell: math.Ldexp(1, r.IntN(6)-2)}
		g.scale = 1 / g.cell
		spots := make([]spot, r.IntN(200))
		g.begin()
		for i := range spots {
			spots[i] = spot{float32(r.NormFloat64() * 50), float32(r.NormFloat64() * 50)}
			if r.IntN(50) == 0 {
				spots[i][r.IntN(2)] *= 1e30
			}
			g.count(spots[i])
		}
		g.allot()
		for i := range spots {
			g.put(entry{slot: uint32(i)})
		}
		for range 20 {
			c := spot{float32(r.NormFloat64() * 50), float32(r.NormFloat64() * 50)}
			wide := r.Float64() * 60
			outer, inner := around(c, wide), around(c, wide-r.Float64()*20)
			found := map[uint32]bool{}
			for _, run := range g.cover(&outer, &inner) {
				for _, e := range run {
					if found[e.slot] && 2*wide < float64(g.side()-2)*g.cell {
						t.Fatalf("%d is in two runs", e.slot)
					}
					found[e.slot] = true
				}
			}
			for i, p := range spots {
				if inSquare(p, c, wide) && !inSquare(p, c, inner.hi[0]-float64(c[0])) && !found[uint32(i)] {
					t.Fatalf("%v around %v does not find %v", wide, c, p)
				}
			}
		}
	}
}
