package baseappmgr

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/call"
	"github.com/cellscape/cellscape/migrate"
)

// account is an account that has a proxy, or for which one is being made.
//
//	                       Proxies -----+
//	                                    v
//	CreateProxy --> asked --ProxyMade--> made --ProxyGone--> (free)
//	                  |                      | ^
//	                  |                      +-+ Relogin, one at a time
//	                  +--refused, ReserveTimeout, the BaseApp is gone, or back without it--> (free)
//
// A login to an account that has a proxy is for the proxy's BaseApp to decide. If that answers that
// the proxy is gone, the account is free, and another proxy is made.
//
// A BaseApp that is to load what an account plays may find that an entity has it, which may be an
// old proxy that has given its client away. Then that is asked as a proxy is (askHolder) and, if it
// is none, the BaseApp is asked again and waits for the row.
type account struct {
	name string
	app  *knownApp
	made bool
	id   entity.ID // of the proxy, when made
	life uint32    // the newest known of the proxy
	// origin names the login by the base that it made, or by a new id if it came back to one that
	// was there; turn is how often the account was handed on since.
	origin entity.ID
	turn   uint32
	from   migrate.Leave // the departure that it went with, while it is expected of the heir; see heirs.go
	// relogin is true while the BaseApp is asked whether another client may have the proxy.
	relogin bool
	// doubted says that its BaseApp has joined again, and has not told of the proxy since.
	doubted bool
}

// onCreateProxy asks a BaseApp for a proxy, or refuses.
func (m *BaseAppMgr) onCreateProxy(from sender, c *wire.CreateProxy) {
	m.haveMade(from.now, from.ch, c, false)
}

// haveMade asks a BaseApp for a proxy, or refuses. With wait the BaseApp waits for a row that
// another entity has.
func (m *BaseAppMgr) haveMade(now time.Duration, asker mercury.ChannelID, c *wire.CreateProxy, wait bool) {
	if code := m.createProxy(now, asker, c, wait); code != 0 {
		m.refuseProxy(asker, c.Request, code)
	}
}

func (m *BaseAppMgr) createProxy(now time.Duration, asker mercury.ChannelID, c *wire.CreateProxy, wait bool) protocol.Code {
	switch old := m.accounts[c.Account]; {
	case m.closing():
		return protocol.ServerClosing
	case m.links.Asked() >= MaxPending:
		return protocol.ServerBusy
	case old == nil && !m.allTold():
		return m.await(now, asker, c)
	case old != nil && old.made && !old.relogin && old.from == (migrate.Leave{}) && !old.app.away:
		return m.relogin(old, asker, c)
	case old != nil, len(m.accounts) >= MaxAccounts:
		return protocol.ServerBusy
	}
	if c.Back {
		return protocol.WorldFull
	}
	on, code := m.roomFor(now, asker, c)
	if code != 0 {
		return code
	}
	a, login := &account{name: c.Account}, *c
	login.Data = slices.Clone(c.Data)
	if _, err := app.Ask(&m.links, on.ch, ReserveTimeout, &wire.MakeProxy{Account: c.Account, Plays: c.Plays, Wait: wait}, func(now time.Duration, p *wire.ProxyMade, err error) {
		if err == nil && p.Code == uint8(protocol.AlreadyLoggedIn) && p.ID != 0 && !wait {
			m.askHolder(now, a, asker, &login, p.ID)
			return
		}
		m.proxyMade(a, asker, login.Request, p, err)
	}); err != nil {
		return protocol.ServerBusy
	}
	m.place(a, on)
	return 0
}

// place notes on which BaseApp an account gets its proxy.
func (m *BaseAppMgr) place(a *account, on *knownApp) {
	a.app = on
	m.accounts[a.name] = a
	on.proxies++
	on.placed++
}

// askHolder asks for the entity that has the row of what an account plays, for another client.
func (m *BaseAppMgr) askHolder(now time.Duration, a *account, asker mercury.ChannelID, login *wire.CreateProxy, holder entity.ID) {
	m.free(a)
	on := getApp(m.baseApps, m.roster.Home(holder).App)
	if on == nil || on.away || m.accounts[a.name] != nil {
		m.haveMade(now, asker, login, true)
		return
	}
	_, err := app.Ask(&m.links, on.ch, ReloginTimeout, &wire.Relogin{Account: a.name, Holder: holder, Plays: login.Plays}, func(now time.Duration, p *wire.ProxyMade, err error) {
		if err == nil && p.Code == uint8(protocol.Destroyed) {
			m.free(a)
			m.haveMade(now, asker, login, true)
			return
		}
		m.proxyMade(a, asker, login.Request, p, err)
	})
	if err != nil {
		m.refuseProxy(asker, login.Request, protocol.ServerBusy)
		return
	}
	m.place(a, on)
}

