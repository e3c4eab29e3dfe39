// Package placement says why an entity could not be put at a place: why a teleport has failed, or why
// a cell part was not made.
package placement

import (
	"github.com/cellscape/cellscape/internal/enum"
)

// Code says why.
type Code uint8

// The reasons.
const (
	// Vetoed: the script's OnTeleport returned an error, or led to a place that makes no sense. Of a
	// party: one of it stays or is gone. To a base that asks while its cell part is being teleported: that
	// may succeed once it has arrived.
	Vetoed Code = 1 + iota
	// NoSpace: there is no such space, or it has ended.
	NoSpace
	// NoCell: no cell could take the entity in time. The CellAppMgr was away, or the space has no cell
	// at the place.
	NoCell
	// Loading: the cell has yet to load its land.
	Loading
	// Full: the cell or the space has as many entities as it takes.
	Full
	// Forbidden: a rule of the game refused it; see space.Scripts.OnArrival.
	Forbidden
	// NotFound: the entity to go near to is not there, or moves too much.
	NotFound
	// TooLarge: what would travel is too large.
	TooLarge
	// Unknown: the other CellApp does not know the type, or cannot read the state.
	Unknown
	// Lost: a CellApp died meanwhile, and the entity was restored to before the teleport.
	Lost
	// NoPart: the cell part is gone. Only bases are told so.
	NoPart
	// Unanswered: no answer came in time. Only who creates an entity is told so; one without a base
	// may have been made all the same.
	Unanswered
	// LastCode is the last of them.
	LastCode = Unanswered
)

// String names the reason.
func (c Code) String() string {
	return enum.Name(c, "placement", []string{
		Vetoed:     "vetoed",
		NoSpace:    "no such space",
		NoCell:     "no cell",
		Loading:    "loading",
		Full:       "full",
		Forbidden:  "forbidden",
		NotFound:   "not found",
		TooLarge:   "too large",
		Unknown:    "unknown",
		Lost:       "lost",
		NoPart:     "no cell part",
		Unanswered: "no answer",
	})
}

// Passing reports whether the same may succeed a moment later.
func (c Code) Passing() bool { return c == NoCell || c == Loading || c == NotFound }

// TeleportError says why a teleport has failed.
type TeleportError struct {
	Code Code
	// Reason is one line for people; it may be empty.
	Reason string
}

// Error is part of error.
func (e *TeleportError) Error() string { return text("teleport", e.Code, e.Reason) }

// CreateError says why an entity was not made at a place.
type CreateError struct {
	Code Code
	// Reason is one line for people; it may be empty.
	Reason string
}

// Error is part of error.
func (e *CreateError) Error() string { return text("create", e.Code, e.Reason) }

func text(what string, c Code, reason string) string {
	what += ": " + c.String()
	if reason != "" {
		what += ": " + reason
	}
	return what
}
