package baseappmgr

import (
	"errors"

	"github.com/cellscape/cellscape/internal/wire"
)

var errOutdated = errors.New("baseappmgr: this CellAppMgr is older than the known one, or has not shown its term")

// rejoin tells a CellAppMgr that has taken the place of the known one that this manager is here.
// Accounts do not concern the CellAppMgr: players log in and out in the meantime.
func (m *BaseAppMgr) rejoin() {
	if !m.manager.Rejoins() {
		return
	}
	m.log.Info("another CellAppMgr answers; it is told who is here")
	r := m.manager.Rejoin()
	r.Peers = m.peers()
	m.manager.Send(&r)
	m.manager.Send(&wire.RejoinEnd{})
}

// peers names the BaseApps that are known here. One that does not come back to the CellAppMgr is dead, and
// perhaps nobody else knows of it; without a verdict its accounts and names would be taken for ever.
func (m *BaseAppMgr) peers() (refs []wire.AppRef) {
	for _, a := range m.baseApps {
		refs = append(refs, wire.AppRef{Role: wire.BaseApp, App: a.at})
	}
	for _, at := range m.members {
		if getApp(m.baseApps, at) == nil {
			refs = append(refs, wire.AppRef{Role: wire.BaseApp, App: at})
		}
	}
	return refs[:min(len(refs), wire.MaxPeerApps)]
}