// relogin asks the BaseApp of an account's proxy whether another client may have it.
func (m *BaseAppMgr) relogin(a *account, asker mercury.ChannelID, c *wire.CreateProxy) protocol.Code {
	login, on := *c, a.app
	login.Data = slices.Clone(c.Data)
	_, err := app.Ask(&m.links, a.app.ch, ReloginTimeout, &wire.Relogin{Account: a.name}, func(now time.Duration, p *wire.ProxyMade, err error) {
		a.relogin = false
		switch {
		case err != nil:
			m.log.Warn("a BaseApp does not answer a second login", "at", a.app.at, "account", a.name, "error", err)
			m.refuseProxy(asker, login.Request, protocol.ServerBusy)
		case a.app != on: // it has gone to another app meanwhile, which must know of the login
			m.refuseProxy(asker, login.Request, protocol.ServerBusy)
		case p.Code == uint8(protocol.Destroyed):
			m.free(a) // it says so itself, unless that was lost
			m.haveMade(now, asker, &login, false)
		case p.Code != 0:
			m.passOn(asker, login.Request, p)
		default:
			a.id = p.ID
			m.passOn(asker, login.Request, p)
		}
	})
	if err != nil {
		return protocol.ServerBusy
	}
	a.relogin = true
	return 0
}

// proxyMade notes what became of the question to a BaseApp, and passes it on. A LoginApp that has
// waited for too long, or is gone, has no client to tell.
func (m *BaseAppMgr) proxyMade(a *account, asker mercury.ChannelID, request uint64, p *wire.ProxyMade, err error) {
	switch {
	case a.made:
	case err != nil && !errors.Is(err, call.ErrTimeout):
		a.doubted = true // the channel has ended: it may be there all the same, and the BaseApp says so when it is back
	case err != nil || p.Code != 0:
		m.free(a)
	}
	if err != nil {
		m.log.Warn("a BaseApp does not make a proxy", "at", a.app.at, "account", a.name, "error", err)
		m.refuseProxy(asker, request, protocol.ServerBusy)
		return
	}
	if p.Code == 0 && !a.made { // else its BaseApp has said more of it already
		a.made, a.id, a.origin, a.turn = true, p.ID, p.ID, 0
	}
	m.passOn(asker, request, p)
}

// passOn answers a LoginApp with what a BaseApp has said. Whether there is room is not for a BaseApp to say.
func (m *BaseAppMgr) passOn(asker mercury.ChannelID, request uint64, p *wire.ProxyMade) {
	if p.Code == uint8(protocol.WorldFull) {
		m.refuseProxy(asker, request, protocol.ServerBusy)
		return
	}
	p.Request, p.Refusals = request, m.refusals(asker)
	m.links.Reply(asker, p)
}

func (m *BaseAppMgr) refuseProxy(asker mercury.ChannelID, request uint64, code protocol.Code) {
	if code != protocol.WorldFull { // one who waits asks again and again
		m.report.Refused++
	}
	m.links.Reply(asker, &wire.ProxyMade{Request: request, Code: uint8(code), Refusals: m.refusals(asker)})
}

// onProxyGone frees an account. A message about an older proxy of it changes nothing.
func (m *BaseAppMgr) onProxyGone(from sender, p *wire.ProxyGone) error {
	a := m.accounts[p.Account]
	switch {
	case getApp(m.baseApps, from.at).dropEarly(p): // it came there by a departure that is not known here yet
	case a == nil || !a.made || a.id != p.ID:
	case a.app.at != from.at:
		return errNotIts
	default:
		m.free(a)
	}
	return nil
}

// onProxies takes in the accounts whose proxies a BaseApp has when it joins, and those that a base
// there has taken over from another one. It has a proxy whose base it has; early.go tells what
// becomes of others.
func (m *BaseAppMgr) onProxies(from sender, p *wire.Proxies) {
	if !m.current(from) {
		return // it has told all anew since
	}
	on := getApp(m.baseApps, from.at)
	for _, e := range p.Entries {
		if m.has(on, e.ID) {
			m.takeProxy(on, &e)
		} else {
			m.keepEarly(from.now, on, &e)
		}
	}
}

