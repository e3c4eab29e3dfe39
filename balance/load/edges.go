package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/internal/codec"
)

// Levels is how many slices a cell reports for each of its edges, each half of the one before. With
// the usual largest slice of 0.02 cores the smallest is 0.00125, and a difference below that is not
// worth moving a line.
const Levels = 5

// Bound is one slice of a cell, between an edge and a line.
type Bound struct {
	// At is a place for a line, in metres.
	At float32
	// Load is the load of the reals beyond it, between the edge and the line, in nanoseconds per
	// second.
	Load int64
}

// Edges tells for each edge of a cell how much load lies how deep: where a line that comes in from
// there may go, and what it would carry over. The first index is the axis, 0 for x and 1 for z; the
// second is the edge at which the slice begins, 0 for the low one and 1 for the high one; the third
// is the level, of which 0 is the largest slice. The zero Edges are those of a cell without reals.
type Edges [2][2][Levels]Bound

// Empty reports whether there are no entities.
func (e *Edges) Empty() bool { return *e == Edges{} }

// Edges makes the slices of a cell. largest is the load of the largest, in nanoseconds per second:
// a slice of level k is the smallest that carries more than largest over 2 to the k, and a heavy
// clump makes a slice of one level only. Where the reals are too light for a level, the line lies
// past the last of them and carries everything. Samples whose position is not finite are left out,
// and loads are clamped; the order of the samples does not matter.
func (b *Builder) Edges(samples []Sample, largest int64) Edges {
	b.points = slices.Grow(b.points[:0], len(samples))
	var e Edges
	b.edgesOf(samples, func(s *Sample) float32 { return s.X }, Clamp(largest), &e[0])
	b.edgesOf(samples, func(s *Sample) float32 { return s.Z }, Clamp(largest), &e[1])
	return e
}

func (b *Builder) edgesOf(samples []Sample, coordinate func(*Sample) float32, largest int64, e *[2][Levels]Bound) {
	b.sort(samples, coordinate)
	if len(b.points) == 0 {
		return
	}
	walkIn(b.points, largest, false, &e[0])
	slices.Reverse(b.points)
	walkIn(b.points, largest, true, &e[1])
}

// walkIn goes over points from an edge inwards, and makes a slice where its load is reached.
func walkIn(points []point, largest int64, high bool, e *[Levels]Bound) {
	level, sum := Levels-1, int64(0)
	for i, p := range points {
		sum += p.load
		if i+1 == len(points) {
			break
		}
		next := points[i+1].at
		if max(next, p.at)-min(next, p.at) < Clump {
			continue
		}
		if sum > largest>>level {
			e[level] = Bound{lineAfter(p.at, next, high), Clamp(sum)}
			if level--; level < 0 {
				return
			}
		}
	}
	end := Bound{linePast(points[len(points)-1].at, high), Clamp(sum)}
	for ; level >= 0; level-- {
		e[level] = end
	}
}

// lineAfter is a place for a line between an entity that a walk has met and the next. Whoever
// stands on a line is above it. So a line below the next entity of a walk from the high edge may
// lie on the first entity itself, but never on the next.
func lineAfter(at, next float32, high bool) float32 {
	if high {
		return between(next, at)
	}
	return between(at, next)
}

// linePast is a place for a line just past the last entity of a walk.
func linePast(last float32, high bool) float32 {
	if !high {
		return above(last)
	}
	if at := last - edge; finite(at) {
		return at
	}
	return last
}

// ErrEdges is wrapped by every error of Edges.Parse.
var ErrEdges = errors.New("load: malformed edges")

// Append appends the wire form: for each slice, in order of the indices, its line as little-endian
// float32 and its load as uvarint.
func (e *Edges) Append(b []byte) []byte {
	for axis := range e {
		for from := range e[axis] {
			for _, x := range e[axis][from] {
				b = codec.AppendF32(b, x.At)
				b = binary.AppendUvarint(b, uint64(x.Load))
			}
		}
	}
	return b
}

// Parse reads edges from the front of b and returns what follows them. Lines must be finite and
// loads at most Max. On an error e is not changed.
func (e *Edges) Parse(b []byte) (rest []byte, err error) {
	var got Edges
	r := codec.NewReader(b)
	for axis := range got {
		for from := range got[axis] {
			for level := range got[axis][from] {
				if err := got[axis][from][level].read(&r); err != nil {
					return nil, fmt.Errorf("%w: axis %d, edge %d, level %d: %w", ErrEdges, axis, from, level, err)
				}
			}
		}
	}
	*e = got
	return r.Rest(), nil
}

func (x *Bound) read(r *codec.Reader) error {
	at, sum := r.F32(), r.Uvarint()
	switch {
	case r.Err() != nil:
		return r.Err()
	case !finite(at):
		return fmt.Errorf("a line at %v", at)
	case sum > uint64(Max):
		return fmt.Errorf("a load of %d, above %d", sum, Max)
	}
	x.At, x.Load = at, int64(sum)
	return nil
}

// Valid reports whether the positions are finite and the loads can be true, like those that
// Edges.Parse gives.
func (e *Edges) Valid() bool {
	for _, axis := range e {
		for _, edge := range axis {
			for _, b := range edge {
				if !finite(b.At) || b.Load < 0 || b.Load > Max {
					return false
				}
			}
		}
	}
	return true
}
