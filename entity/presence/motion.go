package presence

import (
	"math"

	"github.com/cellscape/cellscape/property"
)

// Grid is how many units a metre has in the places that clients are told: a place on the way is off
// by less than two centimetres. Where an entity comes to rest is told exactly.
const Grid = 32

// maxPath is the most that one move adds to Motion.Path: farther than any encoding of a place by
// the path reaches.
const maxPath = 1 << 16

// Motion is how an entity has moved, in the form that witnesses need. It is computed once for each
// move, and read by all who have the entity in view. It is local: the entity's record in another
// cell has another Path.
type Motion struct {
	// X and Z are the place on the ground, in units of 1/Grid metre.
	X, Z int32
	// Yaw is the direction on the ground, in 256ths of a turn.
	Yaw uint8
	// Path is how far the entity has gone in all, in units of 1/Grid metre: each move adds the
	// larger of its steps in X and Z. It wraps around.
	Path uint32
	// Rise is the same of the height: each move adds its step up or down.
	Rise uint32
	// Height is the height, in units of 1/Grid metre.
	Height int32
	// Turned, Tilted and Rose are the MoveStamps of the last moves that changed the yaw by more
	// than a hair, pitch or roll, and the height. The yaw of who walks straight, worked out anew
	// for each step, changes in its last bits: while that counted as a turn, a third to a half of
	// the places in a crowd had a byte too many.
	Turned, Tilted, Rose uint32

	faced float32 // the yaw at Turned, in radians
}

// leastTurn is the most that a yaw may differ from that of the last turn without being another, in
// radians: an eighth of what Motion.Yaw counts in. A client that holds the yaw exactly is off by no
// more.
const leastTurn = 2 * math.Pi / 256 / 8

// turns reports whether a yaw in radians is another one than that of the last turn.
func (m *Motion) turns(yaw float32) bool {
	apart := yaw - m.faced
	return !(apart <= leastTurn && apart >= -leastTurn) || TurnsOf(yaw) != m.Yaw
}

// Put sets position and direction as those of the move with a stamp. Nothing else may set them.
func (e *Entity) Put(position, direction property.Vector3, stamp uint32) {
	m := &e.Motion
	x, y, z := onGrid(position.X), onGrid(position.Y), onGrid(position.Z)
	if e.placed {
		m.Path += uint32(min(max(abs(x-m.X), abs(z-m.Z)), maxPath))
		m.Rise += uint32(min(abs(y-m.Height), maxPath))
	}
	if !e.placed || m.turns(direction.X) {
		m.Turned = stamp
		m.Yaw, m.faced = TurnsOf(direction.X), direction.X
	}
	if !e.placed || direction.Y != e.Direction.Y || direction.Z != e.Direction.Z {
		m.Tilted = stamp
	}
	if !e.placed || position.Y != e.Position.Y {
		m.Rose = stamp
	}
	m.X, m.Height, m.Z, e.placed = x, y, z, true
	e.Position, e.Direction, e.MoveStamp = position, direction, stamp
}

// onGrid is a coordinate in units of 1/Grid metre. Coordinates of entities are within
// MaxCoordinate.
func onGrid(x float32) int32 {
	return int32(math.Round(float64(min(max(x, -property.MaxCoordinate), property.MaxCoordinate)) * Grid))
}

// TurnsOf is an angle in radians as 256ths of a turn.
func TurnsOf(radians float32) uint8 {
	turns := float64(radians) / (2 * math.Pi)
	turns -= math.Floor(turns)
	if !(turns >= 0 && turns <= 1) { // not a number
		return 0
	}
	return uint8(int(math.Round(turns*256)) & 0xff)
}

func abs(x int32) int32 { return max(x, -x) }
