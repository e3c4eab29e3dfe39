package cellapp

import (
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

var (
	errOutdated    = errors.New("cellapp: an order of an older CellAppMgr, which was stalled while another took its place")
	errNotWelcomed = errors.New("cellapp: an order of a CellAppMgr that has not shown its term in a Welcome")
)

// rejoin tells a new CellAppMgr, which has taken the place of the one known here, what this CellApp
// has. The manager builds its picture of the world from such reports. Nothing here waits for it;
// its Welcome comes after it has heard the other apps, too.
func (a *CellApp) rejoin(now time.Duration) {
	a.log.Info("another CellAppMgr answers; telling it what is here", "cells", len(a.cells))
	m := a.manager.Rejoin()
	m.GameTime = max(0, a.clusterTime(now))
	m.Frozen, m.Retiring = a.population.Frozen(), a.retire
	m.Peers = a.peers()
	a.manager.Send(&m)
	cells := a.cells[:min(len(a.cells), wire.MaxRejoinCells)]
	for _, c := range cells {
		a.manager.Send(c.report())
	}
	if m := a.shared.Rejoin(); m != nil {
		a.manager.Send(m)
	}
	rules := uint32(0)
	a.roster.RejoinRules(func(m *wire.RejoinRule) {
		rules++
		a.manager.Send(m)
	})
	a.manager.Send(&wire.RejoinEnd{Cells: uint32(len(cells)), Rules: rules})
}

// peers names the apps on which parts of the entities here live, and all BaseApps. An app that does not
// come back to the manager is dead, and perhaps nobody else knows of it. A BaseApp without entities here
// counts, too: a ghost of one of its entities may be on its way. (All BaseApps and a CellApp died with the
// manager. What another CellApp then had to tell the bases of the ghosts that had come from that CellApp,
// it told for ever.)
func (a *CellApp) peers() (refs []wire.AppRef) {
	cells, bases := a.population.Peers()
	for app := range a.roster.Of(wire.BaseApp) {
		if !slices.Contains(bases, app) {
			bases = append(bases, app)
		}
	}
	add := func(role wire.Role, apps []mercury.Address) {
		for _, app := range apps {
			if len(refs) < wire.MaxPeerApps && !a.links.Dead(app) && app != a.cfg.Transport.Self() {
				refs = append(refs, wire.AppRef{Role: role, App: app})
			}
		}
	}
	add(wire.CellApp, cells)
	add(wire.BaseApp, bases)
	return refs
}

// report describes the cell to a manager that knows nothing of it. Its tree is the newest that this
// CellApp was sent, even if the cell is no longer in it.
func (c *hostedCell) report() *wire.RejoinCell {
	has, _ := c.geometry.Lacks()
	m := &wire.RejoinCell{Space: c.Space(), Cell: c.ID(), Version: has, Tree: c.geometry.Tree().Append(nil), Info: c.info, Clock: c.Clock(), Ended: c.Ended()}
	for e := range c.AllData() {
		m.Data = append(m.Data, e)
	}
	return m
}
