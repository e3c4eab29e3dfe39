package loginapp

import "github.com/cellscape/cellscape/internal/wire"

// takeLogins notes whether the world is full by its loads. While it is, players wait in the queue
// or, if that is full, are refused before Auth is asked. So are those that Auth has just accepted,
// since each proxy adds to the crowd. A LoginApp that has lost the CellAppMgr goes on with what it
// heard last.
func (l *LoginApp) takeLogins(m *wire.Logins) {
	if m.Refused != l.full {
		l.full = m.Refused
		if l.full {
			l.log.Warn("the world is full; logins wait or are refused", "reason", m.Reason)
		} else {
			l.log.Info("logins are open again", "reason", m.Reason)
		}
	}
}
