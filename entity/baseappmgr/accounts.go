package baseappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// account is an account that has a proxy, or for which one is being made.
//
//	                         Proxies -----+
//	                                      v
//	CreateProxy --> asked --ProxyMade--> made --ProxyGone--> (free)
//	                  |                   ^
//	        AnswerTimeout            ProxyMade, late
//	                  v                   |
//	              overdue ----------------+--ReserveTimeout--> (free)
type account struct {
	name  string
	state state
	app   *knownApp
	id    entity.ID // of the proxy, when made
	// asker is the LoginApp that waits while asked; request is its number of the request.
	asker   mercury.ChannelID
	request uint64
}

type state uint8

const (
	asked   state = iota // the LoginApp waits
	overdue              // the LoginApp was told that the server is busy
	made
)

// accounts are looked up by name, and by the request number while their proxy is being made. What
// is sent follows the order of the queues, never that of a map.
type accounts struct {
	byName    map[string]*account
	byRequest map[uint64]*account
	last      uint64 // request number
	pending   int    // accounts asked
	// waiting and reserved hold requests in the order in which they were made, which is that of
	// their timeouts; those that were answered are skipped.
	waiting, reserved []expiry
}

type expiry struct {
	at      time.Duration
	request uint64
}

func newAccounts() accounts {
	return accounts{byName: make(map[string]*account), byRequest: make(map[uint64]*account)}
}

// onCreateProxy answers a LoginApp, or asks a BaseApp.
func (m *BaseAppMgr) onCreateProxy(from sender, c *wire.CreateProxy) {
	if code := m.createProxy(from.now, from.ch, c); code != 0 {
		m.report.Refused++
		m.answer(from.ch, &wire.ProxyMade{Request: c.Request, Code: uint8(code)})
	}
}

func (m *BaseAppMgr) createProxy(now time.Duration, ch mercury.ChannelID, c *wire.CreateProxy) protocol.Code {
	t := &m.accounts
	if old := t.byName[c.Account]; old != nil {
		if old.state == overdue {
			return protocol.ServerBusy
		}
		return protocol.AlreadyLoggedIn
	}
	if t.pending >= MaxPending || len(t.byName) >= MaxAccounts {
		return protocol.ServerBusy
	}
	on := m.fewest()
	if on == nil {
		return protocol.NotReady
	}
	t.last++
	if err := m.links.Reply(on.ch, &wire.MakeProxy{Request: t.last, Account: c.Account}); err != nil {
		return protocol.ServerBusy
	}
	a := &account{name: c.Account, app: on, asker: ch, request: c.Request}
	t.byName[a.name], t.byRequest[t.last] = a, a
	t.pending++
	on.proxies++
	t.waiting = append(t.waiting, expiry{now + AnswerTimeout, t.last})
	t.reserved = append(t.reserved, expiry{now + ReserveTimeout, t.last})
	return 0
}

// answer answers a LoginApp. One that is gone has no client to tell.
func (m *BaseAppMgr) answer(ch mercury.ChannelID, p *wire.ProxyMade) { m.links.Reply(ch, p) }

// onProxyMade notes a BaseApp's answer and passes it on.
func (m *BaseAppMgr) onProxyMade(from sender, p *wire.ProxyMade) error {
	t := &m.accounts
	a := t.byRequest[p.Request]
	if a == nil || a.app.at != from.at {
		return errNoRequest
	}
	delete(t.byRequest, p.Request)
	waits := a.state == asked
	if waits {
		t.pending--
	}
	a.state, a.id = made, p.ID
	if p.Code != 0 {
		m.free(a)
	}
	if waits {
		p.Request = a.request
		m.answer(a.asker, p)
	}
	return nil
}

// onProxyGone frees an account. A message about an older proxy of it changes nothing.
func (m *BaseAppMgr) onProxyGone(from sender, p *wire.ProxyGone) error {
	a := m.accounts.byName[p.Account]
	switch {
	case a == nil || a.state != made || a.id != p.ID:
	case a.app.at != from.at:
		return errNotIts
	default:
		m.free(a)
	}
	return nil
}

// onProxies takes in the accounts whose proxies a BaseApp has when it joins. One that is already
// known stays as it is: if it is on another BaseApp, it has two proxies, and only a person can say
// which to end.
func (m *BaseAppMgr) onProxies(from sender, p *wire.Proxies) {
	on := getApp(m.baseApps, from.at)
	for _, e := range p.Entries {
		switch old := m.accounts.byName[e.Account]; {
		case old != nil && old.app != on:
			m.log.Warn("an account has proxies on two BaseApps, the one known first counts",
				"account", e.Account, "known", old.app.at, "also", from.at, "entity", e.ID)
		case old != nil && old.state == made:
			old.id = e.ID // its own BaseApp knows
		case old != nil: // being made: the answer, or ReserveTimeout, settles it
		case len(m.accounts.byName) >= MaxAccounts:
			m.log.Warn("too many accounts, a proxy is not counted", "account", e.Account, "at", from.at, "entity", e.ID)
		default:
			m.accounts.byName[e.Account] = &account{name: e.Account, state: made, app: on, id: e.ID}
			on.proxies++
		}
	}
}

// free forgets an account that is no longer in byRequest.
func (m *BaseAppMgr) free(a *account) {
	a.app.proxies--
	delete(m.accounts.byName, a.name)
}

// freeAll forgets the accounts of a BaseApp that is gone, and tells the LoginApps that wait for it.
func (m *BaseAppMgr) freeAll(on *knownApp) (freed int) {
	t := &m.accounts
	// Those who wait are told in the order in which they asked.
	for _, e := range t.reserved {
		if a := t.byRequest[e.request]; a != nil && a.app == on {
			if a.state == asked {
				t.pending--
				m.answer(a.asker, &wire.ProxyMade{Request: a.request, Code: uint8(protocol.ServerBusy)})
			}
			delete(t.byRequest, e.request)
		}
	}
	// order does not show: every account of the app goes, nobody is told
	for name, a := range t.byName {
		if a.app == on {
			delete(t.byName, name)
			freed++
		}
	}
	return freed
}

// expire tells the LoginApps whose BaseApp takes too long, and frees accounts whose BaseApp never
// answered.
func (m *BaseAppMgr) expire(now time.Duration) {
	t := &m.accounts
	t.waiting = t.due(t.waiting, now, func(_ uint64, a *account) {
		if a.state != asked {
			return
		}
		a.state = overdue
		t.pending--
		m.report.Refused++
		m.log.Warn("a BaseApp does not answer in time", "at", a.app.at, "account", a.name)
		m.answer(a.asker, &wire.ProxyMade{Request: a.request, Code: uint8(protocol.ServerBusy)})
	})
	t.reserved = t.due(t.reserved, now, func(request uint64, a *account) {
		delete(t.byRequest, request)
		m.free(a)
	})
}

// due calls f with what is due and not answered, and returns the rest of the queue.
func (t *accounts) due(queue []expiry, now time.Duration, f func(request uint64, a *account)) []expiry {
	i := 0
	for ; i < len(queue) && queue[i].at <= now; i++ {
		if a := t.byRequest[queue[i].request]; a != nil {
			f(queue[i].request, a)
		}
	}
	return slices.Delete(queue, 0, i)
}
