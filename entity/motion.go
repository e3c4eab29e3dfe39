package entity

import (
	"math"

	"github.com/cellscape/cellscape/property"
)

// Grid is what the places that clients are told of count in, of a metre: a place on the way is off
// by less than two centimetres. Where an entity comes to rest is told exactly.
const Grid = 32

// maxPath is how much one move may add to Motion.Path: more than any form of a place that goes by
// the path reaches.
const maxPath = 1 << 16

// Motion is how an entity has moved, as those who tell clients of it need it. It is worked out once
// for a move, and read by each who has the entity in view. It is local: another record of the entity,
// in another cell, has another Path.
type Motion struct {
	// X and Z are the place on the ground, in parts of a metre (Grid).
	X, Z int32
	// Yaw is the direction on the ground, in 256ths of a turn.
	Yaw uint8
	// Path is how far the entity has gone, all in all: for each move the larger of what it went in
	// X and in Z, in parts of a metre (Grid). It counts round.
	Path uint32
	// Turned, Tilted and Rose are the MoveStamps of the last moves that changed the yaw, pitch or
	// roll, and the height.
	Turned, Tilted, Rose uint32
}

// Put sets position and direction as those of the move of a stamp. All that sets them does it so.
func (e *Entity) Put(position, direction property.Vector3, stamp uint32) {
	m := &e.Motion
	x, z := onGrid(position.X), onGrid(position.Z)
	if e.placed {
		m.Path += uint32(min(max(abs(x-m.X), abs(z-m.Z)), maxPath))
	}
	if !e.placed || direction.X != e.Direction.X {
		m.Turned = stamp
		m.Yaw = TurnsOf(direction.X)
	}
	if !e.placed || direction.Y != e.Direction.Y || direction.Z != e.Direction.Z {
		m.Tilted = stamp
	}
	if !e.placed || position.Y != e.Position.Y {
		m.Rose = stamp
	}
	m.X, m.Z, e.placed = x, z, true
	e.Position, e.Direction, e.MoveStamp = position, direction, stamp
}

// onGrid is a coordinate in parts of a metre. All of entities are within MaxCoordinate.
func onGrid(x float32) int32 {
	return int32(math.Round(float64(min(max(x, -MaxCoordinate), MaxCoordinate)) * Grid))
}

// TurnsOf is an angle in radians as 256ths of a turn.
func TurnsOf(radians float32) uint8 {
	turns := float64(radians) / (2 * math.Pi)
	turns -= math.Floor(turns)
	if !(turns >= 0 && turns <= 1) { // no angle
		return 0
	}
	return uint8(int(math.Round(turns*256)) & 0xff)
}

func abs(x int32) int32 { return max(x, -x) }
