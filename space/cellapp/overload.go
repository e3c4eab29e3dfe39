package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// save asks the throttle how much the cells have to save from the next tick on. It rests while the
// world is frozen, because the work then says nothing about the work afterwards.
func (a *CellApp) save(now time.Duration) {
	smoothed, raw := a.work()
	strain := a.feelStrain()
	work := smoothed
	smoothed, raw = max(smoothed, a.pressure, a.strain), max(raw, a.pressure, strain)
	start := int64(a.cfg.Space.Overload.Start * float64(load.Core))
	if a.population.Frozen() || !a.throttle.Tick(now, raw, smoothed, max(work, a.pressure) < start) {
		return
	}
	t := a.throttle.Degradation()
	a.population.SetDegradation(t)
	a.log.Warn("overload: the CellApp changes how much it saves", "load", inCores(smoothed), "work", inCores(work), "backlog", inCores(a.pressure),
		"late", inCores(a.strain), "step", a.throttle.Step(), "of", a.throttle.Steps(),
		"client_budget", t.Budget, "detail", t.Detail, "rate_wanted", t.Rate)
}

// inCores is a load as a part of a core.
func inCores(ns int64) float64 { return float64(ns) / float64(load.Core) }

// feelStrain returns the load that late ticks count as: the time from when the last tick was due
// until it ended, as a part of the period. Nothing else shows that a machine is overcommitted,
// because a process that waits for a processor does no work: in an arena of 900 players on two
// cores a third of the ticks were late while loads were one half. A single pause counts as
// maxStrain for one tick, however long it is.
func (a *CellApp) feelStrain() int64 {
	now := int64(float64(load.Core) * min(maxStrain, float64(a.ticks.Span())/float64(a.cfg.Tick)))
	a.strain += (now - a.strain) / strainTicks
	return now
}

const (
	// maxStrain is the most load that one late tick counts as.
	maxStrain = 2
	// strainTicks is the number of ticks over which the strain is smoothed: about a second.
	strainTicks = 10
)

// feelBacklog returns the load that a slow BaseApp counts as, one that does not keep up with the
// data for its players. It begins at Overload.Start when the channel is at High as a tick begins.
// The remedy is the same as for load: do less. A slow CellApp does not count, since only its ghosts
// fall behind, and that is no reason to tell players less.
func (a *CellApp) feelBacklog() (most int64) {
	if a.links.Worst().Level() == mercury.Free {
		return 0
	}
	start := a.cfg.Space.Overload.Start * float64(load.Core)
	a.population.Bases(func(app mercury.Address) {
		if bytes, limit := a.links.Waiting(app); mercury.LevelOf(bytes, limit) != mercury.Free {
			most = max(most, int64(start*float64(bytes)/float64(mercury.HighMark(limit))))
		}
	})
	return most
}

// work is the load of all cells together with the work for no cell, in nanoseconds of work per
// second; raw is that of the last tick alone.
func (a *CellApp) work() (smoothed, raw int64) {
	for _, c := range a.cells {
		s, r := c.Work()
		smoothed, raw = smoothed+s, raw+r
	}
	if a.cfg.Space.ArtificialLoad == 0 {
		smoothed, raw = smoothed+a.own.Load(), raw+a.own.Raw()
	}
	return smoothed, raw
}

// averageWork is the mean load of the cells, without the work for no cell.
func (a *CellApp) averageWork() (average int64) {
	for _, c := range a.cells {
		work, _ := c.Work()
		average += work
	}
	return average / int64(max(1, len(a.cells)))
}

// wantedRate is how fast the space of a cell should run. A cell with less than half of the average
// load keeps its rate, since to slow it would help nobody. The other cells have at least half of
// the whole load.
func (a *CellApp) wantedRate(c *hostedCell, average int64) uint16 {
	if work, _ := c.Work(); work < average/2 {
		return gametime.NormalRate
	}
	return a.throttle.Degradation().Rate
}

// spaceRate takes the manager's word on how fast the game time of a space runs.
func (a *CellApp) spaceRate(from sender, m *wire.SpaceRate) {
	if c := a.cell(m.Space); c != nil {
		c.SetClock(m.Clock, a.clusterTime(from.now))
	}
}
