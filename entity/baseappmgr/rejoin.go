package baseappmgr

import (
	"errors"

	"github.com/cellscape/cellscape/internal/wire"
)

var errOutdated = errors.New("baseappmgr: from a CellAppMgr that is older than the one that is known, or has not shown its term")

// rejoin tells a CellAppMgr that has taken the place of the one which this manager
// knows that it is here. Accounts and BaseApps are no matter of the CellAppMgr:
// players log in and out meanwhile.
func (m *BaseAppMgr) rejoin() {
	if !m.manager.Rejoins() {
		return
	}
	m.log.Info("another CellAppMgr answers; it is told who is here")
	r := m.manager.Rejoin()
	m.manager.Send(&r)
	m.manager.Send(&wire.RejoinEnd{})
}
