package cellappmgr

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// This file makes the world from what a manager heard; see recovery.

// rebuild makes the cells of every space from the newest tree that was heard of, and returns the
// apps of leaves that nobody has reported, in the order of the spaces. These apps are not members;
// the cells are theirs until they are buried.
func (m *CellAppMgr) rebuild() (lost []*member) {
	for _, s := range m.spaces {
		if s.heard == nil {
			continue
		}
		s.tree, s.made, s.dropped = s.heard.Clone(), true, true
		m.touch(s)
		m.expect(s)
		s.publisher.Adopt(s.heard)
		s.heard = nil
		m.started = true
		for _, leaf := range s.tree.Leaves() {
			address := mercury.Address{At: leaf.App, Salt: leaf.Salt}
			app := m.byAddress(address)
			if i := slices.IndexFunc(lost, func(x *member) bool { return x.address == address }); app == nil && i >= 0 {
				app = lost[i]
			} else if app == nil {
				app = &member{role: wire.CellApp, address: address}
				lost = append(lost, app)
			}
			s.adopt(&cell{id: leaf.Cell, app: app})
		}
		slices.SortFunc(s.cells, func(x, y *cell) int { return x.id.Compare(y.id) })
	}
	return lost
}

// claim gives an app the cells that it has reported. Cells that are no longer in any tree are
// removed anew.
func (m *CellAppMgr) claim(now time.Duration, a *member, b *returning) {
	for i := range b.cells {
		r := &b.cells[i]
		s := m.space(r.space)
		if s == nil {
			continue
		}
		if c := s.find(r.id); c != nil && c.app == a {
			c.created, c.told, c.toldAt = true, r.version, now
			c.hear(m.awake.total)
			continue
		}
		m.log.Info("a cell that is in no geometry is removed", "space", r.space, "cell", r.id.String(), "on", a.String())
		s.removals = append(s.removals, &removal{cell: r.id, app: a})
		m.expect(s)
	}
}

// endOver ends the spaces of which an earlier manager told some app that they have ended: that app
// has destroyed its entities, and there is no way back. (The app's cell used to be taken for one
// that runs. It went as soon as its bases knew, and whoever had asked for the end had been
// answered; so the space stayed for ever, with a leaf and without a cell.)
func (m *CellAppMgr) endOver(now time.Duration) {
	for _, s := range slices.Clone(m.spaces) {
		if s.over && !s.ending {
			m.endSpace(now, s, "ended by an earlier manager")
		}
	}
}

// buryLost passes the verdict on those who have not come back: on CellApps at once, since their
// part of the plane belongs to nobody; on BaseApps, with which all their entities and clients go,
// after the silence that any of them is allowed.
func (m *CellAppMgr) buryLost(now time.Duration, lost []*member) {
	for _, a := range lost {
		if !m.buried(a.address) {
			m.declareDead(now, a, "it did not come back to the new manager")
			continue
		}
		for _, s := range slices.Clone(m.spaces) {
			m.heal(now, s, a)
		}
	}
	for _, p := range m.recovery.peers {
		m.miss(now, p)
	}
}

// endUnknown makes an app that came late drop its cells of spaces that only it knows: whoever has
// asked for them since was told that they are gone.
func (m *CellAppMgr) endUnknown(a *member, b *returning) {
	for _, c := range b.cells {
		if m.space(c.space) == nil && isCreated(c.space) {
			m.send(a, &wire.RemoveCell{Space: c.space, Cell: c.id, Ended: true})
		}
	}
}

// miss passes the verdict on an app that others still count on, if it is not here. A BaseApp that is
// telling what it has is missing, too, until it has told all. (It was not: one that died while it told was
// then missed by nobody, and what it had of bases never went on.)
func (m *CellAppMgr) miss(now time.Duration, p wire.AppRef) {
	if m.buried(p.App) || m.byAddress(p.App) != nil {
		return
	}
	switch p.Role {
	case wire.CellApp:
		if m.expects(p.App) {
			return // unhear judges it if it does not come to the end
		}
		m.declareDead(now, &member{role: p.Role, address: p.App}, "it did not come back to the new manager")
	case wire.BaseApp:
		m.log.Warn("a BaseApp that others know has not come back; it still has time", "address", p.App.String(), "time", m.cfg.AppTimeout)
		a := &member{role: p.Role, address: p.App, heard: m.awake.total, missing: true}
		m.add(a)
		m.tellOfMissing(a)
	}
}

// tellOfMissing tells the BaseAppMgr that what a BaseApp has is not known yet.
func (m *CellAppMgr) tellOfMissing(a *member) {
	var msg wire.Members
	msg.Add(wire.AppRef{Role: a.role, App: a.address}, a.allocator)
	for _, b := range m.members {
		if b.role == wire.BaseAppMgr && b.welcomedAt > 0 {
			m.send(b, &msg)
		}
	}
}

// settle tells an app that has come back which removals it lacks. Cells that were ordered and never
// arrived are ordered again like any that is unconfirmed; the geometry follows along with everyone
// else's.
func (m *CellAppMgr) settle(now time.Duration, a *member, b *returning) {
	m.learnStop(a, b.told)
	for _, s := range m.spaces {
		for _, r := range s.removals {
			if r.app == a {
				r.peers = s.peersOf(r)
				m.renew(s)
				m.orderRemoval(now, s, r)
			}
		}
	}
}

// tellMissed tells an app that has come back what it lacks of the data of its spaces. That comes before
// any geometry of this manager: then a cell takes for lost what it has not heard of earlier ones.
func (m *CellAppMgr) tellMissed(a *member, b *returning) {
	for _, r := range b.cells {
		if s := m.space(r.space); s != nil {
			for _, e := range s.data.entries {
				if e.Number > r.data {
					m.send(a, &wire.SpaceData{Space: r.space, Entry: e})
				}
			}
		}
	}
}

// peersOf lists the CellApps whose acks a removal needs: all others that have, or have had, a cell
// of the space.
func (s *space) peersOf(r *removal) (peers []*member) {
	add := func(app *member) {
		if app != r.app && !slices.Contains(peers, app) {
			peers = append(peers, app)
		}
	}
	for _, c := range s.cells {
		add(c.app)
	}
	for _, x := range s.removals {
		add(x.app)
	}
	return peers
}

// restore takes an entry that an earlier manager numbered.
func (d *spaceData) restore(e wire.SpaceDataEntry) {
	if slices.ContainsFunc(d.entries, func(x wire.SpaceDataEntry) bool { return x.Replaces(&e) && x.Number >= e.Number }) {
		return
	}
	if !d.fits(&e) {
		return
	}
	d.drop(func(x *wire.SpaceDataEntry) bool { return e.Replaces(x) && x.Number < e.Number })
	at, _ := slices.BinarySearchFunc(d.entries, e.Number, func(x wire.SpaceDataEntry, n uint64) int { return cmp.Compare(x.Number, n) })
	d.insert(at, e)
	d.last = max(d.last, e.Number)
}
