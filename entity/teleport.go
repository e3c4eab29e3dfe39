package entity

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// Destination is where a teleport leads. Give either a place in a space, or an entity to go near to.
type Destination struct {
	// Space is the space to go to; 0 is the one that the entity is in. It counts only without Near.
	Space SpaceID
	// Position is where to, in metres; with Near it is the way from that entity. Direction is yaw,
	// pitch and roll in radians.
	Position, Direction property.Vector3
	// Near is an entity to go near to, wherever it is; 0 for none.
	Near ID
	// Transition takes the entity through a transition area: a place that looks the same here and there,
	// such as a lift. It keeps its direction, whatever Direction says, and of a party each keeps its place
	// relative to the first, which comes to Position. The client's view goes along: the client maps its
	// coordinates, and who is in sight before and after stays on the screen, without leaving and entering.
	// Not with Near.
	Transition bool
}

// Check reports what makes no sense in a destination.
func (d *Destination) Check() error {
	if !property.Finite(d.Position) || !property.Finite(d.Direction) {
		return fmt.Errorf("entity: teleport to %v: %w", d.Position, errNotFinite)
	}
	if d.Transition && d.Near != 0 {
		return errors.New("entity: a transition leads to a place, not near an entity")
	}
	return nil
}

// TeleportReply answers Base.TeleportCell. It is the argument of the callback that the script named.
type TeleportReply struct {
	// User is the number that the script gave to TeleportCell.
	User int64
	// Err says why the cell part was not teleported, as a *placement.TeleportError; nil if it was.
	Err error
}
