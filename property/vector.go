package property

import "math"

// Vector2 is two single-precision numbers.
type Vector2 struct{ X, Y float32 }

// Vector3 is a point or direction of the world, in metres: X east, Y up, Z north. It is the vector
// of the whole library.
type Vector3 struct{ X, Y, Z float32 }

// Vector4 is four single-precision numbers.
type Vector4 struct{ X, Y, Z, W float32 }

// Add returns v + w.
func (v Vector3) Add(w Vector3) Vector3 { return Vector3{v.X + w.X, v.Y + w.Y, v.Z + w.Z} }

// Sub returns v - w.
func (v Vector3) Sub(w Vector3) Vector3 { return Vector3{v.X - w.X, v.Y - w.Y, v.Z - w.Z} }

// Scale returns v times s.
func (v Vector3) Scale(s float32) Vector3 { return Vector3{v.X * s, v.Y * s, v.Z * s} }

// Length returns the length of v in metres.
func (v Vector3) Length() float32 {
	x, y, z := float64(v.X), float64(v.Y), float64(v.Z)
	// Products are rounded before they are summed: Go may fuse x*x+y*y on some machines and not on
	// others.
	return float32(math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z)))
}

// Distance returns the distance between v and w in metres.
func (v Vector3) Distance(w Vector3) float32 { return v.Sub(w).Length() }

// Finite reports whether no part of v is NaN or infinite. What comes from outside is checked with
// it before it moves anything.
func (v Vector3) Finite() bool { return finite(v.X) && finite(v.Y) && finite(v.Z) }

func finite(f float32) bool { return f-f == 0 }
