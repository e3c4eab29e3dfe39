package property

import "math"

// MaxCoordinate bounds every coordinate of a position, in metres. At 2^20 m a float32 still
// distinguishes sixteenths of a metre, and no arithmetic on distances overflows.
const MaxCoordinate = 1 << 20

// Finite reports whether all three numbers are finite and within MaxCoordinate.
func Finite(v Vector3) bool {
	ok := func(f float32) bool { return math.Abs(float64(f)) <= MaxCoordinate }
	return ok(v.X) && ok(v.Y) && ok(v.Z)
}

// Distance is the distance between two positions on the ground plane, x and z, in metres. Interest,
// detail levels and priorities use it.
func Distance(a, b Vector3) float32 {
	dx, dz := float64(a.X)-float64(b.X), float64(a.Z)-float64(b.Z)
	return float32(math.Sqrt(float64(dx*dx) + float64(dz*dz)))
}
