package cellappmgr

import (
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// maxGraves bounds the dead starts that are remembered. The oldest are forgotten first. A process
// that comes back after so many other deaths joins as a new member, with a new number and nothing
// of what was its own.
const maxGraves = wire.MaxGraves

// mourns reports whether a role is told of the death of another: those are told who hold what
// belongs to it.
func mourns(who, dead wire.Role) bool {
	switch dead {
	case wire.CellApp:
		return who == wire.CellApp || who == wire.BaseApp
	case wire.BaseApp:
		return who == wire.CellApp || who == wire.BaseApp || who == wire.BaseAppMgr || who == wire.DBApp
	}
	return false
}

// lostChannel decides what the end of a channel says about its member.
func (m *CellAppMgr) lostChannel(now time.Duration, ch mercury.ChannelID, reason error) {
	a := m.byChannel[ch]
	if a == nil {
		m.unhear(now, ch, reason)
		return
	}
	delete(m.byChannel, ch)
	a.channel = 0
	switch {
	case !a.reports() || m.stopping.step >= wire.StopSaved: // nobody's death changes anything any more
		m.log.Info(a.role.String()+" left", "number", a.number, "address", a.address.String(), "reason", reason)
		m.forget(a)
	case m.proves(a, reason):
		m.declareDead(now, a, "its channel ended: "+reason.Error())
	default:
		m.log.Warn("channel lost; the member has time to come back", "member", a.String(), "reason", reason, "time", m.cfg.AppTimeout)
	}
}

// proves reports whether the end of a channel proves that this start of the peer is gone. After a
// stall of the manager, peers that are well may have given up their channels to it; then only
// silence tells. The time-out of a channel is silence, too, and excused as that. a is nil for one
// that has only told what it has.
func (m *CellAppMgr) proves(a *member, reason error) bool {
	switch {
	case errors.Is(reason, mercury.ErrPeerRestarted):
		return true
	case errors.Is(reason, mercury.ErrTimeout):
		return m.awake.since() >= m.cfg.AppTimeout && !m.excused(a)
	}
	return errors.Is(reason, mercury.ErrPeerAborted) && m.awake.since() >= m.cfg.AppTimeout
}

const whyReplaced = "another process has started at its address"

// replaceStart declares dead whoever else is a member at the address where a process has just
// started.
func (m *CellAppMgr) replaceStart(now time.Duration, peer mercury.Address) {
	for _, a := range slices.Clone(m.members) {
		switch {
		case a.address.At != peer.At || a.address == peer:
		case m.awaitsRule(a):
			a.replaced = true // judgeSilence declares it dead
		case a.reports():
			m.declareDead(now, a, whyReplaced)
		default:
			m.forget(a)
		}
	}
}

// declareDead passes the verdict: it first tells everyone concerned, then heals what the app leaves
// behind.
func (m *CellAppMgr) declareDead(now time.Duration, a *member, why string) {
	m.forget(a)
	m.deaths++
	g := wire.AppRef{Role: a.role, App: a.address}
	m.bury(g)
	if a.role == wire.BaseApp {
		m.backups.depart(a.address, a.allocator, m.cfg.Term)
	}
	m.log.Warn(a.role.String()+" declared dead", "number", a.number, "address", a.address.String(), "why", why,
		"cells", a.cells, "clients", a.report.Clients)
	m.tellDeath(g)
	if a.role == wire.CellApp {
		for _, s := range slices.Clone(m.spaces) {
			m.heal(now, s, a)
		}
		m.makeSpaces(now)
	}
	if a.role == wire.BaseApp {
		m.orphan(now, a)
	}
	m.stopDisturbed(now, a)
	m.endServices()
}

// tellDeath tells all who mourn. A BaseApp is told which CellApps do: when all of them have mourned,
// it need not wait for what they may know of the dead app's reals.
func (m *CellAppMgr) tellDeath(dead wire.AppRef) {
	var mourners []mercury.Address
	for _, b := range m.members {
		if dead.Role == wire.CellApp && b.role == wire.CellApp && !b.missing {
			mourners = append(mourners, b.address)
		}
	}
	if len(mourners) > wire.MaxMembers {
		mourners = nil // the bases wait instead
	}
	for _, b := range m.members {
		if mourns(b.role, dead.Role) {
			msg := m.verdict(dead)
			if b.role == wire.BaseApp {
				msg.Mourners = mourners
			}
			m.send(b, msg)
		}
	}
}

// heal takes the cells of a dead app out of a space.
func (m *CellAppMgr) heal(now time.Duration, s *space, dead *member) {
	s.bury(dead)
	m.forgetEnded(s)
	s.lost = append(s.lost, s.landOf(dead)...)
	s.drop(func(c *cell) bool {
		if c.app != dead {
			return false
		}
		s.moved = s.moved[:0]
		s.vacant = false
		s.stay(now + lossGrace)
		s.held = s.held || c.created // somebody may have come who was not reported yet
		m.touch(s)
		if err := s.tree.Remove(c.id); errors.Is(err, bsp.ErrLastLeaf) {
			s.tree, s.dirty = nil, false
			m.homeless = append(m.homeless, s)
			m.log.Warn("space has lost its last cell", "space", s.cfg.ID, "cell", c.id.String())
			return true
		}
		m.log.Info("cell removed, its neighbour takes over", "space", s.cfg.ID, "cell", c.id.String(), "cells", s.tree.Len())
		return true
	})
}

func (m *CellAppMgr) buried(address mercury.Address) bool {
	return slices.ContainsFunc(m.graves, func(g wire.AppRef) bool { return g.App == address })
}

func (m *CellAppMgr) bury(g wire.AppRef) {
	if len(m.graves) == maxGraves {
		m.graves = slices.Delete(m.graves, 0, 1)
	}
	m.graves = append(m.graves, g)
}

// tellGraves tells a member of the deaths that concern it, except those that it knows by what it has
// told; b is nil if it has told nothing.
func (m *CellAppMgr) tellGraves(a *member, b *returning) {
	m.tellMoved(a, b)
	for _, g := range m.graves {
		if v := m.verdict(g); mourns(a.role, g.Role) && (b == nil || !b.knows(v)) {
			m.send(a, v)
		}
	}
}

// dismiss tells a process that it was declared dead, and then ends the channel.
func (m *CellAppMgr) dismiss(ch mercury.ChannelID, peer mercury.Address) {
	m.counts.Dismissed++
	m.log.Info("a process came back after it was declared dead; dismissed", "address", peer.String())
	m.sendOn(ch, m.encode(&wire.Dismissed{Term: m.cfg.Term, Reason: "declared dead while it was silent; start anew"}))
	m.cfg.Transport.Close(ch)
}
