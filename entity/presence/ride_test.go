package presence

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// A seat a metre ahead is where the vehicle looks; one to its right is to the right of that.
func TestSpotOnVehicle(t *testing.T) {
	at := property.Vector3{X: 100, Y: 5, Z: -40}
	for name, c := range map[string]struct {
		vehicle, seat, want property.Vector3
	}{
		"ahead":                {property.Vector3{}, property.Vector3{Z: 2}, property.Vector3{Z: 2}},
		"ahead, looking east":  {property.Vector3{X: math.Pi / 2}, property.Vector3{Z: 2}, property.Vector3{X: 2}},
		"right, looking east":  {property.Vector3{X: math.Pi / 2}, property.Vector3{X: 2}, property.Vector3{Z: -2}},
		"ahead, looking down":  {property.Vector3{Y: math.Pi / 2}, property.Vector3{Z: 2}, property.Vector3{Y: -2}},
		"right, leaning left":  {property.Vector3{Z: math.Pi / 2}, property.Vector3{X: 2}, property.Vector3{Y: 2}},
		"mast, looking around": {property.Vector3{X: 2}, property.Vector3{Y: 9}, property.Vector3{Y: 9}},
	} {
		got := Spot{Position: c.seat}.On(Spot{at, c.vehicle})
		want := property.Vector3{X: at.X + c.want.X, Y: at.Y + c.want.Y, Z: at.Z + c.want.Z}
		if property.Distance(got.Position, want) > 1e-4 || math.Abs(float64(got.Position.Y-want.Y)) > 1e-4 || got.Direction.X != c.vehicle.X {
			t.Errorf("%s: %v, want at %v", name, got, want)
		}
	}
}

// From undoes On, and angles stay within half a turn.
func TestSpotFromVehicle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(most float32) property.Vector3 {
		return property.Vector3{X: most * (2*rng.Float32() - 1), Y: most * (2*rng.Float32() - 1), Z: most * (2*rng.Float32() - 1)}
	}
	for range 1000 {
		seat, vehicle := Spot{some(50), some(3)}, Spot{some(4000), some(3)}
		on := seat.On(vehicle)
		back := on.From(vehicle)
		off := some(0)
		off.X, off.Y, off.Z = back.Position.X-seat.Position.X, back.Position.Y-seat.Position.Y, back.Position.Z-seat.Position.Z
		if far := math.Abs(float64(off.X)) + math.Abs(float64(off.Y)) + math.Abs(float64(off.Z)); far > 2e-3 {
			t.Fatalf("%v on %v is %v, and back %v", seat, vehicle, on, back)
		}
		if yaw := math.Remainder(float64(back.Direction.X-seat.Direction.X), 2*math.Pi); math.Abs(yaw) > 1e-5 {
			t.Fatalf("%v on %v is %v, and back %v", seat, vehicle, on, back)
		}
		if math.Abs(float64(on.Direction.X)) > math.Pi+1e-6 {
			t.Fatalf("a yaw of %v", on.Direction.X)
		}
	}
}
