package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/space"
)

// measure ends the tick's measurement of work done for no cell: links, reports, the manager's
// messages.
func (a *CellApp) measure(now time.Duration) {
	if a.ticks.Number == 1 {
		a.measuredAt = now - a.cfg.Tick // the first sample is taken whole
	}
	a.own.Tick(now-a.measuredAt, 0)
	a.measuredAt = now
}

// ownLoad is the load of work for no cell; 0 where loads are artificial.
func (a *CellApp) ownLoad() int64 {
	if a.cfg.Space.ArtificialLoad > 0 {
		return 0
	}
	return a.own.Load()
}

// TypeLoads returns what the reals of each entity type cost; see space.Population. Call it on the
// goroutine of the CellApp.
func (a *CellApp) TypeLoads() []space.TypeLoad { return a.population.TypeLoads() }
