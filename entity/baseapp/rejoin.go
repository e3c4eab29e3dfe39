package baseapp

import (
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// rejoin tells a CellAppMgr that has taken the place of the one which this app
// knows who is here. Bases go on meanwhile; those that look for a CellApp ask again
// until the new manager knows one.
func (a *BaseApp) rejoin() {
	a.log.Info("another CellAppMgr answers; it is told who is here")
	m := a.cellMgr.Rejoin()
	m.Frozen = a.frozen
	m.Peers = a.peers()
	a.cellMgr.Send(&m)
	a.cellMgr.Send(&wire.RejoinEnd{})
}

// peers names the CellApps on which the cell parts of the bases here live. One that is
// not among those that come back is dead, and nobody else may know it.
func (a *BaseApp) peers() (refs []wire.AppRef) {
	seen := make(map[mercury.Address]bool)
	for _, b := range a.list {
		app := b.link.App()
		if b.removed || app.IsZero() || seen[app] || a.links.Dead(app) || len(refs) == wire.MaxPeerApps {
			continue
		}
		seen[app] = true
		refs = append(refs, wire.AppRef{Role: wire.CellApp, App: app})
	}
	return refs
}

// heeds reports whether a message of the CellAppMgr may be acted on now: until its
// Welcome has shown its term, only what answers the Join.
func (a *BaseApp) heeds(id wire.ID) bool {
	switch id {
	case wire.WelcomeID, wire.RefusedID, wire.DismissedID:
		return true
	}
	return a.cellMgr.Heeds()
}
