package baseapp

import (
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// rejoin tells a new CellAppMgr, which has taken the place of the one known here, who is here.
// Bases go on in the meantime; those that look for a CellApp ask again until the new manager knows
// one.
func (a *BaseApp) rejoin() {
	a.log.Info("another CellAppMgr answers; telling it who is here")
	m := a.cellMgr.Rejoin()
	m.Frozen = a.frozen
	m.Peers = a.peers()
	a.cellMgr.Send(&m)
	if m := a.shared.Rejoin(); m != nil {
		a.cellMgr.Send(m)
	}
	a.cellMgr.Send(&wire.RejoinEnd{Rules: a.rejoinRules(), Spaces: a.rejoinSpaces()})
}

// peers names the CellApps on which the cell parts of the bases here live, and the other BaseApps,
// which hold copies of them, or may. One that does not come back to the manager is dead, and
// perhaps nobody else knows of it: then copies would be sent there for ever.
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
	for _, app := range a.others() {
		if len(refs) < wire.MaxPeerApps && !a.links.Dead(app) {
			refs = append(refs, wire.AppRef{Role: wire.BaseApp, App: app})
		}
	}
	return refs
}

// heeds reports whether to act on a message of the CellAppMgr now. Until its Welcome has shown its
// term, only answers to the Join count.
func (a *BaseApp) heeds(id wire.ID) bool {
	switch id {
	case wire.WelcomeID, wire.RefusedID, wire.DismissedID:
		return true
	}
	return a.cellMgr.Heeds()
}
