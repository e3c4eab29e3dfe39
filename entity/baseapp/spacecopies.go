package baseapp

import (
	"cmp"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space"
)

// A BaseApp keeps what some spaces have besides their entities, as the CellAppMgr tells it: see
// wire.SpaceCopy. It does nothing with that but tell it to the next manager.

// spaceCopy is a space that is kept here.
type spaceCopy struct {
	space   entity.SpaceID
	info    []byte
	data    []space.DataEntry // in the order of their numbers
	unsaid  bool              // since the last Welcome
	removed int               // notes among data
}

// routeSpaces registers the handlers of what the manager says of spaces.
func (a *BaseApp) routeSpaces() {
	app.On(&a.routes, func(_ sender, m *wire.SpaceCopy) { a.takeSpaceCopy(m) })
	app.Try(&a.routes, func(_ sender, m *wire.SpaceData) error { return a.takeSpaceData(m) })
	app.Try(&a.routes, func(_ sender, m *wire.SharedData) error { return a.shared.TakeAll(m) })
}

// doubtSpaces notes that the manager has welcomed this app, and says anew what is to be kept.
func (a *BaseApp) doubtSpaces() {
	for _, c := range a.spaceCopies {
		c.unsaid = true
	}
}

// spaceCopy finds what is kept of a space, and where it stands or would stand.
func (a *BaseApp) spaceCopy(id entity.SpaceID) (at int, kept bool) {
	return slices.BinarySearchFunc(a.spaceCopies, id, func(c *spaceCopy, id entity.SpaceID) int { return cmp.Compare(c.space, id) })
}

func (a *BaseApp) takeSpaceCopy(m *wire.SpaceCopy) {
	at, kept := a.spaceCopy(m.Space)
	switch {
	case m.Gone && m.Space == 0:
		a.spaceCopies = slices.DeleteFunc(a.spaceCopies, func(c *spaceCopy) bool { return c.unsaid })
		return
	case m.Gone && kept:
		a.spaceCopies = slices.Delete(a.spaceCopies, at, at+1)
		return
	case m.Gone:
		return // it was not told again, and others were said to be gone
	case kept:
	case len(a.spaceCopies) >= wire.MaxRejoinCells:
		a.refused("one more space to keep than there can be", "space", m.Space)
		return
	default:
		a.spaceCopies = slices.Insert(a.spaceCopies, at, nil)
	}
	c := &spaceCopy{space: m.Space, info: slices.Clone(m.Info)}
	for _, e := range m.Data {
		c.put(e)
	}
	a.spaceCopies[at] = c
}

// takeSpaceData takes a change. One of a space that is no longer kept was under way when that was said.
func (a *BaseApp) takeSpaceData(m *wire.SpaceData) error {
	if m.Space == 0 {
		return a.shared.Take(m.Entry)
	}
	if at, kept := a.spaceCopy(m.Space); kept {
		a.spaceCopies[at].put(m.Entry)
	}
	return nil
}

// put takes an entry, which replaces older ones as at the manager. The manager bounds the others;
// of the notes of removed ones the oldest goes.
func (c *spaceCopy) put(e space.DataEntry) {
	c.drop(func(x *space.DataEntry) bool { return e.Replaces(x) })
	e.Value = slices.Clone(e.Value)
	c.data = append(c.data, e)
	if !e.Removed {
		return
	}
	if c.removed++; c.removed > wire.MaxRemovedData {
		oldest := slices.IndexFunc(c.data, func(x space.DataEntry) bool { return x.Removed })
		number := c.data[oldest].Number
		c.drop(func(x *space.DataEntry) bool { return x.Number == number })
	}
}

func (c *spaceCopy) drop(which func(*space.DataEntry) bool) {
	c.data = slices.DeleteFunc(c.data, func(x space.DataEntry) bool {
		if !which(&x) {
			return false
		}
		if x.Removed {
			c.removed--
		}
		return true
	})
}

// rejoinSpaces tells a new CellAppMgr what is kept here, and returns how many spaces.
func (a *BaseApp) rejoinSpaces() uint32 {
	for _, c := range a.spaceCopies {
		a.cellMgr.Send(&wire.SpaceCopy{Space: c.space, Info: c.info, Data: c.data})
	}
	return uint32(len(a.spaceCopies))
}
