package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/property"
)

// inView is how many others are near enough to one, on average.
func inView(places []property.Vector3, sees float64) float64 {
	pairs := 0
	for i, a := range places {
		for _, b := range places[:i] {
			if math.Abs(float64(a.X-b.X)) <= sees && math.Abs(float64(a.Z-b.Z)) <= sees {
				pairs++
			}
		}
	}
	return 2 * float64(pairs) / float64(len(places))
}

// As many are in view as was asked for, on average over some crowds, from the first moment on and after
// all have walked.
func TestSide(t *testing.T) {
	const minutes, step = 3, 0.5
	for _, f := range []flags{{n: 2000, view: 62}, {n: 500, view: 62}, {n: 300, view: 90}, {n: 100, view: 62}, {n: 2000, view: 698}} {
		f.radius = 100
		crowds := max(10, 20_000/f.n)
		half := float32(f.side() / 2)
		var first, later float64
		for crowd := range crowds {
			chance := rand.New(rand.NewPCG(uint64(crowd), 2))
			at, to := make([]property.Vector3, f.n), make([]property.Vector3, f.n)
			for i := range at {
				at[i], to[i] = way(entity.ID(crowd*f.n+i), half)
			}
			first += inView(at, f.sees()) / float64(crowds)
			for range int(minutes * 60 / step) {
				for i := range at {
					if at[i], _ = bots.Towards(at[i], to[i], 5*step); at[i] == to[i] {
						to[i] = property.Vector3{X: (2*chance.Float32() - 1) * half, Z: (2*chance.Float32() - 1) * half}
					}
				}
			}
			later += inView(at, f.sees()) / float64(crowds)
		}
		for when, got := range map[string]float64{"at first": first, "later": later} {
			if off := got/float64(f.view) - 1; math.Abs(off) > 0.03 {
				t.Errorf("%d players on %.0f m: %.1f in view %s, want %d", f.n, 2*half, got, when, f.view)
			}
		}
		t.Logf("%d players on %.0f m: %.1f in view at first, %.1f later, of %d", f.n, 2*half, first, later, f.view)
	}
	// Fewer players than are to be in view all see each other.
	if f := (&flags{n: 10, view: 62, radius: 100}); f.side() > f.sees() {
		t.Errorf("ten players are on %v m", f.side())
	}
	if f := (&flags{n: 10, view: 62, radius: 100, field: 300}); f.side() != 300 {
		t.Errorf("the field asked for is %v m", f.side())
	}
}
