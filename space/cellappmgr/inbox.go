package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// dispatch hands one message to whom it concerns.
func (m *CellAppMgr) dispatch(now time.Duration, ch mercury.ChannelID, msg []byte) {
	if m.superseded {
		m.counts.Superseded++
		m.refuseSuperseded(ch, msg)
		return
	}
	a := m.byChannel[ch]
	if a == nil {
		peer, ok := m.cfg.Transport.Peer(ch)
		if !ok || m.outranked(ch, msg) {
			return
		}
		if m.buried(peer) {
			m.dismiss(ch, peer)
			return
		}
		a = m.byAddress(peer) // over a second channel: that of its own Dial
	}
	if a != nil {
		a.heard = m.awake.total
	}
	if a != nil && a.missing {
		a = nil // until it has told what it has
	}
	id, body, err := wire.Split(msg)
	if err == nil {
		err = m.handle(now, ch, a, id, body)
	}
	if err != nil {
		m.malformed(ch, a, err)
	}
}

// handle parses a message and acts on it. a is nil if the sender has not joined.
func (m *CellAppMgr) handle(now time.Duration, ch mercury.ChannelID, a *member, id wire.ID, body []byte) error {
	if id == wire.JoinID {
		var j wire.Join
		if err := j.Parse(body); err != nil {
			return err
		}
		if peer, ok := m.cfg.Transport.Peer(ch); ok {
			m.join(now, ch, peer, &j)
		}
		return nil
	}
	if id == wire.RejoinID || id == wire.RejoinCellID || id == wire.RejoinEndID {
		if a != nil {
			return nil // it has been heard; what was lost is the Welcome
		}
		return m.hear(now, ch, id, body)
	}
	if a == nil {
		m.counts.Unjoined++
		return nil
	}
	if !may(a.role, id) {
		m.counts.Misplaced++
		return nil
	}
	switch id {
	case wire.ReportID:
		var r wire.Report
		if err := r.Parse(body); err != nil {
			return err
		}
		a.report = r
		a.sinceFreeze++
	case wire.CellsReportID:
		if err := m.reported.Parse(body); err != nil {
			return err
		}
		m.cellsReport(now, a, &m.reported)
	case wire.CellCreatedID:
		var c wire.CellCreated
		if err := c.Parse(body); err != nil {
			return err
		}
		m.cellCreated(a, &c)
	case wire.CellRemovedID:
		var c wire.CellRemoved
		if err := c.Parse(body); err != nil {
			return err
		}
		m.cellRemoved(a, &c)
	case wire.RetireAppID:
		var r wire.RetireApp
		if err := r.Parse(body); err != nil {
			return err
		}
		m.retireApp(a, r.Reason)
	case wire.LocateID:
		var l wire.Locate
		if err := l.Parse(body); err != nil {
			return err
		}
		m.sendOn(ch, m.encode(m.locate(now, &l)))
	case wire.SetSpaceDataID:
		var d wire.SetSpaceData
		if err := d.Parse(body); err != nil {
			return err
		}
		m.setSpaceData(a, &d)
	case wire.GeometryLackedID:
		var g wire.GeometryLacked
		if err := g.Parse(body); err != nil {
			return err
		}
		m.geometryLacked(now, a, &g)
	case wire.CreateSpaceID:
		var c wire.CreateSpace
		if err := c.Parse(body); err != nil {
			return err
		}
		m.createSpace(now, a, &c)
	case wire.DestroySpaceID:
		var d wire.DestroySpace
		if err := d.Parse(body); err != nil {
			return err
		}
		m.destroySpace(now, a, &d)
	case wire.AppSilentID:
		var s wire.AppSilent
		if err := s.Parse(body); err != nil {
			return err
		}
		m.appSilent(a, &s)
	case wire.FreezeID:
		var f wire.Freeze
		if err := f.Parse(body); err != nil {
			return err
		}
		m.freeze(a, f.On)
	}
	return nil
}

// may says which role may send what.
func may(r wire.Role, id wire.ID) bool {
	switch id {
	case wire.ReportID:
		return r != wire.Observer
	case wire.CellsReportID, wire.CellCreatedID, wire.GeometryLackedID, wire.CellRemovedID, wire.RetireAppID:
		return r == wire.CellApp
	case wire.CreateSpaceID, wire.AppSilentID:
		return r == wire.BaseApp
	case wire.LocateID, wire.SetSpaceDataID, wire.DestroySpaceID:
		return r == wire.CellApp || r == wire.BaseApp
	case wire.FreezeID:
		return r == wire.Observer
	}
	return false
}

// malformed counts what cannot be read. A member is logged once: of one that
// speaks another dialect every message would be a line. A stranger is cut off.
func (m *CellAppMgr) malformed(ch mercury.ChannelID, a *member, err error) {
	m.counts.Malformed++
	m.own.Refused++
	if a == nil {
		m.cfg.Transport.Abort(ch)
		return
	}
	if !a.faultsLogged {
		a.faultsLogged = true
		m.log.Warn("a member sends what cannot be read; further cases are only counted", "from", a.String(), "address", a.address.String(), "error", err)
	}
}
