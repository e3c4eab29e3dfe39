package space

import (
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/overload"
)

// Bases calls f with the BaseApps of the reals here, possibly several times with the same one.
func (p *Population) Bases(f func(app mercury.Address)) {
	var last mercury.Address
	for _, c := range p.cells {
		for _, rec := range c.reals {
			if rec.e.Base != last && !rec.e.Base.IsZero() {
				last = rec.e.Base
				f(last)
			}
		}
	}
}

// SetDegradation sets how much the cells have to save, until the next call.
func (p *Population) SetDegradation(d overload.Degradation) { p.degradation = d }

// Degradation is how much the cell saves on its clients: nothing while the world is frozen, since
// everyone must be told everything then.
func (c Hosted) Degradation() overload.Degradation { return c.degradation() }

func (c *Cell) degradation() overload.Degradation {
	if c.population.frozen || c.population.degradation == (overload.Degradation{}) {
		return overload.None()
	}
	return c.population.degradation
}
