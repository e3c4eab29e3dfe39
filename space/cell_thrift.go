package space

import (
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/overload"
)

// Bases calls f with the BaseApps of the reals here; with one several times, if reals of
// others are between.
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

// SetThrift says how sparing the cells have to be, until the next time.
func (p *Population) SetThrift(t overload.Degradation) { p.thrift = t }

// Thrift is how sparing the cell is with its clients: not at all while the world is frozen,
// since then everyone is to be told everything.
func (c *Cell) Thrift() overload.Degradation {
	if c.population.frozen || c.population.thrift == (overload.Degradation{}) {
		return overload.None()
	}
	return c.population.thrift
}
