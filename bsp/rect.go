package bsp

import (
	"fmt"
	"math"

	"github.com/cellscape/cellscape/internal/enum"
)

// Axis says of which coordinate a line is a value.
type Axis uint8

const (
	// AxisX is a line x = value: it parts lower x from higher x.
	AxisX Axis = iota
	// AxisZ is a line z = value: it parts lower z from higher z.
	AxisZ
)

// Other returns the other axis.
func (a Axis) Other() Axis { return a ^ 1 }

// String returns "x" or "z".
func (a Axis) String() string {
	return enum.Name(a, "axis", []string{
		AxisX: "x",
		AxisZ: "z",
	})
}

// Rect is a half-open rectangle in metres: a point is inside if Min <= p < Max on both axes.
type Rect struct {
	MinX, MinZ, MaxX, MaxZ float64
}

// Everything returns the rectangle that covers the plane.
func Everything() Rect {
	return Rect{MinX: math.Inf(-1), MinZ: math.Inf(-1), MaxX: math.Inf(1), MaxZ: math.Inf(1)}
}

// Around returns the square of half-width d about a point.
func Around(x, z, d float64) Rect {
	return Rect{MinX: x - d, MinZ: z - d, MaxX: x + d, MaxZ: z + d}
}

// Contains reports whether the point lies in the rectangle. A NaN coordinate lies in none.
func (r Rect) Contains(x, z float64) bool {
	return r.MinX <= x && x < r.MaxX && r.MinZ <= z && z < r.MaxZ
}

// Empty reports whether no point lies in the rectangle. A rectangle with a NaN edge is empty.
func (r Rect) Empty() bool { return !(r.MinX < r.MaxX && r.MinZ < r.MaxZ) }

// Overlaps reports whether some point lies in both rectangles. Rectangles that share only an edge
// do not overlap.
func (r Rect) Overlaps(o Rect) bool { return !r.Intersect(o).Empty() }

// Intersect returns the part that both rectangles cover; it may be Empty.
func (r Rect) Intersect(o Rect) Rect {
	return Rect{
		MinX: math.Max(r.MinX, o.MinX), MinZ: math.Max(r.MinZ, o.MinZ),
		MaxX: math.Min(r.MaxX, o.MaxX), MaxZ: math.Min(r.MaxZ, o.MaxZ),
	}
}

// Grow returns the rectangle with every edge moved outwards by d metres. Infinite edges stay.
func (r Rect) Grow(d float64) Rect {
	return Rect{MinX: r.MinX - d, MinZ: r.MinZ - d, MaxX: r.MaxX + d, MaxZ: r.MaxZ + d}
}

// Span returns the two edges between which a line of the given axis lies.
func (r Rect) Span(a Axis) (lo, hi float64) {
	if a == AxisX {
		return r.MinX, r.MaxX
	}
	return r.MinZ, r.MaxZ
}

// Band is how far beyond a cell of this area, along an axis, its reals stay with it: most, but no
// more than a quarter of its side. Otherwise a cell that lines have squeezed would keep its whole
// crowd beyond them, stay as loaded as ever, and hold the lines where they are. A line beside it
// that moves changes nothing for reals that stand beyond the line's ends.
func (r Rect) Band(a Axis, most float64) float64 {
	lo, hi := r.Span(a)
	return min(most, (hi-lo)/4)
}

// Keeps reports whether a real at a point stays with a cell of this area, by its bands for most.
func (r Rect) Keeps(x, z, most float64) bool {
	return max(r.MinX-x, x-r.MaxX) <= r.Band(AxisX, most) && max(r.MinZ-z, z-r.MaxZ) <= r.Band(AxisZ, most)
}

// Distance returns how far the point is from the rectangle, along the axis where it is farther
// (Chebyshev, the measure of square areas of interest), and 0 for a point inside.
func (r Rect) Distance(x, z float64) float64 {
	dx := math.Max(r.MinX-x, x-r.MaxX)
	dz := math.Max(r.MinZ-z, z-r.MaxZ)
	return math.Max(0, math.Max(dx, dz))
}

// String writes the rectangle as [minX,maxX)x[minZ,maxZ).
func (r Rect) String() string {
	return fmt.Sprintf("[%g,%g)x[%g,%g)", r.MinX, r.MaxX, r.MinZ, r.MaxZ)
}

// cut returns the two parts of r on either side of a line.
func (r Rect) cut(a Axis, at float64) (left, right Rect) {
	left, right = r, r
	if a == AxisX {
		left.MaxX, right.MinX = at, at
	} else {
		left.MaxZ, right.MinZ = at, at
	}
	return left, right
}

// wideEnough is the only form in which the least width is checked: float subtraction is monotone,
// so a line that has passed the check keeps passing it, however the two edges were arrived at.
func wideEnough(lo, hi float64) bool { return hi-lo >= MinSize }
