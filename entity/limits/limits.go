// Package limits has the bounds of what scripts may ask for. Beyond them they get an error, mostly
// entity.ErrTooMany or entity.ErrFull. What an app bounds by itself is in its own package, such as
// space.MaxControllers.
//
// Besides what one property may have, what an entity has together is bounded, since it travels at once:
//
//	192 KB  what others see of it (witness.MaxEntity): more is not shown to who comes near, which the
//	        status counts (Unsaid) and the log says
//	 96 KB  a call to all who see it (witness.MaxCall): entity.ErrArguments
//	 64 KB  what a cell part has said to other entities, and they have not settled (space.MaxTail):
//	        entity.ErrFull, and entity.ErrArguments for one call above it
//	512 KB  any other call (flow.MaxArguments): entity.ErrArguments
//	896 KB  a cell part with all that it takes along (migrate.MaxParts): above it does not travel, and
//	        has no backup; entity.Callback.Err of a Backup is ErrTooLarge
//	896 KB  a base together with the copy of its cell part: above it no other BaseApp holds a copy,
//	        which its Backup is told likewise
package limits

import (
	"errors"
	"time"
)

// ErrTooLarge is of an entity that has more to carry than a process may tell another at once. No
// copy of it is made, and it does not travel, until it is smaller.
var ErrTooLarge = errors.New("limits: the properties of the entity and all else are too much to be carried")

const (
	// Timers bounds the timers of one part of an entity, so that a script that adds one in every
	// callback gets an error before it slows everyone down.
	Timers = 256

	// BaseName bounds the name of a base, in bytes, and BaseNames the names of one base.
	BaseName  = 256
	BaseNames = 16

	// SpaceStart bounds the entries of data that a space begins with (entity.SpaceInfo.Data), and
	// SpaceStartBytes their values: a request for a space is no way to load a world. There is room
	// for more once the space is there.
	SpaceStart      = 64
	SpaceStartBytes = 16 << 10

	// LeastKeepFor and MostKeepFor bound entity.SpaceInfo.KeepFor. In less time a group that leaves
	// a room one by one, or a base that makes its cell part anew, would not find it again. A room
	// that is to be kept for longer than a year is to be kept (entity.SpaceInfo.Keep).
	LeastKeepFor = 10 * time.Second
	MostKeepFor  = 365 * 24 * time.Hour

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
