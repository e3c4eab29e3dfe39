package cellappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// removal is a cell that is out of the tree, but that its CellApp may still have.
type removal struct {
	cell  bsp.CellID
	app   *member
	peers []*member
	at    time.Duration // when the removal was last ordered
}

// removeCells begins the removal of cells that are no longer in the tree. The geometry without them
// goes out with the handling of the same input, before or after the orders: a peer acks only once
// it has both. All of them are taken out before any geometry is made, because a geometry that has
// one cell more than the tree cannot be told.
func (m *CellAppMgr) removeCells(now time.Duration, s *space, ids ...bsp.CellID) {
	kept := len(s.removals)
	for _, id := range ids {
		c := s.find(id)
		if c == nil {
			continue
		}
		s.drop(func(x *cell) bool { return x == c })
		m.cellsRemoved++
		m.log.Info("cell removed", "space", s.cfg.ID, "cell", id.String(), "on", c.app.String(), "cells", len(s.cells))
		s.removals = append(s.removals, &removal{cell: id, app: c.app})
	}
	begun := s.removals[kept:]
	if len(begun) == 0 {
		return
	}
	m.expect(s)
	m.renew(s)
	for _, r := range begun {
		r.peers = s.peersOf(r) // two cells that go at once may still owe each other an entity
		m.orderRemoval(now, s, r)
	}
}

// orderRemoval tells everyone concerned, again if need be. The cell itself gets the geometry
// without it: whoever hands it an entity now is late, and it must know where to hand that entity
// on.
func (m *CellAppMgr) orderRemoval(now time.Duration, s *space, r *removal) {
	r.at = now
	if s.ending {
		m.send(r.app, &wire.RemoveCell{Space: s.cfg.ID, Cell: r.cell, Ended: true})
		return
	}
	order := wire.RemoveCell{Space: s.cfg.ID, Cell: r.cell, Peers: make([]mercury.Address, len(r.peers))}
	for i, p := range r.peers {
		order.Peers[i] = p.address
	}
	m.tellGeometry(now, s, r.app, bsp.Version{})
	m.send(r.app, &order)
	for _, p := range r.peers {
		m.send(p, &wire.CellGoing{Space: s.cfg.ID, Cell: r.cell, App: r.app.address})
	}
}

// cellRemoved ends a removal.
func (m *CellAppMgr) cellRemoved(a *member, msg *wire.CellRemoved) {
	if s := m.space(msg.Space); s != nil {
		s.removals = slices.DeleteFunc(s.removals, func(r *removal) bool { return r.app == a && r.cell == msg.Cell })
		m.forgetEnded(s)
	}
}

// bury drops what a dead CellApp takes with it: its own removals, and its acks of others.
func (s *space) bury(dead *member) {
	s.removals = slices.DeleteFunc(s.removals, func(r *removal) bool { return r.app == dead })
	for _, r := range s.removals {
		r.peers = slices.DeleteFunc(r.peers, func(p *member) bool { return p == dead })
	}
}

// taken ends the removal of a CellApp's older cell of a space: the CellApp now runs another, which
// has taken over what was left of it.
func (s *space) taken(by *cell) {
	s.removals = slices.DeleteFunc(s.removals, func(r *removal) bool { return r.app == by.app && r.cell != by.id })
}

// retireApp marks a CellApp that wants to go. This cannot be taken back: the runner of the app
// counts on it.
func (m *CellAppMgr) retireApp(a *member, reason string) {
	if !a.retiring {
		a.retiring = true
		m.placer = nil
		m.log.Info("a CellApp is to be shut down; its cells retire", "app", a.String(), "reason", reason, "cells", a.cells)
	}
}

// releaseApps lets those apps go that were to be shut down, have nothing left, and owe no one an
// ack. (An app that had dropped its cell used to be let go at once, before its next tick, in which
// it would have acked the removal of another's cell. That other app waited for the ack for ever,
// since an app that was let go is not dead.)
func (m *CellAppMgr) releaseApps() {
	for _, a := range m.members {
		if !a.retiring || a.cells > 0 || m.concernedBy(a) {
			continue
		}
		m.send(a, &wire.Retired{Number: a.number})
		m.log.Info("a CellApp has retired", "app", a.String())
		m.cfg.Transport.Close(a.channel)
		m.forget(a)
	}
}

// appSilent tells a BaseApp that a CellApp, on which one of its bases believes its real to be, is
// not a member. Nobody is told when a CellApp is let go, since nothing is left on it. But a base
// whose real went on from there may not have heard of that, and if the new real dies, no verdict
// concerns the app on which the base believes it. Apps that were let go are not remembered; whoever
// is not a member, and is not about to become one again, has left.
func (m *CellAppMgr) appSilent(a *member, msg *wire.AppSilent) {
	if !m.expects(msg.App) {
		m.send(a, &wire.AppLeft{App: msg.App})
	}
}

// concernedBy reports whether a removal waits for an app: for its own cell to go, or for its ack.
func (m *CellAppMgr) concernedBy(a *member) bool {
	return slices.ContainsFunc(m.spaces, func(s *space) bool {
		return slices.ContainsFunc(s.removals, func(r *removal) bool { return r.app == a || slices.Contains(r.peers, a) })
	})
}

// removes reports whether an app has a cell that is being removed.
func (s *space) removes(a *member) bool {
	return slices.ContainsFunc(s.removals, func(r *removal) bool { return r.app == a })
}
