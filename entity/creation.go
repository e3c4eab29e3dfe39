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
	// Request is what CreateCellAt returned.
	Request uint64
	// Err says why there is no cell part; nil if there is one.
	Err *CreateError
}

// SpawnInfo describes an entity without a base for a cell part to make near another entity.
type SpawnInfo struct {
	// Type is the name of the entity type, which must have a cell part.
	Type string
	// Near is an entity to make it near to, wherever that is: the mailbox of any part of it.
	Near property.Mailbox
	// Position is the way from that entity, in metres. Direction is yaw, pitch and roll in radians.
	Position, Direction property.Vector3
	// Init sets properties before the script sees them. It runs where the entity is asked for, before
	// SpawnNear returns. Nil leaves their defaults.
	Init func(*property.Values)
}

// Check reports what makes no sense.
func (i *SpawnInfo) Check() error { return checkPlace("spawn "+i.Type, i.Position, i.Direction) }

// SpawnReply answers space.Real.SpawnNear. It is the argument of the callback that the script named.
type SpawnReply struct {
	// User is what the script gave to SpawnNear.
	User int64
	// Entity is the mailbox of the cell part, zero if there is none.
	Entity property.Mailbox
	// Err says why there is none; nil if there is one.
	Err *CreateError
}

// CreateError says why an entity was not made at a place. The codes are those of teleports.
type CreateError struct {
	Code TeleportCode
	// Reason is one line for people; it may be empty.
	Reason string
}

// Error is part of error.
func (e *CreateError) Error() string {
	if e.Reason == "" {
		return "create: " + e.Code.String()
	}
	return "create: " + e.Code.String() + ": " + e.Reason
}

func checkPlace(what string, position, direction property.Vector3) error {
	if !property.Finite(position) || !property.Finite(direction) {
		return fmt.Errorf("entity: %s at %v: %w", what, position, errNotFinite)
	}
	return nil
}
