package aoi

import "math"

// spot is a position: X, then Z.
type spot [2]float32

// zone is where a point lies as a trigger sees it.
type zone uint8

const (
	out zone = iota
	band
	core
)

// Finite reports whether (x, z) may be a position in an Index: neither is NaN or infinite.
func Finite(x, z float32) bool {
	return finite(x) && finite(z)
}

func finite(v float32) bool { return math.Abs(float64(v)) <= math.MaxFloat32 }

func newSpot(x, z float32) spot {
	if !Finite(x, z) {
		panic("aoi: position is not finite")
	}
	return spot{x, z}
}

// ValidRange reports whether a trigger may have these ranges: 0 <= enter <= leave, both finite.
func ValidRange(enter, leave float32) bool {
	return enter >= 0 && enter <= leave && finite(leave)
}

func checkRange(enter, leave float32) {
	if !ValidRange(enter, leave) {
		panic("aoi: a range is not finite, is negative, or leave is less than enter")
	}
}

// within is the only definition of an edge; see the package comment.
func within(v, centre float32, r float64) bool {
	return float64(v) >= float64(centre)-r && float64(v) <= float64(centre)+r
}

func inSquare(p, centre spot, r float64) bool {
	return within(p[0], centre[0], r) && within(p[1], centre[1], r)
}

// distance is how far q is from p along the axis where that is more.
func distance(p, q spot) float64 {
	return max(math.Abs(float64(p[0])-float64(q[0])), math.Abs(float64(p[1])-float64(q[1])))
}

// slack is more than what rounding may take from an edge at r around p.
func slack(p spot, r float64) float64 {
	return 1e-12 * (math.Abs(float64(p[0])) + math.Abs(float64(p[1])) + r)
}

// area is a square with its sides along the axes.
type area struct{ lo, hi [2]float64 }

func around(p spot, r float64) area {
	x, z := float64(p[0]), float64(p[1])
	return area{[2]float64{x - r, z - r}, [2]float64{x + r, z + r}}
}

// nowhere holds no point.
func nowhere() area { return area{[2]float64{1, 1}, [2]float64{-1, -1}} }

// place is a position as ordinals: whole numbers that compare as the numbers of the position do. A
// range of them is tested with one subtraction and one comparison.
type place [2]int32

// absent is the place of a node that is not there: no box holds it.
func absent() place { return place{math.MinInt32, math.MinInt32} }

func placeOf(p spot) place { return place{ordinal(p[0]), ordinal(p[1])} }

func ordinal(v float32) int32 {
	b := int32(math.Float32bits(v + 0)) // -0 becomes 0
	return b ^ (b >> 31 & math.MaxInt32)
}

// box is a square in ordinals, its edges included.
type box struct {
	low  [2]int32
	span [2]uint32
}

// nothing is the box that holds no place.
func nothing() box { return box{low: [2]int32{math.MaxInt32, math.MaxInt32}} }

// newBox holds the places of exactly those points that are inSquare.
func newBox(centre spot, r float64) (b box) {
	for a, c := range centre {
		lo, hi := float64(c)-r, float64(c)+r
		first, last := float32(lo), float32(hi)
		low, high := ordinal(first), ordinal(last)
		if float64(first) < lo {
			low++
		}
		if float64(last) > hi {
			high--
		}
		b.low[a], b.span[a] = low, uint32(high-low)
	}
	return b
}

// beyond has its top bit set if the box does not hold p. It takes no branch, since half of those
// that are near an edge are beyond it.
func (b *box) beyond(p place) uint64 {
	x := uint64(b.span[0]) - uint64(uint32(p[0]-b.low[0]))
	z := uint64(b.span[1]) - uint64(uint32(p[1]-b.low[1]))
	return x | z
}

func (b *box) holds(p place) bool { return b.beyond(p)>>63 == 0 }
