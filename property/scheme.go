package property

import (
	"errors"
	"fmt"
)

// UpdateScheme says how often clients are told of an entity when not all that is in view fits their
// bandwidth. Each time that a client is told of it pushes the entity back in the queue by a step: Min
// next to the client's own entity, growing with the square of the distance to Max at Distance, and no
// more beyond. With half the step it is told twice as often. The zero value stands for what is usual:
// 1, and 5001 at the radius of the area of interest.
type UpdateScheme struct {
	// Min and Max are from MinStep to MaxStep. Max is at least Min.
	Min float32 `json:"min"`
	Max float32 `json:"max"`
	// Distance is in metres, at most MaxStep; 0 for the radius of the area of interest.
	Distance float32 `json:"distance,omitempty"`
}

// MinStep and MaxStep bound the steps of an UpdateScheme, MaxStep its distance, too. Whoever has the
// largest is told of only as often as the longest wait for a turn demands.
const (
	MinStep = 1.0 / 64
	MaxStep = 1 << 20
)

// Validate says what is wrong with a scheme.
func (s UpdateScheme) Validate() error {
	if fault := s.fault(); fault != "" {
		return errors.New("property: update scheme: " + fault)
	}
	return nil
}

func (s UpdateScheme) fault() string {
	switch {
	case s == UpdateScheme{}:
		return ""
	case !(s.Min >= MinStep && s.Min <= s.Max && s.Max <= MaxStep):
		return fmt.Sprintf("there are no steps from %v to %v", s.Min, s.Max)
	case !(s.Distance >= 0 && s.Distance <= MaxStep):
		return fmt.Sprintf("%v is not a distance", s.Distance)
	}
	return ""
}

const schemeRemedy = "state minDelta of 1/64 at least, maxDelta not below it, both at most 1048576, and perhaps a distance in metres"

func (c *checker) checkScheme() {
	if fault := c.d.UpdateScheme.fault(); fault != "" {
		c.problem(c.d.where, "UpdateScheme", fault, schemeRemedy)
	}
}
