package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cellscape/cellscape/internal/codec"
)

const (
	// Slices is the number of parts of equal load into which a profile divides a cell along each
	// axis. A clump of nearly two slices can lie between two quantiles without showing, so load is
	// known to a sixteenth of the cell's.
	Slices = 32

	// Clump is how near entities must be to each other to be kept together, in metres: a line
	// between them would part what stands on one spot, and only rounding would decide who goes
	// where.
	Clump = 0.01

	// edge is how far beyond the last entity a profile ends, in metres, so that a line there has
	// all entities below it.
	edge = 0.1

	// EncodedSize is the length of a profile on the wire.
	EncodedSize = 2 * (Slices + 1) * 4
)

// Quantiles holds positions along one axis, never decreasing, in metres: q[k] is a place for a line
// with k of Slices parts of the load below it. q[0] is the first entity; q[Slices] lies just past
// the last. Where several are equal, one clump of entities, just below, carries all of that load;
// the line can pass it only as a whole.
type Quantiles [Slices + 1]float32

// Profile tells where the load of a cell's reals lies along both axes. The zero Profile is that of
// a cell without reals.
type Profile struct {
	X, Z Quantiles
}

// Empty reports whether the profile has no entities.
func (p *Profile) Empty() bool { return !(p.X[0] < p.X[Slices]) }

// Sample is one real: its position in metres and its load.
type Sample struct {
	X, Z float32
	Load int64
}

// Build makes a profile. Samples whose position is not finite are left out. Loads are clamped, and
// if all are 0 every sample counts the same, so that a crowd that costs nothing yet can be divided,
// too. The order of the samples does not matter.
func Build(samples []Sample) Profile {
	var b Builder
	return b.Build(samples)
}

// Builder makes profiles and keeps its working memory between them.
type Builder struct {
	points []point // scratch
}

type point struct {
	at   float32
	load int64
}

// Build makes a profile, like the function of that name.
func (b *Builder) Build(samples []Sample) Profile {
	b.points = slices.Grow(b.points[:0], len(samples))
	var p Profile
	if b.axis(samples, func(s *Sample) float32 { return s.X }, &p.X) {
		b.axis(samples, func(s *Sample) float32 { return s.Z }, &p.Z)
	}
	return p
}

func (b *Builder) axis(samples []Sample, coordinate func(*Sample) float32, q *Quantiles) bool {
	total := b.sort(samples, coordinate)
	if len(b.points) == 0 {
		return false
	}
	if total == 0 {
		total = int64(len(b.points))
		for i := range b.points {
			b.points[i].load = 1
		}
	}
	quantiles(b.points, total, q)
	return true
}

// sort puts the samples with a finite position into points, by coordinate, and returns the sum of
// their loads.
func (b *Builder) sort(samples []Sample, coordinate func(*Sample) float32) (total int64) {
	b.points = b.points[:0]
	for i := range samples {
		s := &samples[i]
		if finite(s.X) && finite(s.Z) {
			l := Clamp(s.Load)
			total += l
			b.points = append(b.points, point{coordinate(s), l})
		}
	}
	// Points at one place are never parted, so their order among themselves cannot show.
	slices.SortFunc(b.points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	return total
}

// quantiles walks the sorted points, and at every gap sets the quantiles that the load so far has
// reached.
func quantiles(points []point, total int64, q *Quantiles) {
	last := points[len(points)-1].at
	end := above(last)
	q[0] = points[0].at
	k, below := 1, int64(0)
	for i, p := range points {
		below += p.load
		if i+1 == len(points) {
			break
		}
		next := points[i+1].at
		if next-p.at < Clump {
			continue
		}
		for k < Slices && reached(below, total, k) {
			q[k] = between(p.at, next)
			k++
		}
	}
	for ; k <= Slices; k++ {
		q[k] = end
	}
}

// above is a place for a line just past the last entity of an axis.
func above(last float32) float32 {
	at := max(last+edge, math.Nextafter32(last, float32(math.Inf(1))))
	if !finite(at) {
		return last
	}
	return at
}

// between is a place for a line with lower below it and upper not: midway, or at upper where
// float32 has nothing between the two.
func between(lower, upper float32) float32 {
	if at := lower/2 + upper/2; at > lower {
		return at
	}
	return upper
}

// reached reports whether below is at least k of Slices parts of total, without overflow: total may
// be Max times the number of samples.
func reached(below, total int64, k int) bool {
	want := total/Slices*int64(k) + total%Slices*int64(k)/Slices
	return below >= want && below > 0
}

// Below returns how many slices lie, at least and at most, below a line at the given position. The
// two differ where the profile cannot tell: between two quantiles of which the upper one ends in a
// clump. Elsewhere the load within a slice is taken to be spread evenly.
func (q *Quantiles) Below(at float64) (least, most float64) {
	if at <= float64(q[0]) {
		return 0, 0
	}
	if at > float64(q[Slices])-edge { // past the last entity: a line close to it still has it below
		return Slices, Slices
	}
	// k is the last quantile at or below the position.
	k := 0
	for float64(q[k+1]) <= at {
		k++
	}
	if float64(q[k]) == at {
		return float64(k), float64(k)
	}
	top := k + 1
	for top < Slices && q[top+1] == q[k+1] {
		top++
	}
	if top > k+1 {
		return float64(k), float64(top)
	}
	lo, hi := float64(q[k]), float64(q[k+1])
	v := float64(k) + (at-lo)/(hi-lo)
	return v, v
}

// Valid reports whether the positions are finite and never decrease, like those that Build and
// Parse give.
func (q *Quantiles) Valid() bool {
	for k, v := range q {
		if !finite(v) || (k > 0 && v < q[k-1]) {
			return false
		}
	}
	return true
}

func finite(f float32) bool { return f-f == 0 }

// ErrProfile is wrapped by every error of Profile.Parse.
var ErrProfile = errors.New("load: malformed profile")

// Append appends the profile's wire form: both axes' quantiles as little-endian float32,
// EncodedSize bytes.
func (p *Profile) Append(b []byte) []byte {
	for _, q := range []*Quantiles{&p.X, &p.Z} {
		for _, v := range q {
			b = codec.AppendF32(b, v)
		}
	}
	return b
}

// Parse reads a profile from the front of b and returns what follows it. On an error p is not
// changed.
func (p *Profile) Parse(b []byte) (rest []byte, err error) {
	if len(b) < EncodedSize {
		return nil, fmt.Errorf("%w: %d bytes of %d", ErrProfile, len(b), EncodedSize)
	}
	var got Profile
	r := codec.NewReader(b)
	for _, q := range []*Quantiles{&got.X, &got.Z} {
		for k := range q {
			q[k] = r.F32()
		}
		if !q.Valid() {
			return nil, fmt.Errorf("%w: positions %v", ErrProfile, *q)
		}
	}
	*p = got
	return r.Rest(), nil
}
