package cellappmgr

import "github.com/cellscape/cellscape/internal/wire"

// freeze stops the world or lets it go on, until the next Freeze: the state outlives the observer
// that asked for it.
func (m *CellAppMgr) freeze(by *member, on bool) {
	if !on && m.stopping.step >= wire.StopPaused {
		m.log.Warn("the world is being stopped, and does not go on", "by", by.String(), "address", by.address.String())
		return
	}
	m.frozen = on
	for _, a := range m.members {
		a.sinceFreeze = 0
	}
	m.tell(&wire.Freeze{On: on}, wire.CellApp, wire.BaseApp)
	if on {
		m.log.Info("world frozen", "by", by.String(), "address", by.address.String())
	} else {
		m.log.Info("world goes on", "by", by.String(), "address", by.address.String())
	}
}
