package baseappmgr

import "github.com/cellscape/cellscape/internal/wire"

// takeStop takes an order about the stop of the world: no proxy is made any more. What is asked of
// BaseApps is still answered; the CellAppMgr waits for that.
func (m *BaseAppMgr) takeStop(_ sender, s *wire.Stop) error {
	if !m.manager.Heeds() {
		return errOutdated
	}
	if m.manager.TakeStop(s) {
		m.manager.SayStop(&wire.StopState{Pending: uint64(m.links.Asked() + len(m.unsure))})
	}
	return nil
}

// closing reports whether nobody is let in any more, since the world is being stopped.
func (m *BaseAppMgr) closing() bool {
	step, _ := m.manager.Stopping()
	return step > wire.StopNone
}

// Ended reports whether the world was stopped, and the process can end.
func (m *BaseAppMgr) Ended() bool {
	step, _ := m.manager.Stopping()
	return step == wire.StopEnded
}
