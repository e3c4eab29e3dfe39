// Package limits has the bounds of what scripts may ask for. Beyond them they get an error, mostly
// entity.ErrTooMany or entity.ErrFull. What an app bounds by itself is in its own package, such as
// space.MaxControllers.
package limits

import (
	"time"
)

const (
	// Timers bounds the timers of one part of an entity, so that a script that adds one in every
	// callback gets an error before it slows everyone down.
	Timers = 256

	// BaseName bounds the name of a base, in bytes, and BaseNames the names of one base.
	BaseName  = 256
	BaseNames = 16

	// StoreWaits bounds the Writes that one base's script waits for, as for Backups.
	StoreWaits = 64

	// DefaultCallTime is how long a two-way call may take, in game time, unless Mailbox.Within says
	// otherwise: longer than the death of a CellApp takes to be noticed and healed.
	DefaultCallTime = 15 * time.Second

	// CallTime is the longest time that a call may be given. What is not answered is kept, and
	// travels with the caller.
	CallTime = 10 * time.Minute

	// Requests bounds the two-way calls of one cell part that are not answered yet, since they travel
	// with it and are in its backups.
	Requests = 1024

	// BaseRequests is the same for a base, which may ask everyone of a guild at once.
	BaseRequests = 1 << 16

	// OwedAnswers bounds the calls of one part of an entity that it has handled and will answer
	// later, since they travel with it and are in its backups.
	OwedAnswers = 1024

	// ErrorText bounds the text of an entity.GameError where it travels, in bytes; the rest is cut
	// off.
	ErrorText = 1024
)
