package baseappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// A BaseApp speaks for the bases that it has, as the manager finds them by what the CellAppMgr has
// told (app.Roster.Home). An heir may have heard of a departure before the manager, and tells at
// once what came to it. Such a word waits until the manager knows as much:
//
//	            it has the base                   the base's home is that BaseApp
//	Proxies ---------------------> taken <----------------------------------------- early
//	   |                                                                            |  |
//	   +----------- another has the base -------------------------------------------+  |
//	                                  dropped <--- ProxyGone, another channel, earlyTime, maxEarly
//
// A lie waits as well, and changes nothing.

const (
	// earlyTime is how long a word about a base waits for the departure by which the base has come
	// there: longer than the CellAppMgr takes to tell it after a broken channel, or than the next
	// one takes to lead.
	earlyTime = time.Minute

	// maxEarly bounds what waits of one BaseApp: all the proxies of another one that it inherits.
	maxEarly = 10_000
)

// early is a word about a proxy that waits.
type early struct {
	wire.Proxy
	until time.Duration
}

// has reports whether a BaseApp has a base, as far as is known. For one whose issuer is not known
// anyone may speak.
func (m *BaseAppMgr) has(on *knownApp, id entity.ID) bool {
	home := m.roster.Home(id)
	return home.App.IsZero() || home.App == on.at
}

func (m *BaseAppMgr) keepEarly(now time.Duration, on *knownApp, e *wire.Proxy) {
	if len(on.early) >= maxEarly {
		m.drop(now, on.at, errNotIts)
		return
	}
	on.early = append(on.early, early{*e, now + earlyTime})
}

// admitEarly takes what has waited for the departure that has just become known.
func (m *BaseAppMgr) admitEarly() {
	for _, on := range m.baseApps {
		on.early = slices.DeleteFunc(on.early, func(e early) bool {
			has := m.has(on, e.ID)
			if has && !m.outdated(on, &e.Proxy) {
				m.takeProxy(on, &e.Proxy)
			}
			return has
		})
	}
}

// outdated reports whether a BaseApp has told more of an account since a word of its that has waited.
func (m *BaseAppMgr) outdated(on *knownApp, e *wire.Proxy) bool {
	a := m.accounts[e.Account]
	return a != nil && a.app == on && a.origin == e.Origin && (a.turn > e.Turn || a.id == e.ID && a.life > e.Life)
}

// expireEarly drops what has waited for too long, and counts it.
func (m *BaseAppMgr) expireEarly(now time.Duration) {
	for _, on := range m.baseApps {
		for len(on.early) > 0 && now >= on.early[0].until {
			on.early = slices.Delete(on.early, 0, 1)
			m.drop(now, on.at, errNotIts)
		}
	}
}

// dropEarly forgets what has waited of a proxy that has ended, and reports whether there was anything.
func (a *knownApp) dropEarly(p *wire.ProxyGone) bool {
	before := len(a.early)
	a.early = slices.DeleteFunc(a.early, func(e early) bool { return e.ID == p.ID && e.Account == p.Account })
	return len(a.early) < before
}
