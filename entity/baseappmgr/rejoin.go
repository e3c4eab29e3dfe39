package baseappmgr

import (
	"errors"

	"github.com/cellscape/cellscape/internal/wire"
)

var errOutdated = errors.New("baseappmgr: this CellAppMgr is older than the known one, or has not shown its term")

// rejoin tells a CellAppMgr that has taken the place of the known one that this manager is here.
// Accounts and BaseApps do not concern the CellAppMgr: players log in and out in the meantime.
func (m *BaseAppMgr) rejoin() {
	if !m.manager.Rejoins() {
		return
	}
	m.log.Info("another CellAppMgr answers; it is told who is here")
	r := m.manager.Rejoin()
	m.manager.Send(&r)
	m.manager.Send(&wire.RejoinEnd{})
}
