package cellappmgr

import (
	"fmt"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// What the cluster shares (package entity/shared) is the data of a space of its own, number 0, which
// has neither cells nor clients: its changes are numbered, repeated and taken over from an earlier
// manager as those of any space. All CellApps and BaseApps have it: a SharedData tells them the
// whole after each Welcome on a new channel, then each change follows as SpaceData.
//
//	app --SetSpaceData--> manager --SpaceData--> all apps
//	app <---SharedData--- manager    joined, or come back
//	app ----SharedData--> manager    of a later term, in the Rejoin
//
// A change on condition (update.go) is made if its sender has seen what there is.
//
// Among it are the fragments of services, each set by the BaseApp that it is on. They go with that:
// nobody else could remove them.

// dataOf finds whose data a change is about; nil if there is no such space.
func (m *CellAppMgr) dataOf(id entity.SpaceID) *space {
	if id == 0 {
		return m.shared
	}
	return m.space(id)
}

// tellAllShared tells an app everything. One that has joined for the first time knows that there is
// nothing.
func (m *CellAppMgr) tellAllShared(a *member) {
	if d := &m.shared.data; a.reports() && len(d.entries) > 0 {
		m.send(a, &wire.SharedData{Last: d.last, Data: d.entries})
	}
}

// tellShared tells a change to all who have been told everything. Others are told with their Welcome.
func (m *CellAppMgr) tellShared(encoded []byte) {
	for _, a := range m.members {
		if a.reports() && a.channel != 0 {
			m.sendOn(a.channel, encoded)
		}
	}
}

// hearShared takes what an app knows from an earlier manager.
func (m *CellAppMgr) hearShared(from sender, msg *wire.SharedData) error {
	b := from.back
	if b.told == nil || b.join.Role != wire.CellApp && b.join.Role != wire.BaseApp {
		return fmt.Errorf("%w: shared data from an app that has none", wire.ErrMalformed)
	}
	for i := range msg.Data {
		if n := msg.Data[i].Number; n > spacekey.Base(m.cfg.Term) {
			return fmt.Errorf("%w: shared data %d reported to a manager of term %d", wire.ErrMalformed, n, m.cfg.Term)
		}
	}
	if !m.recovery.on {
		m.lateData(m.shared, msg.Data, b.peer.String())
		return nil
	}
	for _, e := range msg.Data {
		m.shared.data.restore(e)
	}
	return nil
}

// endServices removes the fragments of services whose apps are gone, and the notes of their updates. An app
// that is missed may come back, and then says what its allocator is.
func (m *CellAppMgr) endServices() {
	if slices.ContainsFunc(m.members, func(a *member) bool { return a.missing }) {
		return
	}
	for _, e := range slices.Clone(m.shared.data.entries) {
		if e.Key != spacekey.Service && e.Key != spacekey.Updated || e.Removed || m.allocates(e.By) {
			continue
		}
		if e, ok := m.shared.data.set(wire.SpaceDataEntry{Key: e.Key, Name: e.Name, Removed: true}); ok {
			m.tellData(m.shared, e)
		}
	}
}

// allocates reports whether a member has an allocator, or one that is on its way back.
func (m *CellAppMgr) allocates(allocator uint32) bool {
	return slices.ContainsFunc(m.members, func(a *member) bool { return a.allocator == allocator }) ||
		slices.ContainsFunc(m.recovery.returning, func(b *returning) bool { return b.told != nil && b.told.Allocator == allocator })
}
