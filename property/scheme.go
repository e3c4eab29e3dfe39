package property

import (
	"errors"
	"fmt"
)

// UpdateScheme says how often clients are told of an entity when not all that is in view fits their
// bandwidth. Each turn in which a client is told of it pushes the entity back in the queue by a step:
// Min where the client's own entity is, growing with the distance to Max at Distance metres, and no
// more beyond. Who has half the step is told twice as often. The zero value stands for the scheme of all that have
// none: 1 to 101, at the radius of the area of interest.
type UpdateScheme struct {
	Min, Max float32
	// Distance is where the step is Max, in metres; 0 for the radius of the area of interest.
	Distance float32
}

// MaxStep bounds Min and Max: with it an entity is told of only as often as the longest wait for a turn
// demands.
const MaxStep = 1 << 20

// Validate says what is wrong with a scheme.
func (s UpdateScheme) Validate() error {
	switch {
	case s == UpdateScheme{}:
		return nil
	case !(s.Min > 0 && s.Min <= s.Max && s.Max <= MaxStep):
		return fmt.Errorf("property: an update scheme from %v to %v: take steps above 0 and at most %d, the smaller first", s.Min, s.Max, MaxStep)
	case !(s.Distance >= 0 && s.Distance <= MaxStep):
		return errors.New("property: an update scheme: take a distance of 0 or more metres")
	}
	return nil
}
