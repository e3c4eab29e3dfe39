package baseapp

import "time"

// A BaseApp without bases and clients has nothing to do but to say that it is there. It leaves out the
// ticks in between:
//
//	          idle, at the end of a tick
//	(ticks) ------------------------------> resting until there is something to say
//	   ^                                       |
//	   +---------------------------------------+
//	     whatever comes, with the clocks as the last tick that was left out would have set them; or
//	     something is to be said

// rest returns when the next tick is due after one that has ended.
func (a *BaseApp) rest() (next time.Duration) {
	if !a.idle() {
		return a.ticks.Next()
	}
	until := min(a.aliveAt, a.reports.Next())
	if k := &a.copying; k.period > 0 {
		until = min(until, k.cycleAt+k.period)
	}
	return a.ticks.Rest(until)
}

// idle reports whether there is nothing that a tick could go on with.
func (a *BaseApp) idle() bool {
	return a.empty() && a.settled() && a.ids != nil && a.links.Idle() &&
		a.cellMgr.Heeds() && a.baseMgr.Open() && (!a.stores || a.dbApp.Open()) &&
		!a.dismissed && !a.frozen && !a.paused && !a.held
}

// empty reports whether there are neither bases nor clients here, and nothing of those that were.
func (a *BaseApp) empty() bool {
	t := &a.talking
	bases := len(a.list) + len(a.byID) + len(a.broken) + len(a.stubs.list) + len(a.made.order) + len(a.ensures)
	clients := len(a.clients) + len(a.silent) + len(a.awaited) + len(a.loggingIn) + len(a.sendings.order) + len(a.downloads.open)
	talks := len(t.active) + len(t.aging) + len(t.local) + len(t.gone)
	return bases+clients+talks == 0
}

// settled reports whether all has been asked for, told and kept.
func (a *BaseApp) settled() bool {
	asked := a.spaces.Open() + a.endings.Open() + a.asks.Open() + a.storeAsks.Open() + a.said.Waiting() + a.door.Waiting()
	stored := len(a.storing.queue) + len(a.storing.loads)
	moves := len(a.moving.accounts) + int(a.moving.order.Bases)
	return asked+stored+moves+len(a.mournings)+len(a.copying.soon) == 0 &&
		a.leave.state == leaveNone && a.moving.state == moveNone && a.ruleKnown()
}

// ruleKnown reports whether all know by what rule the copies of bases are held.
func (a *BaseApp) ruleKnown() bool {
	r := &a.copying.ruling
	switch {
	case a.copying.period == 0:
		return true
	case r.state != ruleSettled || r.seen != a.roster.Changes():
		return false
	}
	return r.newest().Version == 0 || r.manager && a.allHeard()
}

// rouse ends a rest, since something has come.
func (a *BaseApp) rouse(now time.Duration) {
	if last := a.ticks.Wake(now); last > 0 {
		a.links.Tick(last)
		a.game += last - a.gameAt
		a.gameAt = last
	}
}

// NextTick is when the next Tick is due: at once, if the game has given a BaseApp at rest something to
// do from outside.
func (a *BaseApp) NextTick() time.Duration {
	if a.disturbed() {
		return 0
	}
	return a.ticks.Next()
}

// disturbed reports whether there is something to do in a rest.
func (a *BaseApp) disturbed() bool { return a.ticks.Resting() && !a.idle() }
