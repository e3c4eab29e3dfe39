package loginapp

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
)

// takeStop takes an order about the stop of the world: nobody is let in any more, and those who
// wait for room are told. Logins that are being placed are answered; the manager waits for them. Or
// it has not begun after all.
func (l *LoginApp) takeStop(from sender, m *wire.Stop) {
	if !l.manager.Heeds() || !l.manager.TakeStop(m) {
		return
	}
	for l.closing() && len(l.queue.places) > 0 {
		l.refuse(from.now, l.queue.places[0].in, protocol.ServerClosing)
	}
	l.manager.SayStop(&wire.StopState{Pending: uint64(l.pending())})
}

// closing reports whether nobody is let in any more, since the world is being stopped.
func (l *LoginApp) closing() bool {
	step, _ := l.manager.Stopping()
	return step > wire.StopNone
}

// Ended reports whether the world was stopped, and the process can end.
func (l *LoginApp) Ended() bool {
	step, _ := l.manager.Stopping()
	return step == wire.StopEnded
}
