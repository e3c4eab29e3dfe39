// Package presence is an entity as it is present on a cell: what its real and its ghosts have in
// common, which ghosts mirror and witnesses read.
//
// Nothing here locks. Each value belongs to the one cell that owns it.
package presence

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Entity is the part of a cell's record that reals and ghosts have in common, which anyone on the
// cell may read. Only its real's messages change a ghost's record.
type Entity struct {
	ID    entity.ID
	Def   *property.Definition
	Space entity.SpaceID
	// Order is that of the real that this record is or mirrors.
	Order entity.Order
	// Base is the app that holds the base part; zero for an entity without one.
	Base mercury.Address

	Position property.Vector3
	// Direction is yaw, pitch and roll in radians, in X, Y and Z.
	Direction property.Vector3
	// MoveStamp counts changes of position or direction within an incarnation, so that a late
	// position can be told from a new one.
	MoveStamp uint32
	// MovedTick is the game tick of the local app at which the last move was seen. It is local: it
	// does not travel.
	MovedTick uint64
	// Motion is the same movement in the form that clients are told; Put updates it.
	Motion Motion
	placed bool
	// Aspect is how the entity shows itself to clients.
	Aspect Aspect
	// Control says which other entity's client moves it.
	Control Control
	// Ride says which vehicle it is on.
	Ride Ride

	// Props holds the properties that this record has, as a real or a ghost.
	Props *property.Values
	// History numbers property changes and events for everyone who watches.
	History *property.History
	// Floor is at most the number up to which every watcher on the local app has been told. It is
	// local: the cell and its witnesses compute it to trim History.
	Floor property.EventNumber
}

// MoveTo sets position and direction and counts the move. It returns false and changes nothing if
// the move would change nothing or a number is not finite.
func (e *Entity) MoveTo(tick uint64, position, direction property.Vector3) bool {
	if !property.Finite(position) || !property.Finite(direction) {
		return false
	}
	if e.Position == position && e.Direction == direction {
		return false
	}
	e.Put(position, direction, e.MoveStamp+1)
	e.MovedTick = tick
	return true
}