// takeProxy takes the word of a BaseApp about a proxy that it has. Of two bases of one origin that
// of the later turn has the account, and the app of the other is told (Outdone). If a login has
// made a second proxy of an account, the one that is known stays, and only a person can say which
// to end.
func (m *BaseAppMgr) takeProxy(on *knownApp, e *wire.Proxy) {
	switch old := m.accounts[e.Account]; {
	case old == nil && len(m.accounts) >= MaxAccounts:
		m.log.Warn("too many accounts, a proxy is not counted", "account", e.Account, "at", on.at, "entity", e.ID)
	case old == nil:
		a := &account{name: e.Account, app: on, made: true}
		a.know(e)
		m.accounts[e.Account] = a
		on.proxies++
	case old.app == on: // its own BaseApp knows
		old.made, old.from, old.doubted = true, migrate.Leave{}, false
		old.know(e)
	case old.id == e.ID && e.Life < old.life: // it was there before it came to where it is
	case old.made && old.id == e.ID: // it has come there from an app that died
		old.move(on, e)
	case old.made && old.origin == e.Origin && old.turn < e.Turn:
		m.outdo(old.app, e)
		old.move(on, e)
	case old.made && old.origin == e.Origin && old.turn > e.Turn:
		m.outdo(on, &wire.Proxy{Account: e.Account, ID: old.id, Origin: old.origin, Turn: old.turn})
	default:
		m.log.Warn("an account has proxies on two BaseApps, the one known first counts",
			"account", e.Account, "known", old.app.at, "also", on.at, "entity", e.ID)
	}
}

// move takes the word of another BaseApp that it has the account's proxy now.
func (a *account) move(on *knownApp, e *wire.Proxy) {
	a.app.proxies--
	on.proxies++
	a.app, a.from, a.doubted = on, migrate.Leave{}, false
	a.know(e)
}

// know takes the word of the account's BaseApp about its proxy.
func (a *account) know(p *wire.Proxy) {
	a.id, a.life, a.origin, a.turn = p.ID, p.Life, p.Origin, p.Turn
}

// outdo tells a BaseApp that an account is another base's by now. If that is lost, it hears it at
// its next Join, and by the base that has the account.
func (m *BaseAppMgr) outdo(on *knownApp, by *wire.Proxy) {
	m.log.Info("two bases had an account, the one that took it later keeps it", "account", by.Account, "entity", by.ID, "turn", by.Turn, "not at", on.at)
	m.links.Reply(on.ch, &wire.Outdone{Account: by.Account, ID: by.ID, Origin: by.Origin, Turn: by.Turn})
}

// doubt marks the proxies of a BaseApp that has joined again until it has told of them: it may have told of
// their end over a channel that broke.
func (m *BaseAppMgr) doubt(on *knownApp) {
	// order does not show: each is marked
	for _, a := range m.accounts {
		if a.app == on && a.made && a.from == (migrate.Leave{}) {
			a.doubted = true
		}
	}
}

// freeDoubted frees the accounts of which a BaseApp that has told all has said nothing.
func (m *BaseAppMgr) freeDoubted(on *knownApp) {
	// order does not show: each is freed by itself
	for _, a := range m.accounts {
		if a.app == on && a.doubted {
			m.free(a)
		}
	}
}

// free forgets an account, if it is not forgotten.
func (m *BaseAppMgr) free(a *account) {
	if m.accounts[a.name] == a {
		a.app.proxies--
		a.app.placed--
		delete(m.accounts, a.name)
	}
}

// freeAll forgets the accounts and names of a BaseApp that is gone. The LoginApps that wait for it
// are told by the end of its channel. (One that no CellAppMgr had named kept its names for ever:
// nobody declares it dead.)
func (m *BaseAppMgr) freeAll(on *knownApp) (freed int) {
	before := len(m.accounts)
	// All of the app go, and nobody is told, so the order is no matter.
	maps.DeleteFunc(m.accounts, func(_ string, a *account) bool { return a.app == on })
	maps.DeleteFunc(m.names.held, func(_ string, h held) bool { return h.app == on.at })
	return before - len(m.accounts)
}
