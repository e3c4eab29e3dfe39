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

// TeleportCode says why a teleport has failed, or why an entity was not made at a place.
type TeleportCode uint8

// The reasons.
const (
	// TeleportVetoed: the script's OnTeleport returned an error.
	TeleportVetoed TeleportCode = 1 + iota
	// TeleportNoSpace: there is no such space, or it has ended.
	TeleportNoSpace
	// TeleportNoCell: no cell could take the entity in time. The CellAppMgr was away, or the space
	// has no cell at the place.
	TeleportNoCell
	// TeleportLoading: the cell has yet to load its land.
	TeleportLoading
	// TeleportFull: the cell or the space has as many entities as it takes.
	TeleportFull
	// TeleportForbidden: a rule of the game refused it; see space.Scripts.OnArrival.
	TeleportForbidden
	// TeleportNotFound: the entity to go near to is not there, or moves too much.
	TeleportNotFound
	// TeleportTooLarge: what would travel is too large.
	TeleportTooLarge
	// TeleportUnknown: the other CellApp does not know the type, or cannot read the state.
	TeleportUnknown
	// TeleportLost: a CellApp died meanwhile, and the entity was restored to before the teleport.
	TeleportLost
	// TeleportNoPart: the cell part is gone. Only bases are told so.
	TeleportNoPart
	// TeleportUnanswered: no answer came in time. Only who creates an entity is told so; one without a
	// base may have been made all the same.
	TeleportUnanswered
	// LastTeleportCode is the last of them.
	LastTeleportCode = TeleportUnanswered
)

// String names the reason.
func (c TeleportCode) String() string {
	names := [...]string{"", "vetoed", "no such space", "no cell", "loading", "full", "forbidden", "not found", "too large", "unknown", "lost", "no cell part", "no answer"}
	if int(c) < len(names) && c > 0 {
		return names[c]
	}
	return fmt.Sprintf("teleport(%d)", uint8(c))
}

// Passing reports whether the same teleport may succeed a moment later.
func (c TeleportCode) Passing() bool {
	return c == TeleportNoCell || c == TeleportLoading || c == TeleportNotFound
}

// TeleportError says why a teleport has failed.
type TeleportError struct {
	Code TeleportCode
	// Reason is one line for people; it may be empty.
	Reason string
}

// Error is part of error.
func (e *TeleportError) Error() string {
	if e.Reason == "" {
		return "teleport: " + e.Code.String()
	}
	return "teleport: " + e.Code.String() + ": " + e.Reason
}

// TeleportReply answers Base.TeleportCell. It is the argument of the callback that the script named.
type TeleportReply struct {
	// Request is what TeleportCell returned.
	Request uint64
	// Err says why the cell part was not teleported; nil if it was.
	Err *TeleportError
}
