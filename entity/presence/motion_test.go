package presence

import (
	"math"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// The yaw of who walks straight to a goal is worked out anew for each step, and differs in its last bits.
func TestStraightWalkTurnsOnce(t *testing.T) {
	for _, to := range []property.Vector3{{X: 612.25, Z: -433.5}, {X: -31, Z: 570}, {X: -600, Z: -0.5}} {
		e, at, changed := &Entity{}, property.Vector3{X: 7.3, Z: 11.1}, 0
		for stamp := uint32(1); property.Distance(at, to) > 5; stamp++ {
			dx, dz := to.X-at.X, to.Z-at.Z
			far := float32(math.Hypot(float64(dx), float64(dz)))
			at.X, at.Z = at.X+dx/far/2, at.Z+dz/far/2
			yaw := float32(math.Atan2(float64(dx), float64(dz)))
			if stamp > 1 && yaw != e.Direction.X {
				changed++
			}
			e.Put(at, property.Vector3{X: yaw}, stamp)
		}
		if e.Motion.Turned != 1 || changed == 0 {
			t.Errorf("towards %v: the last turn was move %d; the yaw changed %d times", to, e.Motion.Turned, changed)
		}
	}
}

// Whoever turns a little in each step turns: a client is never off by more than half of what Yaw
// counts in, nor is one that was told the yaw exactly.
func TestSlowTurnIsATurn(t *testing.T) {
	e, told, exact := &Entity{}, float32(0), float32(0)
	for stamp := uint32(1); stamp < 5000; stamp++ {
		yaw := float32(stamp)*0.0007 - 1.7
		e.Put(property.Vector3{}, property.Vector3{X: yaw}, stamp)
		if e.Motion.Turned == stamp {
			told, exact = float32(e.Motion.Yaw)*2*math.Pi/256, yaw
		}
		if off := math.Abs(math.Remainder(float64(told-yaw), 2*math.Pi)); off > math.Pi/256+1e-6 {
			t.Fatalf("after %d moves the yaw is %v, and was told as %v", stamp, yaw, told)
		}
		if off := math.Abs(float64(exact - yaw)); off > leastTurn+1e-6 {
			t.Fatalf("after %d moves the yaw is %v, and was %v at the last turn", stamp, yaw, exact)
		}
	}
	if turns := e.Motion.Turned; turns < 4900 {
		t.Errorf("the last turn was move %d", turns)
	}
}
