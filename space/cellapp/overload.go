package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// save asks the throttle how sparing the cells have to be from the next tick on. In a
// frozen world it rests: what is told then is no measure of what will be done after.
func (a *CellApp) save(now time.Duration) {
	smoothed, raw := a.work()
	strain := a.feelStrain()
	smoothed, raw = max(smoothed, a.pressure, a.strain), max(raw, a.pressure, strain)
	if a.population.Frozen() || !a.throttle.Tick(now, raw, smoothed) {
		return
	}
	t := a.throttle.Thrift()
	a.population.SetThrift(t)
	a.log.Warn("the CellApp changes what it saves", "load", float64(smoothed)/float64(load.Core), "step", a.throttle.Step(), "of", a.throttle.Steps(),
		"client_budget", t.Budget, "detail", t.Detail, "rate_wanted", t.Rate)
}

// feelStrain is how much load it counts as that ticks end late: the part of a period
// from when the last one was due until it ended. A machine that is shared by too much
// shows nowhere else, since a process does not work while it waits for a processor: an
// arena of 900 players on two cores had a third of the ticks late, and loads of one half.
// One pause, however long, counts as maxStrain for one tick.
func (a *CellApp) feelStrain() int64 {
	now := int64(float64(load.Core) * min(maxStrain, float64(a.ticks.Span())/float64(a.cfg.Tick)))
	a.strain += (now - a.strain) / strainTicks
	return now
}

const (
	// maxStrain is the load that one late tick counts as at most.
	maxStrain = 2
	// strainTicks is over how many ticks the strain is smoothed: about a second.
	strainTicks = 10
)

// feelBacklog is how much load it counts as that a BaseApp does not keep up with what its
// players are sent: from Overload.Start on where the way to it is High when a tick
// begins. What helps is the same, to do less. A CellApp that does not keep up is no
// such load: its ghosts are left behind, and no player is told less for that.
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

// work is the load of all cells and what the CellApp does for none, in nanoseconds of
// work a second; raw is that of the last tick.
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

// averageWork is the mean load of the cells, without what the CellApp does for none.
func (a *CellApp) averageWork() (average int64) {
	for _, c := range a.cells {
		work, _ := c.Work()
		average += work
	}
	return average / int64(max(1, len(a.cells)))
}

// wantedRate is how fast the space of a cell is to run. A cell with less than half of
// the average load is left alone: to slow its space would help nobody. The others
// have at least half of the load of all cells.
func (a *CellApp) wantedRate(c *hostedCell, average int64) uint16 {
	if work, _ := c.Work(); work < average/2 {
		return gametime.NormalRate
	}
	return a.throttle.Thrift().Rate
}

// spaceRate takes how fast the game time of a space runs.
func (a *CellApp) spaceRate(from sender, m *wire.SpaceRate) {
	if c := a.cell(m.Space); c != nil {
		c.SetClock(m.Clock, a.clusterTime(from.now))
	}
}
