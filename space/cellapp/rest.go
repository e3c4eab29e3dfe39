package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/wire"
)

// A CellApp without entities has nothing to do but to report. It leaves out the ticks in between, and
// the turns for its neighbours:
//
//	          atRest, at the end of a tick
//	(ticks) -------------------------------> resting until the next report
//	   ^                                        |
//	   +----------------------------------------+
//	     whatever comes, after what the last tick that was left out would have done; or the report
//
// So what comes finds the app as it would be without a rest: no clock in it stands still.

// restLoad is the load below which there is a rest. Meters are smoothed tick by tick, and a load that
// was there goes as fast as ever: the balance acts on it.
const restLoad = load.Core / 50

// rest returns when the next tick is due after one that has ended.
func (a *CellApp) rest(now time.Duration) (next time.Duration) {
	if !a.atRest() {
		return a.nextTurn(now)
	}
	return a.ticks.Rest(min(a.reportAt, a.statReports.Next()))
}

// atRest reports whether there is nothing that a tick could go on with.
func (a *CellApp) atRest() bool {
	for _, c := range a.cells {
		if _, lacks := c.geometry.Lacks(); lacks {
			return false
		}
	}
	step, _ := a.manager.Stopping()
	waiting := len(a.jobs) + len(a.shelved) + len(a.broken) + len(a.removals.own) + len(a.removals.going) +
		a.said.Waiting() + a.endings.Open() + a.door.Waiting()
	return waiting == 0 && step == wire.StopNone && !a.retire && a.manager.Heeds() && a.links.Idle() &&
		a.unburdened() && a.population.AtRest()
}

// unburdened reports whether the app has hardly any load, and does not save.
func (a *CellApp) unburdened() bool {
	smoothed, _ := a.work()
	return smoothed < restLoad && a.pressure == 0 && a.strain < load.Core/2 && a.throttle.Step() == 0
}

// wake ends a rest, since something has come.
func (a *CellApp) wake(now time.Duration) {
	if !a.ticks.Resting() {
		return
	}
	if last := a.ticks.Wake(now); last > 0 {
		a.watch.Enter(&a.own)
		a.links.Tick(last)
		a.tickCells(last)
		a.watch.Leave()
	}
	a.next = a.nextTurn(now)
}

// NextTick is when the next tick is due, or the next turn: at once, if the game has given a CellApp at
// rest something to do from outside.
func (a *CellApp) NextTick() time.Duration {
	if a.disturbed() {
		return 0
	}
	return a.next
}

// disturbed reports whether there is something to do in a rest.
func (a *CellApp) disturbed() bool { return a.ticks.Resting() && !a.atRest() }
