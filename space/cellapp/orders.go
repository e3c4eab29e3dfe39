package cellapp

import (
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/ending"
)

// heeds reports whether to act on a message of the CellAppMgr. Orders count only after it has shown
// its term.
func (a *CellApp) heeds(id wire.ID) bool {
	switch id {
	case wire.WelcomeID, wire.RefusedID, wire.DismissedID:
		return true
	}
	return a.manager.Heeds()
}

// routeOrders registers the handlers of the CellAppMgr's messages.
func (a *CellApp) routeOrders() {
	r := &a.routes
	app.Try(r, a.welcome)
	app.On(r, func(from sender, m *wire.Refused) {
		a.log.Error("the CellAppMgr refuses this CellApp", "reason", m.Reason)
		a.manager.Refused(from.now, m.Reason)
	})
	app.Try(r, a.dismiss)
	app.On(r, a.appDied)
	app.On(r, func(_ sender, m *wire.BasesMoved) {
		a.roster.Departed(m.Departure())
		a.population.BasesMoved(m.App)
	})
	app.On(r, func(_ sender, m *wire.Members) { a.name(m) })
	app.On(r, func(_ sender, m *wire.Freeze) { a.population.Freeze(m.On) })
	app.On(r, a.takeStop)
	app.Try(r, a.addCell)
	app.Try(r, a.takeGeometry)
	app.On(r, func(_ sender, m *wire.RemoveCell) { a.removeCell(m) })
	app.On(r, func(_ sender, m *wire.CellGoing) { a.cellGoing(m) })
	app.On(r, func(from sender, m *wire.SpaceDestroyed) { a.links.Answered(from.now, from.ch, m) }) // one that comes late changes nothing
	app.On(r, func(sender, *wire.Retired) {
		a.retired = true
		a.log.Info("the CellApp has retired")
	})
	app.On(r, a.spaceRate)
	app.On(r, func(_ sender, m *wire.Look) { a.looks.Take(m) })
	app.On(r, func(_ sender, m *wire.SpaceDataSet) { a.shared.Answered(m) })
	app.On(r, func(_ sender, m *wire.Located) { a.population.Located(m.ID, m.Space, m.App, m.Gone) })
	app.On(r, func(_ sender, m *wire.LocatedArea) { a.population.LocatedArea(m.Gateway, m.Space, m.Apps) })
	app.RouteWatches(r, &a.links, &a.watches, func(from sender) mercury.ChannelID { return from.ch })
	app.Try(r, func(_ sender, m *wire.SharedData) error { return a.shared.TakeAll(m) })
	app.Try(r, func(_ sender, m *wire.SpaceData) error {
		if m.Space == 0 {
			return a.shared.Take(m.Entry)
		}
		if c := a.cell(m.Space); c != nil {
			c.TakeData(m.Entry)
		}
		return nil
	})
}

func (a *CellApp) welcome(from sender, m *wire.Welcome) error {
	if !a.manager.Welcomed(from.now, m) {
		return errOutdated
	}
	a.number = m.Number
	a.said.SayLate()
	a.sayAll()
	if a.retire {
		a.Retire(a.reason)
	}
	if a.alloc != nil {
		a.hearTime(from.now, m.GameTime)
		return nil // joined again, or news of the BaseAppMgr or of the time: keep the ids
	}
	alloc, err := app.NewAllocator(m.Allocator)
	if err != nil {
		return err
	}
	a.alloc = alloc
	a.shared.Expect()
	a.shift = m.GameTime - from.now
	a.log.Info("CellApp joined", "number", m.Number, "term", m.Term)
	return nil
}

func (a *CellApp) dismiss(_ sender, m *wire.Dismissed) error {
	if a.manager.Outdated(m.Term) {
		return errOutdated
	}
	a.log.Warn("declared dead while only slow: the CellApp drops all entities and starts again")
	a.dismissed = true
	a.seal(ending.Dismissed)
	a.cells, a.removals, a.jobs = nil, removals{}, nil
	a.population = a.newPopulation()
	return nil
}

func (a *CellApp) appDied(_ sender, m *wire.AppDead) {
	if m.App == a.cfg.Transport.Self() {
		return // an app itself hears it by Dismissed
	}
	a.unhold()
	a.links.Bury(m.Role, m.App)
	a.roster.Remove(m.App)
	a.log.Info("app is gone", "role", m.Role.String(), "app", m.App.String())
	a.removals.mourn(m.App)
	switch m.Role {
	case wire.CellApp:
		a.population.CellAppDied(m.App)
		a.mourn(m.App)
	case wire.BaseApp:
		a.roster.Departed(m.Departure()) // from now on its bases are elsewhere
		a.population.BasesMoved(m.App)
	}
}
