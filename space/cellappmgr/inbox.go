package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// dispatch hands one message to whoever it concerns.
func (m *CellAppMgr) dispatch(now time.Duration, ch mercury.ChannelID, msg []byte) {
	standing := m.cfg.Transport.Standing(ch)
	if standing < mercury.Observer {
		m.unproved(ch, "somebody", wire.ID(0))
		m.cfg.Transport.Abort(ch)
		return
	}
	if m.superseded {
		m.counts.Superseded++
		m.refuseSuperseded(ch, msg)
		return
	}
	a := m.byChannel[ch]
	if a == nil {
		peer, ok := m.cfg.Transport.Peer(ch)
		if !ok || standing >= mercury.Member && m.outranked(ch, msg) {
			return
		}
		if m.buried(peer) {
			m.dismiss(ch, peer)
			return
		}
		a = m.byAddress(peer) // over a second channel, which it has dialled itself
	}
	if a != nil {
		m.hears(a)
	}
	if a != nil && a.missing {
		a = nil // until it has told what it has
	}
	id, body, err := wire.Split(msg)
	if err == nil {
		err = m.handle(sender{now: now, ch: ch, app: a}, id, body)
	}
	if err != nil {
		m.malformed(ch, a, err)
	}
}

// sender is who sent a message, and when it came.
type sender struct {
	now  time.Duration
	ch   mercury.ChannelID
	app  *member    // nil if it has not joined
	back *returning // one that tells what it has
}

// handle acts on a message if its sender may send it.
func (m *CellAppMgr) handle(from sender, id wire.ID, body []byte) error {
	switch id {
	case wire.JoinID: // it says itself what it is
	case wire.RejoinID, wire.RejoinCellID, wire.RejoinRuleID, wire.SpaceCopyID, wire.SharedDataID, wire.RejoinEndID:
		if from.app != nil {
			return nil // it has been heard; the Welcome was lost
		}
		if from.back = m.recovery.telling(from.ch); from.back == nil {
			m.counts.Unjoined++
			return nil
		}
	default:
		if from.app == nil {
			m.counts.Unjoined++
			return nil
		}
		if !wire.May(from.app.role, id, wire.CellAppMgr) {
			m.counts.Misplaced++
			return nil
		}
		if !m.links.Proved(from.ch, from.app.role, id) {
			m.unproved(from.ch, from.app.String(), id)
			return nil
		}
	}
	return m.routes.Handle(from, id, body)
}

// route says who handles each message.
func (m *CellAppMgr) route() {
	r := &m.routes
	app.On(r, func(from sender, msg *wire.Join) {
		peer, ok := m.cfg.Transport.Peer(from.ch)
		switch {
		case !ok:
		case !m.links.Proved(from.ch, msg.Role, wire.JoinID) && msg.Role != wire.CellAppMgr && msg.Speaks.Has(wire.Version):
			m.unproved(from.ch, msg.Role.String(), wire.JoinID)
			m.sendOn(from.ch, m.encode(&wire.Refused{Reason: "it takes a cluster key to be a process of the cluster"}))
		default:
			m.join(from.now, from.ch, peer, msg)
		}
	})
	app.On(r, m.rejoinBegins)
	app.Try(r, func(from sender, msg *wire.RejoinCell) error { return m.hearCell(from.back, msg) })
	app.Try(r, func(from sender, msg *wire.RejoinRule) error { return m.hearRule(from.back, msg) })
	app.Try(r, m.hearCopy)
	app.Try(r, m.hearShared)
	app.Try(r, m.rejoinEnds)
	app.On(r, m.backupRule)
	app.On(r, m.depart)
	app.On(r, func(from sender, msg *wire.Report) {
		from.app.measure(from.now, msg.CPU)
		from.app.report = *msg
		from.app.sinceFreeze++
	})
	app.On(r, func(sender, *wire.Alive) {}) // it has been heard
	app.On(r, func(from sender, msg *wire.CellsReport) { m.cellsReport(from.now, from.app, msg) })
	app.On(r, func(from sender, msg *wire.CellCreated) { m.cellCreated(from.app, msg) })
	app.On(r, func(from sender, msg *wire.CellRemoved) { m.cellRemoved(from.app, msg) })
	app.On(r, func(from sender, msg *wire.RetireApp) { m.retireApp(from.app, msg.Reason) })
	app.On(r, func(from sender, msg *wire.Locate) { m.sendOn(from.ch, m.encode(m.locate(from.now, msg))) })
	app.On(r, func(from sender, msg *wire.LocateArea) { m.sendOn(from.ch, m.encode(m.locateArea(msg))) })
	app.On(r, func(from sender, msg *wire.SetSpaceData) { m.setSpaceData(from.app, msg) })
	app.On(r, func(from sender, msg *wire.GeometryLacked) { m.geometryLacked(from.now, from.app, msg) })
	app.On(r, func(from sender, msg *wire.CreateSpace) { m.createSpace(from.now, from.app, msg) })
	app.On(r, func(from sender, msg *wire.DestroySpace) { m.destroySpace(from.now, from.app, msg) })
	app.On(r, func(from sender, msg *wire.AppSilent) { m.appSilent(from.app, msg) })
	app.On(r, m.seen)
	r.Ignore(wire.LeaseAskID, wire.LeaseVoteID, wire.RefusedID, wire.MembersID, wire.StopID, wire.WorldEndingID) // the Seat takes those of other managers
	app.On(r, func(from sender, msg *wire.Freeze) { m.freeze(from.app, msg.On) })
	app.On(r, func(from sender, msg *wire.EndWorld) {
		from.app.operates = true
		if m.runs() {
			m.Shutdown(from.now, msg.Reason)
		} // else it is said again
		m.tellOperators()
	})
	app.On(r, func(from sender, msg *wire.StopState) { m.takeStopState(from.now, from.app, msg) })
	app.On(r, m.bringSpace)
	app.On(r, func(from sender, msg *wire.SpaceKept) { m.spaceKept(from.now, msg) })
	app.On(r, func(from sender, msg *wire.OnlyKept) { m.onlyKept(from.now, msg) })
	m.routeWatches()
}

// unproved counts a message of a sender that has not proved to be who may say it.
func (m *CellAppMgr) unproved(ch mercury.ChannelID, who string, id wire.ID) {
	m.counts.Unproved++
	m.own.Refused++
	if unlogged, ok := m.lines.Allow(m.awake.total, "unproved"); ok {
		peer, _ := m.cfg.Transport.Peer(ch)
		m.log.Warn("its sender has not proved that it may say this", "from", who, "address", peer.String(), "message", id, "standing", m.cfg.Transport.Standing(ch), "unlogged", unlogged)
	}
}

// malformed counts what cannot be read. A member is logged once: one that speaks another dialect
// would cause a line for every message. A stranger is cut off.
func (m *CellAppMgr) malformed(ch mercury.ChannelID, a *member, err error) {
	m.counts.Malformed++
	m.own.Refused++
	if a == nil {
		m.cfg.Transport.Abort(ch)
		return
	}
	if !a.faultsLogged {
		a.faultsLogged = true
		m.log.Warn("a member sends what cannot be read; further cases are only counted, in the status", "from", a.String(), "address", a.address.String(), "error", err)
	}
}
