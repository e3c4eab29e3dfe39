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

// SetThrift sets how much the cells have to save, until the next call.
func (p *Population) SetThrift(t overload.Degradation) { p.thrift = t }

// Thrift is how much the cell saves on its clients: nothing while the world is frozen, since
// everyone must be told everything then.
func (c Hosted) Thrift() overload.Degradation { return c.thrift() }

func (c *Cell) thrift() overload.Degradation {
	if c.population.frozen || c.population.thrift == (overload.Degradation{}) {
		return overload.None()
	}
	return c.population.thrift
}
