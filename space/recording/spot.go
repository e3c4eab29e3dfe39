package recording

import (
	"math"

	"github.com/cellscape/cellscape/property"
)

// Spot is a place and a direction as a recording has them: x, y, z in units of Resolution, then yaw,
// pitch and roll in units of Turn.
type Spot [6]int64

// maxSteps bounds each number of a Spot: property.MaxCoordinate in the smaller unit.
const maxSteps = property.MaxCoordinate * 4096

// SpotOf rounds a place and a direction, which are finite (property.Finite).
func SpotOf(position, direction property.Vector3) Spot {
	at := func(f float32) int64 { return int64(math.Round(float64(f) / Resolution)) }
	turn := func(f float32) int64 { return int64(math.Round(float64(f) / Turn)) }
	return Spot{at(position.X), at(position.Y), at(position.Z), turn(direction.X), turn(direction.Y), turn(direction.Z)}
}

// Position is the place in metres.
func (s *Spot) Position() property.Vector3 {
	at := func(n int64) float32 { return float32(float64(n) * Resolution) }
	return property.Vector3{X: at(s[0]), Y: at(s[1]), Z: at(s[2])}
}

// Direction is yaw, pitch and roll in radians.
func (s *Spot) Direction() property.Vector3 {
	turn := func(n int64) float32 { return float32(float64(n) * Turn) }
	return property.Vector3{X: turn(s[3]), Y: turn(s[4]), Z: turn(s[5])}
}

// Add moves s by a difference, and reports false if it leaves all that can be.
func (s *Spot) Add(by *Spot) bool {
	for i := range s {
		s[i] += by[i]
	}
	return s.valid()
}

func (s *Spot) valid() bool {
	for i := range s {
		if s[i] > maxSteps || s[i] < -maxSteps {
			return false
		}
	}
	return property.Finite(s.Position()) && property.Finite(s.Direction())
}
