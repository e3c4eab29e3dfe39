package loginapp

import (
	"errors"
	"log/slog"

	"github.com/cellscape/cellscape/internal/wire"
)

var errOutdated = errors.New("loginapp: the welcome of a CellAppMgr older than the one that is known")

// rejoin tells a CellAppMgr that has taken the place of the one which the LoginApp
// knows that it is here. Logins need only the BaseAppMgr and go on meanwhile.
func (m *manager) rejoin(log *slog.Logger) {
	if !m.Rejoins() {
		return
	}
	log.Info("another manager answers; it is told who is here", "manager", m.role)
	r := m.Rejoin()
	m.Send(&r)
	m.Send(&wire.RejoinEnd{})
}
