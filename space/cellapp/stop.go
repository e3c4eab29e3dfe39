package cellapp

import (
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/ending"
)

// The steps of the stop of the world, as a CellApp takes them; package cellappmgr draws them.
//
//	closing  nothing changes
//	paused   frozen: no timers, controllers and offloads; moves of clients are not taken. Calls are.
//	held     no script is called; cell parts are backed up as their bases ask for it
//	saved    the same; nobody's death matters
//	ended    the process ends
//
// A verdict of death in held is that the world goes back to paused; the manager says so, too.

// shelved is the result of a job that waits.
type shelved struct {
	token  uint64
	result any
}

// takeStop takes an order about the stop of the world.
func (a *CellApp) takeStop(from sender, m *wire.Stop) {
	if !a.manager.TakeStop(m) {
		return
	}
	if m.Step >= wire.StopPaused && !a.population.Frozen() {
		a.log.Warn("the world is being stopped", "reason", m.Reason)
		a.population.Freeze(true)
	}
	if m.Step < wire.StopHeld {
		a.unhold()
	} else {
		a.population.Hold(true)
	}
	if m.Step == wire.StopEnded {
		a.seal(ending.Stopped)
	}
	a.sayStop()
}

// sayStop answers the manager.
func (a *CellApp) sayStop() {
	var m wire.StopState
	switch step, _ := a.manager.Stopping(); step {
	case wire.StopPaused:
		m.Pending = a.population.Pending() + uint64(len(a.jobs))
		m.Activity = a.counters.FlowSent + a.counters.FlowHandled + a.counters.Migrations
		if n := len(a.jobs); n > 0 {
			m.AddLeft("%d jobs", n)
		}
		a.population.NameUnsettled(m.AddLeft)
	}
	a.manager.SayStop(&m)
}

// unhold lets scripts be called again.
func (a *CellApp) unhold() {
	if !a.population.Held() {
		return
	}
	a.population.Hold(false)
	list := a.shelved
	a.shelved = nil
	for _, s := range list {
		a.JobDone(0, s.token, s.result)
	}
}

// unheardInStop reports whether a message is left for the sender to say again, or for nobody, since
// the world stands still.
func (a *CellApp) unheardInStop(id wire.ID) bool {
	switch id {
	case wire.ClientMoveID, wire.SteerID:
		step, _ := a.manager.Stopping()
		return step >= wire.StopPaused
	case wire.CreateID, wire.LocatedID:
		return a.population.Held()
	}
	return false
}

// Stopping is what the runner calls before it ends the process in order.
func (a *CellApp) Stopping() { a.seal(ending.Stopped) }

// seal tells the game that all cells here end. They are not ticked after that.
func (a *CellApp) seal(why ending.Why) {
	for _, c := range a.cells {
		c.Seal(why)
	}
}

// Ended reports whether the world was stopped, and the process can end. One that was declared dead meanwhile
// ends, too, since nobody lets it in any more.
func (a *CellApp) Ended() bool {
	step, _ := a.manager.Stopping()
	return step == wire.StopEnded || a.dismissed && step > wire.StopNone
}
