package entity

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// CellInfo describes a cell part for a base to create.
type CellInfo struct {
	// Space is where to create it. Give either Space or Near.
	Space SpaceID
	// Near is an entity to create it near to, wherever that is: the mailbox of any part of it. It
	// must have a cell part then.
	Near property.Mailbox
	// Position is where, in metres; with Near it is the way from that entity. Direction is yaw, pitch
	// and roll in radians.
	Position, Direction property.Vector3
	// Init sets properties of the cell part before it exists anywhere. Nil leaves their defaults.
	Init func(*property.Values)
}

// Check reports what makes no sense.
func (i *CellInfo) Check() error {
	if (i.Space == 0) == i.Near.IsZero() {
		return errors.New("entity: create a cell part: give either a space or an entity to be near to")
	}
	return checkPlace("create a cell part", i.Position, i.Direction)
}

// CellReply answers Base.CreateCellAt. It is the argument of the callback that the script named.
type CellReply struct {
	// User is the number that the script gave to CreateCellAt.
	User int64
	// Err says why there is no cell part, as a *placement.CreateError; nil if there is one.
	Err error
}

func checkPlace(what string, position, direction property.Vector3) error {
	if !property.Finite(position) || !property.Finite(direction) {
		return fmt.Errorf("entity: %s at %v: %w", what, position, errNotFinite)
	}
	return nil
}
