package navigation

import (
	"math"

	"github.com/cellscape/cellscape/property"
)

// point is a place in double precision: the mesh of a large world would lose its edges in single.
type point struct{ x, y, z float64 }

func pointOf(v property.Vector3) point { return point{float64(v.X), float64(v.Y), float64(v.Z)} }

func (p point) vector() property.Vector3 {
	return property.Vector3{X: float32(p.x), Y: float32(p.y), Z: float32(p.z)}
}

func (p point) distance(q point) float64 {
	dx, dy, dz := p.x-q.x, p.y-q.y, p.z-q.z
	return math.Sqrt(float64(dx*dx) + float64(dy*dy) + float64(dz*dz))
}

// towards is the point at a share of the way to q.
func (p point) towards(q point, share float64) point {
	return point{p.x + float64((q.x-p.x)*share), p.y + float64((q.y-p.y)*share), p.z + float64((q.z-p.z)*share)}
}

// turn is twice the area of the triangle a, b, c seen from above: above 0 if c is to the left of
// the way from a to b, where x is right and z is up.
func turn(a, b, c point) float64 {
	return float64((b.x-a.x)*(c.z-a.z)) - float64((c.x-a.x)*(b.z-a.z))
}

// share is where on the way from a to b, seen from above, p is nearest: 0 to 1.
func share(a, b, p point) float64 {
	dx, dz := b.x-a.x, b.z-a.z
	square := float64(dx*dx) + float64(dz*dz)
	if square == 0 {
		return 0
	}
	return min(max((float64((p.x-a.x)*dx)+float64((p.z-a.z)*dz))/square, 0), 1)
}

// box is a rectangle seen from above.
type box struct{ minX, minZ, maxX, maxZ float64 }

func (b *box) take(p point) {
	b.minX, b.minZ = min(b.minX, p.x), min(b.minZ, p.z)
	b.maxX, b.maxZ = max(b.maxX, p.x), max(b.maxZ, p.z)
}

// nowhere is a box that has taken nothing.
func nowhere() box { return box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)} }

// within reports whether p is no further from the box than that, along each axis.
func (b *box) within(p point, far float64) bool {
	return p.x >= b.minX-far && p.x <= b.maxX+far && p.z >= b.minZ-far && p.z <= b.maxZ+far
}

func (b *box) touches(o *box, far float64) bool {
	return b.minX <= o.maxX+far && b.maxX >= o.minX-far && b.minZ <= o.maxZ+far && b.maxZ >= o.minZ-far
}
