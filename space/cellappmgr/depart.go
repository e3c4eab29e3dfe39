package cellappmgr

import (
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A BaseApp that leaves asks for the verdict that its death would bring: all is where that is healed from.
// So everyone finds its bases in the same place, and nothing else has to be known about moves.

// depart hands the bases of an app, or a part of them, to their heirs, or says why not now. While
// the manager waits for those whom another one knew, it does not answer, and is asked again.
func (m *CellAppMgr) depart(from sender, msg *wire.Depart) {
	a := from.app
	if m.recovery.on {
		return
	}
	if msg.Part.Turn > 0 {
		m.departPart(from, msg)
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
	m.endServices()
	for _, x := range []mercury.ChannelID{ch, from.ch} {
		if x != 0 {
			m.cfg.Transport.Close(x)
		}
	}
}

// whyStays says why an app cannot leave: the last copies must be where everyone will look for them,
// on apps that live, and of all bases that came to it from others. The rule is the one by which it
// made them: it asks only when the manager has said that it knows the rule, tells it first to each
// manager that it joins, and has no other one until it is answered. So the Depart need not name it.
func (m *CellAppMgr) whyStays(a *member) string {
	r := m.backups.rules[a.address]
	switch {
	case len(r.List) == 0:
		return "no rule is known"
	case r.Covers < m.backups.gone.Newest(a.address):
		return "another BaseApp has gone, and not all of its bases have copies by the rule"
	}
	for _, x := range r.List {
		if b := m.byAddress(x); b == nil || b.missing || b.role != wire.BaseApp {
			return "one of those who hold the copies is gone"
		}
	}
	return ""
}

// departPart lets a part of an app's bases go. Asked again, since the answer was lost, it only answers.
func (m *CellAppMgr) departPart(from sender, msg *wire.Depart) {
	a := from.app
	known := m.backups.gone.Find(migrate.Leave{App: a.address, Turn: msg.Part.Turn})
	if known == nil {
		if reason := m.whyStays(a); reason != "" {
			m.sendOn(from.ch, m.encode(&wire.Departed{Request: msg.Request, Reason: reason}))
			return
		}
		if m.backups.gone.Moves() >= migrate.MaxMoves {
			m.sendOn(from.ch, m.encode(&wire.Departed{Request: msg.Request, Reason: "too many parts have moved; the app has to leave as a whole"}))
			return
		}
		known = m.backups.departPart(a.address, a.allocator, m.cfg.Term, msg.Part)
		m.tellPart(known)
	}
	m.sendOn(from.ch, m.encode(&wire.Departed{Request: msg.Request, Number: known.Number}))
}

// tellPart tells everyone of the departure of a part.
func (m *CellAppMgr) tellPart(d *migrate.Departure) {
	for _, b := range m.members {
		if mourns(b.role, wire.BaseApp) {
			m.send(b, movedBy(d))
		}
	}
}

// movedBy is what everyone is told of the departure of a part.
func movedBy(d *migrate.Departure) *wire.BasesMoved {
	return &wire.BasesMoved{App: d.App, Number: d.Number, Allocator: d.Allocator, Rule: d.Rule, Part: d.Part}
}

// tellMoved tells a member of the parts that have departed, except those that it knows by what it
// has told; b is nil if it has told nothing.
func (m *CellAppMgr) tellMoved(a *member, b *returning) {
	if !mourns(a.role, wire.BaseApp) {
		return
	}
	m.backups.gone.Each(func(d *migrate.Departure) {
		if d.Part.Turn > 0 && (b == nil || !b.knowsPart(d)) {
			m.send(a, movedBy(d))
		}
	})
}
