package cellapp

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

var (
	errOutdated    = errors.New("cellapp: from a CellAppMgr older than the one that is known: it was stalled while another took its place")
	errNotWelcomed = errors.New("cellapp: an order of a CellAppMgr that has not shown its term in a Welcome")
)

// rejoin tells a CellAppMgr that has taken the place of the one which this CellApp
// knows what is here: from that it makes its picture of the world. Nothing here
// waits for it. Its Welcome comes when it has heard the others, too.
func (a *CellApp) rejoin(now time.Duration) {
	a.log.Info("another CellAppMgr answers; it is told what is here", "cells", len(a.cells))
	m := a.manager.Rejoin()
	m.GameTime = max(0, a.clusterTime(now))
	m.Frozen, m.Retiring = a.population.Frozen(), a.retire
	m.Peers = a.peers()
	a.manager.Send(&m)
	cells := a.cells[:min(len(a.cells), wire.MaxRejoinCells)]
	for _, c := range cells {
		a.manager.Send(c.report())
	}
	a.manager.Send(&wire.RejoinEnd{Cells: uint32(len(cells))})
}

// peers names the apps on which parts of the entities here live. What the manager does
// not find among those that come back is dead, and nobody else may know it.
func (a *CellApp) peers() (refs []wire.AppRef) {
	cells, bases := a.population.Peers()
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

// report is the cell as a manager that knows nothing of it is told. The tree is the
// newest that was told to this CellApp, even if it does not have the cell any more.
func (c *hostedCell) report() *wire.RejoinCell {
	has, _ := c.geometry.Lacks()
	m := &wire.RejoinCell{Space: c.Space(), Cell: c.ID(), Version: has, Tree: c.geometry.Tree().Append(nil), Info: c.info, Clock: c.Clock(), Ended: c.Ended()}
	for e := range c.AllData() {
		m.Data = append(m.Data, wire.SpaceDataEntry(e))
	}
	return m
}
