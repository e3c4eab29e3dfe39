package baseappmgr

import (
	"maps"
	"slices"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// The accounts and names of a BaseApp that dies go with its bases to the apps that restore them:
//
//	had by the dead --verdict--> expected of the heir --Proxies, Names--> had by the heir
//	                                   |
//	                                   +-- Inherited: it came there without --> (free)
//
// Verdict and heirs may come in any order. An heir that has said Inherited before the verdict came here has
// already told what it has, so nothing more is expected of it. While an account or a name is expected,
// nobody else gets it.

// expect moves what the bases of a dead app have to their heirs.
func (m *BaseAppMgr) expect(dead mercury.Address) {
	// order does not show: each account moves or goes by itself
	for _, a := range m.accounts {
		if a.app.at != dead || !a.made {
			continue
		}
		heir, ok := m.departures.Heir(dead, a.id)
		on := getApp(m.baseApps, heir)
		if !ok || on == nil || slices.Contains(on.inherited, dead) {
			continue // freeAll frees it
		}
		a.app.proxies--
		on.proxies++
		a.app, a.from = on, dead
	}
	maps.DeleteFunc(m.names.held, func(_ string, h held) bool {
		if h.app != dead {
			return false
		}
		heir, ok := m.departures.Heir(dead, h.id)
		on := getApp(m.baseApps, heir)
		return !ok || on == nil || slices.Contains(on.inherited, dead)
	})
	// order does not show: each name moves by itself
	for name, h := range m.names.held {
		if h.app == dead {
			h.app, _ = m.departures.Heir(dead, h.id)
			h.from = dead
			m.names.held[name] = h
		}
	}
}

// onInherited frees what was expected of an heir, and did not come there.
func (m *BaseAppMgr) onInherited(from sender, i *wire.Inherited) {
	on := getApp(m.baseApps, from.at)
	if on == nil || on.ch != from.ch {
		return
	}
	if !slices.Contains(on.inherited, i.App) && len(on.inherited) < wire.MaxGraves {
		on.inherited = append(on.inherited, i.App)
	}
	// order does not show: each is freed by itself
	for _, a := range m.accounts {
		if a.app == on && a.from == i.App {
			m.free(a)
		}
	}
	maps.DeleteFunc(m.names.held, func(_ string, h held) bool { return h.app == on.at && h.from == i.App })
}
