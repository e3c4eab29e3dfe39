package sim

import (
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/recording"
)

// Lodgers live in rooms of their own. Each asks for a space, moves in, stays for a while, and gives
// the room up in one of three ways: its base destroys the space, its cell part does, or it leaves
// and lets the empty room end by itself. Then it asks for the next one. The first cell of a room
// spawns a lamp.

const lodgerDef = `
<root>
	<Properties>
		<steps>   <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </steps>
		<room>    <Type> UINT32 </Type> <Flags> BASE </Flags> </room>
		<asked>   <Type> BOOL </Type> <Flags> BASE </Flags> </asked>
		<got>     <Type> BOOL </Type> <Flags> BASE </Flags> </got>
		<rooms>   <Type> INT32 </Type> <Flags> BASE </Flags> </rooms>
	</Properties>
	<CellMethods>
		<close/>
	</CellMethods>
</root>`

const lampDef = `
<root>
	<Properties>
		<steps>   <Type> UINT32 </Type> <Flags> CELL_PUBLIC </Flags> </steps>
	</Properties>
</root>`

// room is what lodgers ask for. A quarter of the rooms are so full that they are divided, and a quarter
// wait for nobody longer than they must: then the lodger asks for the next one.
func room(n int) entity.SpaceInfo {
	info := entity.SpaceInfo{Bounds: bsp.Rect{MinX: -20, MinZ: -20, MaxX: 20, MaxZ: 20}, MinCells: 1, MaxCells: 1}
	switch n % 4 {
	case 1:
		info.KeepFor = limits.LeastKeepFor
	case 3:
		info.MinCells, info.MaxCells = 2, 2
	}
	return info
}

// stay is how many beats a lodger keeps a room.
const stay = 8

// lodgerBase is the base part of a lodger.
type lodgerBase struct {
	*entity.Base
	Room   property.Uint32
	Asked  property.Bool
	Got    property.Bool // its cell part has come to life
	Rooms  property.Int32
	beats  int  `cellscape:"local"`
	losses int  `cellscape:"local"`
	again  bool `cellscape:"local"` // it was restored
	enough bool `cellscape:"local"` // it asks for no more rooms
	// patient says that the lodger gives each room up once, and trusts that it ends; left is the
	// last one that it gave up.
	patient bool           `cellscape:"local"`
	left    entity.SpaceID `cellscape:"local"`
}

// OnCreated starts the beat.
func (b *lodgerBase) OnCreated() { _, _ = b.AddTimer(beat, beat, "OnBeat", 0) }

// OnRestored notes that it may have done more than it remembers.
func (b *lodgerBase) OnRestored() { b.again = true }

func (b *lodgerBase) room() entity.SpaceID { return entity.SpaceID(b.Room.Get()) }

// OnRoom moves in, once a copy of the base knows the room: no cell part is in a room of which a restored base
// knows nothing.
func (b *lodgerBase) OnRoom(r entity.SpaceReply) {
	b.Asked.Set(false)
	if r.Space == 0 {
		return
	}
	b.Room.Set(uint32(r.Space))
	b.beats = 0
	b.Rooms.Set(b.Rooms.Get() + 1)
	if err := b.Backup("OnMoveIn", int64(r.Space)); err != nil {
		panic(err)
	}
}

// OnMoveIn moves in.
func (b *lodgerBase) OnMoveIn(c entity.Callback) {
	room := entity.SpaceID(c.User)
	if b.room() != room || b.CreateCell(room, property.Vector3{X: float32(b.Rooms.Get()%30 - 15)}, property.Vector3{}, nil) == nil || b.again {
		return
	}
	_ = b.DestroySpace(room) // the former cell part is still on its way out, and nobody else will use the room
	b.Room.Set(0)
	b.Rooms.Set(b.Rooms.Get() - 1)
}

// OnGetCell notes that it has moved in.
func (b *lodgerBase) OnGetCell() { b.Got.Set(true) }

// OnLoseCell gives up the room, whoever ended it. If the room still exists, it is empty.
func (b *lodgerBase) OnLoseCell() {
	b.Room.Set(0)
	b.Got.Set(false)
	b.losses++
}

// OnBeat asks for a room, or gives up the one that it has.
func (b *lodgerBase) OnBeat(entity.Callback) {
	b.beats++
	switch rooms := b.Rooms.Get(); {
	case b.room() == 0 && !b.Asked.Get() && !b.enough:
		err := b.CreateSpace(room(int(rooms)), "OnRoom", 0)
		b.Asked.Set(err == nil)
	case b.room() == 0 || b.beats%stay != 0 || b.patient && b.left == b.room():
	case rooms%3 == 0:
		b.left = b.room()
		_ = b.DestroySpace(b.room())
	case rooms%3 == 1:
		_ = b.Cell().Call("close")
	default:
		_ = b.DestroyCell()
		if !b.Got.Get() {
			// The cell part was on its way in. If it never comes to life, nobody says that it is
			// gone, and nobody uses the room.
			_ = b.DestroySpace(b.room())
			b.OnLoseCell()
		}
	}
}

// lodgerCell is the cell part of a lodger.
type lodgerCell struct {
	*space.Real
	Steps property.Uint32
}

// OnCreated starts the beat.
func (s *lodgerCell) OnCreated() { _, _ = s.AddTimer(beat, beat, "OnBeat", 0) }

// OnBeat walks about in the room.
func (s *lodgerCell) OnBeat(entity.Callback) {
	s.Steps.Set(s.Steps.Get() + 1)
	_ = s.SetPosition(property.Vector3{X: float32(s.Chance().IntN(40) - 20), Z: float32(s.Chance().IntN(40) - 20)})
}

// Close ends the room.
func (s *lodgerCell) Close() { s.DestroySpace() }

// lampCell is what the hook of the first cell puts into a room. The lamp goes out, so that a room
// that its lodger has left becomes empty.
type lampCell struct {
	*space.Real
	Steps property.Uint32
}

// lampLife is shorter than the stay of a lodger.
const lampLife = 4 * beat

// OnCreated lets the lamp burn for a while.
func (s *lampCell) OnCreated() { _, _ = s.AddTimer(lampLife, 0, "OnOut", 0) }

// OnOut ends it.
func (s *lampCell) OnOut(entity.Callback) { s.Destroy() }

// registerRooms adds all of this to the world's cells. lit is called for each lamp. gateway says that the
// players' space has gateways, recorded that it is recorded.
func registerRooms(cells *space.Scripts, lit func(entity.SpaceID), gateway, recorded bool) {
	space.Register[lodgerCell](cells, "Lodger")
	space.Register[lampCell](cells, "Lamp")
	cells.OnFirstCell(func(c *space.Cell, fromStore bool) {
		if c.Space() == theSpace && recorded {
			if err := c.SetSpaceData(recording.Key, []byte("the world")); err != nil {
				panic(err)
			}
		}
		switch {
		case c.Space() == theSpace && gateway:
			openGates(c)
			return
		case c.Space() == theSpace || c.Space() == theOther || fromStore: // the lamp of a room ends with the world
			return
		}
		lit(c.Space())
		_, _ = c.Spawn("Lamp", property.Vector3{}, property.Vector3{}, nil)
	})
}

// roomsGone is how long after the last lodger has left every room has ended: longer than the
// manager waits for those whose CellApp or BaseApp died.
const roomsGone = 75 * time.Second
