package baseappmgr

import (
	"maps"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// The accounts and names of a BaseApp that dies, or gives bases away, go with the bases to the apps
// that restore them:
//
//	had by the app  --verdict--> expected of the heir --Proxies, Names--> had by the heir
//	                                   |
//	                                   +-- Inherited: it came there without --> (free)
//
// Verdict and heirs may come in any order. An heir that has said Inherited before the verdict came here has
// already told what it has, so nothing more is expected of it. While an account or a name is expected,
// nobody else gets it.
//
// What an app had that has told this manager nothing is not known, so it cannot be expected:
//
//	departure, with heirs, of an app that has not told all --> untold --each BaseApp has said Inherited--> (all is known)
//
// Meanwhile no name and no account that seems free is given away: an heir may have yet to hear of
// the departure.

// maxInherited bounds the departures of which an heir has told all: as many as are remembered.
const maxInherited = wire.MaxGraves + migrate.MaxMoves

// depart notes a departure.
func (m *BaseAppMgr) depart(d migrate.Departure) {
	m.roster.Departed(d)
	m.forgetUntold()
	if l := d.Leave(); len(d.Rule.List) > 0 && !m.hasToldAll(d.App) { // else nobody had copies, or what it had is known
		m.untold[l] = true
		m.settleUntold(l)
	}
	m.admitEarly()
	m.expect(m.roster.Departures().Find(d.Leave()))
}

// hasToldAll reports whether it is known what a BaseApp has: it has told its own, and what came to
// it with the departures of those that had not.
func (m *BaseAppMgr) hasToldAll(at mercury.Address) bool {
	a := getApp(m.baseApps, at)
	if a == nil || !a.told {
		return false
	}
	// order does not show: it asks whether all are so
	for l := range m.untold {
		if l.App != at && !a.inherited[l] {
			return false
		}
	}
	return true
}

// settleUntold forgets a departure of which each BaseApp of the cluster has told all. That from
// which the bases have gone has nothing to tell of it.
func (m *BaseAppMgr) settleUntold(l migrate.Leave) {
	for _, at := range m.members {
		if a := getApp(m.baseApps, at); at != l.App && (a == nil || !a.inherited[l]) {
			return
		}
	}
	delete(m.untold, l)
}

// forgetUntold lets those go that are so long ago that no app remembers them: nobody would tell of
// them, and names would wait for ever.
func (m *BaseAppMgr) forgetUntold() {
	maps.DeleteFunc(m.untold, func(l migrate.Leave, _ bool) bool { return m.roster.Departures().Find(l) == nil })
}

// heir is who has a base that was on an app before a departure, false if nobody has. It is not
// always whom that names: what came to the app lately may go on from where it was before.
func (m *BaseAppMgr) heir(gone *migrate.Departure, id entity.ID) (heir *knownApp, ok bool) {
	home := m.roster.Home(id)
	if home.Role != wire.BaseApp { // its issuer is not known
		home.App, ok = m.roster.Departures().HeirOf(gone, id)
		if !ok {
			return nil, false
		}
	}
	heir = getApp(m.baseApps, home.App)
	nobody := heir == nil || gone.Part.Turn == 0 && home.App == gone.App
	return heir, !nobody
}

// expect moves what the bases that went with a departure have to their heirs.
func (m *BaseAppMgr) expect(gone *migrate.Departure) {
	whole, leave := gone.Part.Turn == 0, gone.Leave()
	// order does not show: each account moves or goes by itself
	for _, a := range m.accounts {
		if a.app.at != gone.App || !a.made || !gone.Takes(a.id) {
			continue
		}
		on, ok := m.heir(gone, a.id)
		switch {
		case ok && on == a.app: // it is back
		case ok && !on.inherited[leave]:
			a.app.proxies--
			on.proxies++
			a.app, a.from = on, leave
		case !whole:
			m.free(a)
		} // else freeAll frees it
	}
	// order does not show: each name moves or goes by itself
	for name, h := range m.names.held {
		if h.app != gone.App || !gone.Takes(h.id) {
			continue
		}
		switch on, ok := m.heir(gone, h.id); {
		case ok && on.at == h.app: // it is back
		case ok && !on.inherited[leave]:
			h.app, h.from = on.at, leave
			m.names.held[name] = h
		default:
			delete(m.names.held, name)
		}
	}
}

// onInherited frees what was expected of an heir, and did not come there.
func (m *BaseAppMgr) onInherited(from sender, i *wire.Inherited) {
	on := getApp(m.baseApps, from.at)
	if on == nil || on.ch != from.ch {
		return
	}
	leave := migrate.Leave{App: i.App, Turn: i.Turn}
	if len(on.inherited) < maxInherited {
		on.inherited[leave] = true
	}
	m.settleUntold(leave)
	// order does not show: each is freed by itself
	for _, a := range m.accounts {
		if a.app == on && a.from == leave {
			m.free(a)
		}
	}
	maps.DeleteFunc(m.names.held, func(_ string, h held) bool { return h.app == on.at && h.from == leave })
}
