package cellappmgr

import "github.com/cellscape/cellscape/internal/wire"

// CellApps and BaseApps listen only to those whom the manager has named. So each of them is told of
// the others before it is told anything that brings them together, since messages on the channel of
// the manager keep their order. They keep what an earlier manager told them; AppDead tells of
// deaths. The BaseAppMgr is told, too: it waits for the BaseApps that it has not heard yet. So is
// the DBApp, which listens to BaseApps.

// hearsOfApps reports whether a member is told who the others are.
func (a *member) hearsOfApps() bool {
	return a.reports() || a.role == wire.BaseAppMgr || a.role == wire.DBApp
}

// tellMembers tells a member who the others are.
func (m *CellAppMgr) tellMembers(a *member) {
	if !a.hearsOfApps() {
		return
	}
	var msg wire.Members
	for _, b := range m.members {
		if b != a && b.reports() && len(msg.Apps) < wire.MaxMembers {
			msg.Add(wire.AppRef{Role: b.role, App: b.address}, b.allocator)
		}
	}
	m.send(a, &msg)
}

// tellOfMember tells the others of a new member.
func (m *CellAppMgr) tellOfMember(a *member) {
	if !a.reports() {
		return
	}
	var msg wire.Members
	msg.Add(wire.AppRef{Role: a.role, App: a.address}, a.allocator)
	encoded := m.encode(&msg)
	for _, b := range m.members {
		if b != a && b.hearsOfApps() {
			m.sendOn(b.channel, encoded)
		}
	}
}
