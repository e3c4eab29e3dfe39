package baseapp

import (
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// # The death of a BaseApp
//
// The verdict carries the rule by which the bases of the dead app were held, so every app knows where each
// of them goes on. Nobody can be told before its heir has it: what comes too early comes again. The heir
// begins the next life of each base from its copy:
//
//	properties, timers, two-way calls, names   as in the copy
//	what others sent since                     comes again, since it was not settled
//	what others called of its client since     comes again, too: the client may hear it twice, and misses nothing
//	what the base did of itself since          is undone, and may be done again: see entity.Base.Backup
//	what it had asked managers for             is answered as forgotten
//	the cell part                              lives on, and shows itself by its title; else it is made
//	                                           again from the copy that the base's copy has
//	the client                                 comes to the heir's doors by itself, with its token, and is told
//	                                           all properties of the base before anything of its next life
//	account and names                          stay taken until the heir says whether it has them
//
// A base of which no copy was confirmed is lost, with its cell part and its client's session.
//
// A base that was ending when its app died may come back from a copy that does not know. If its cell
// part has ended as well, which others know by then, the base ends here (goOnEnding): an entity is not
// half undone. (Players who were kicked were back at a base that had no cell part any more, and waited
// there for a world.) If its cell part lives on, so does the base, and the end is undone.
//
// A cell part that is made again does not say again what its base has handled of the former one. So
// that is in a confirmed copy of the base first (heard.go): a CellApp and a BaseApp may die one
// after the other.

// When a BaseApp dies, others bring its bases back. Which one has which follows from the verdict and the id
// (app.Roster.Home), so every app knows at once, but not all hear the verdict at the same time: until this
// app has heard it, what it is told about bases that it will inherit is left to be said again.

// mine reports whether a base is to be here, if it is anywhere.
func (a *BaseApp) mine(id entity.ID) bool { return a.homeOf(id).App == a.net.Self() && !a.aside(id) }

// elsewhere reports whether a base is on another app, if it is anywhere.
func (a *BaseApp) elsewhere(id entity.ID) bool {
	h := a.homeOf(id).App
	return !h.IsZero() && (h != a.net.Self() || a.aside(id))
}

// tooEarly counts a message about a base of another app, which says it again if the base should be here
// soon.
func (a *BaseApp) tooEarly(what string, id entity.ID, from mercury.Address) {
	a.refused(what+" for a base of another app", "entity", id, "from", from)
}

// baseAppDead goes on with those who have inherited the bases of a BaseApp, and ends the calls to those
// that nobody has.
func (a *BaseApp) baseAppDead(m *wire.AppDead) {
	app := m.App
	if app == a.net.Self() {
		return // the app itself hears it by Dismissed
	}
	a.links.Bury(wire.BaseApp, app)
	a.roster.Remove(app)
	a.roster.Departed(m.Departure())
	for _, b := range a.list {
		b.requests.Each(func(id flow.RequestID, target entity.ID) {
			if h := a.homeOf(target); h.Role == wire.BaseApp && a.links.Dead(h.App) {
				b.fail(id, errBaseDead)
			}
		})
		b.seek()
	}
	a.rehome()
	if slices.Contains(a.goers, app) {
		a.log.Info("a BaseApp that was to leave is gone", "app", app)
	} else {
		a.log.Warn("a BaseApp is gone", "app", app)
	}
	a.goers = slices.DeleteFunc(a.goers, func(x mercury.Address) bool { return x == app })
	a.neighbours = slices.DeleteFunc(a.neighbours, func(n neighbour) bool { return n.app == app })
	a.holderDied(app)
	a.inherit()
	a.admitAwaited()
	a.tellInherited(migrate.Leave{App: app})
}

// basesMoved goes on with those who have taken over bases that another app gave away.
func (a *BaseApp) basesMoved(_ sender, m *wire.BasesMoved) {
	if m.App == a.net.Self() {
		return // the app itself hears it by Departed
	}
	a.roster.Departed(m.Departure())
	a.rehome()
	a.inherit()
	a.admitAwaited()
	a.tellInherited(migrate.Leave{App: m.App, Turn: m.Part.Turn})
}

// goOnEnding ends a base whose former life had its cell part destroyed because it was ending itself.
func (b *base) goOnEnding() {
	b.log.Info("the base ends, as its former life was about to", "account", b.account)
	b.Destroy()
}

// rehome goes on with the next lives of bases that are elsewhere now.
func (a *BaseApp) rehome() {
	for _, b := range a.list {
		for _, t := range b.talks {
			t.inherited()
		}
	}
	for _, t := range a.talking.active { // those of bases that are gone, too
		t.inherited()
	}
}

// tellInherited tells the BaseAppMgr which accounts and names have come here with bases that departed, and
// that this is all: what it believed to be here beside them is gone.
func (a *BaseApp) tellInherited(l migrate.Leave) {
	a.announce()
	a.announceNames()
	a.baseMgr.Send(&wire.Inherited{App: l.App, Turn: l.Turn})
}

// tellAllInherited is that for all deaths, to a manager that may not have heard it.
func (a *BaseApp) tellAllInherited() {
	a.roster.Departures().Each(func(d *migrate.Departure) { a.baseMgr.Send(&wire.Inherited{App: d.App, Turn: d.Part.Turn}) })
}

// inherited goes on with the next life of the other end, which may have handled nothing of what is kept.
func (t *talk) inherited() {
	if t.home.App.IsZero() || t.home.Role != wire.BaseApp {
		return
	}
	a := t.of.app
	heir := a.homeOf(t.id)
	if heir.App == t.home.App || a.links.Dead(heir.App) {
		return // see tick
	}
	t.home = heir
	t.out.Rewind(0)
	if !t.of.removed {
		t.in.Owe()
	}
	a.wake(t)
}
