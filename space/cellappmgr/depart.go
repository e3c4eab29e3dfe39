package cellappmgr

import (
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A BaseApp that leaves asks for the verdict that its death would bring: all is where that is healed from.
// So everyone finds its bases in the same place, and nothing else has to be known about moves.

// depart hands the bases of an app to their heirs, or says why not now. While the manager waits for those
// whom another one knew, it does not answer, and is asked again.
func (m *CellAppMgr) depart(from sender, msg *wire.Depart) {
	a := from.app
	if m.recovery.on {
		return
	}
	reason := m.whyStays(a)
	m.sendOn(from.ch, m.encode(&wire.Departed{Request: msg.Request, Reason: reason}))
	if reason != "" {
		m.log.Info("a BaseApp cannot leave now", "app", a.String(), "reason", reason)
		return
	}
	m.log.Info("a BaseApp has left; its bases go on on others", "app", a.String(), "address", a.address.String(), "clients", a.report.Clients)
	ch := a.channel
	m.forget(a)
	g := wire.AppRef{Role: a.role, App: a.address}
	m.bury(g)
	m.backups.depart(a.address, a.allocator, m.cfg.Term)
	m.tellDeath(g)
	m.orphan(from.now, a)
	for _, x := range []mercury.ChannelID{ch, from.ch} {
		if x != 0 {
			m.cfg.Transport.Close(x)
		}
	}
}

// whyStays says why an app cannot leave: the last copies must be where everyone will look for them, on apps
// that live, and of all bases that came to it from others. The rule is the one by which it made them: it asks
// only when the manager has said that it knows the rule, tells it first to each manager that it joins, and has
// no other one until it is answered. So the Depart need not name it.
func (m *CellAppMgr) whyStays(a *member) string {
	r := m.backups.rules[a.address]
	switch {
	case len(r.List) == 0:
		return "no rule is known"
	case r.Covers < m.backups.gone.Newest():
		return "another BaseApp has gone, and not all of its bases have copies by the rule"
	}
	for _, x := range r.List {
		if b := m.byAddress(x); b == nil || b.missing || b.role != wire.BaseApp {
			return "one of those who hold the copies is gone"
		}
	}
	return ""
}
