package baseappmgr

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

var (
	errStranger  = errors.New("baseappmgr: the sender has not proved to be of the cluster")
	errNotJoined = errors.New("baseappmgr: the sender has not joined")
	errNotIts    = errors.New("baseappmgr: the proxy is another BaseApp's")
)

// sender is who sent a message, and when it came.
type sender struct {
	now  time.Duration
	ch   mercury.ChannelID
	at   mercury.Address
	role wire.Role // 0 if it has not joined
}

func (m *BaseAppMgr) roleOf(ch mercury.ChannelID, from mercury.Address) wire.Role {
	switch {
	case from == m.at || m.manager.Is(ch):
		return wire.CellAppMgr
	case getApp(m.baseApps, from) != nil:
		return wire.BaseApp
	case getApp(m.loginApps, from) != nil:
		return wire.LoginApp
	}
	return 0
}

// handle acts on a message if its sender may send it.
func (m *BaseAppMgr) handle(from sender, id wire.ID, body []byte) error {
	switch {
	case id == wire.JoinID && from.role != wire.CellAppMgr: // the message says what its sender is
	case from.role == 0:
		return fmt.Errorf("%w: %v", errNotJoined, id)
	case !wire.May(from.role, id, wire.BaseAppMgr):
		return fmt.Errorf("baseappmgr: a %v is not for a %v to say", id, from.role)
	}
	return m.routes.Handle(from, id, body)
}

// route says who handles each message.
func (m *BaseAppMgr) route() {
	r := &m.routes
	app.Try(r, m.welcomed)
	app.On(r, m.refused)
	app.Try(r, func(_ sender, d *wire.AppDead) error {
		if !m.manager.Heeds() {
			return errOutdated
		}
		m.appDead(d)
		return nil
	})
	app.Try(r, func(_ sender, d *wire.BasesMoved) error {
		if !m.manager.Heeds() {
			return errOutdated
		}
		m.basesMoved(d)
		return nil
	})
	// Dismissed answers a message from before a pause: the accounts are still the best there are,
	// and the Member sees to joining again.
	r.Ignore(wire.DismissedID)
	app.Try(r, m.takeStop)
	app.Try(r, m.onJoin)
	app.RouteWatches(r, &m.links, &m.watches, func(from sender) mercury.ChannelID { return from.ch })
	app.On(r, m.onMembers)
	app.On(r, m.onBaseLoad)
	app.On(r, m.onCreateProxy)
	app.On(r, func(from sender, p *wire.ProxyMade) { m.answered(from, p) })
	app.Try(r, m.onProxyGone)
	app.On(r, m.onProxies)
	app.On(r, m.onPlaceBase)
	app.On(r, m.onCreateBase)
	app.On(r, func(from sender, b *wire.BaseMade) { m.answered(from, b) })
	app.On(r, m.onRegisterName)
	app.On(r, m.onFindName)
	app.On(r, m.onNameGone)
	app.On(r, m.onNames)
	app.On(r, m.onInherited)
	app.On(r, m.onLeaving)
}

// answered takes a BaseApp's answer. One for which nobody waits is no fault: it comes late, after the BaseApp
// was silent for as long as answers are waited for.
func (m *BaseAppMgr) answered(from sender, answer wire.Call) {
	if !m.links.Answered(from.now, from.ch, answer) {
		m.report.Refused++
	}
}

func (m *BaseAppMgr) welcomed(from sender, w *wire.Welcome) error {
	if !m.manager.Welcomed(from.now, w) {
		return errOutdated
	}
	m.term, m.gameTime = w.Term, w.GameTime
	return nil
}

func (m *BaseAppMgr) refused(from sender, r *wire.Refused) {
	m.log.Error("the CellAppMgr refuses this BaseAppMgr", "reason", r.Reason)
	m.manager.Refused(from.now, r.Reason)
}
