package loginapp

import (
	"errors"
	"log/slog"

	"github.com/cellscape/cellscape/internal/wire"
)

var errOutdated = errors.New("loginapp: the Welcome of an older CellAppMgr than the known one")

// rejoin announces the LoginApp to a new CellAppMgr, which has taken the place of the one it knows.
// Logins go on in the meantime, since they need only the BaseAppMgr.
func (m *manager) rejoin(log *slog.Logger) {
	if !m.Rejoins() {
		return
	}
	log.Info("another manager answers; telling it who is here", "manager", m.role)
	r := m.Rejoin()
	m.Send(&r)
	m.Send(&wire.RejoinEnd{})
}
