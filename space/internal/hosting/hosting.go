// Package hosting is what cells need of the CellApp that hosts them: where their messages go, how
// full the ways are, and who measures their work.
//
// # Concurrency
//
// All of it belongs to the goroutine of the CellApp.
package hosting

import (
	"context"
	"iter"
	"log/slog"
	"math/rand/v2"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/recording"
)

// Message is a body that can append itself; see internal/wire for the ids.
type Message interface{ Append(b []byte) []byte }

// Way is where a real has gone, and its order there. The zero value is nowhere.
type Way struct {
	To    mercury.Address
	Order entity.Order
}

// Outbox is where a cell's messages go. The CellApp implements it.
type Outbox interface {
	// Send sends reliably, in order for each app. It does not keep m, which the
	// cell uses again.
	Send(to mercury.Address, m Message)
	// SendWhole is Send for what may be longer than any message to the app can be. With an error
	// nothing of it is on its way: mercury.ErrMessageTooLong if it never fits, and mercury.ErrFull
	// while that is not known, since others wait for room before it. What only has no room now waits,
	// as for Send.
	SendWhole(to mercury.Address, m Message) error
	// PassOn sends a message for a real that has gone, in order for each app. It does not keep m.
	PassOn(way Way, m Message)
	// Level is how full the way to an app is. What can wait asks before it is sent; Send
	// takes what cannot at any level.
	Level(to mercury.Address) mercury.Level
	// ClientPacket passes a Positions packet to a proxy, unreliably. An error says that
	// it is not on its way. ClientRoom is how long one may be now.
	ClientPacket(base mercury.Address, id entity.ID, order entity.Order, session uint32, packet []byte) error
	ClientRoom(base mercury.Address) int
	// SetSpaceData asks the manager to change a space's data, until it has answered.
	SetSpaceData(space entity.SpaceID, change entity.SpaceDatum)
	// DestroySpace asks the manager to end a space, until it has answered.
	DestroySpace(space entity.SpaceID)
	// Locate asks the manager, once, which CellApp takes an entity at a place of a space. The
	// answer goes to Population.Located.
	Locate(id entity.ID, space entity.SpaceID, position property.Vector3)
	// LocateArea asks the manager, once, which CellApps have cells that touch an area, for a gateway.
	// The answer goes to Population.LocatedArea.
	LocateArea(gateway uint64, space entity.SpaceID, area bsp.Rect)
	// Whereis asks the BaseApp of an entity, once, where its real is, for another one that is to be
	// teleported near to it. The answer goes to Population.Whereabouts. It reports false if nobody
	// is known to have the base.
	Whereis(near, asker entity.ID) bool
	// NewID issues an entity id.
	NewID() (entity.ID, error)
	// Home is the app that an entity belongs to by its id, dead or alive: its base's, if base is
	// true, or the CellApp that made it. It is zero if the app is not known here.
	Home(id entity.ID) (app mercury.Address, base bool)
	// Dead reports whether an app was declared dead.
	Dead(app mercury.Address) bool
}

// Shared is the CellApp's copy of what the cluster shares.
type Shared interface {
	shared.Data
	// Last is the number of the newest change, and News are the changes after a number.
	Last() uint64
	News(after uint64) iter.Seq[shared.Change]
	// Choose is the fragment of a service that answers the next call of a caller, 0 if there is none.
	// Asked notes that the call has gone to it. Owes reports whether it has yet to ack one, and Heard
	// notes that it does.
	Choose(service string, caller entity.ID) entity.ID
	// Expects reports whether news of services may be yet to come.
	Expects() bool
	Asked(fragment entity.ID)
	Owes(fragment entity.ID) bool
	Heard(fragment entity.ID)
}

// Env is what a CellApp gives its space.Population.
type Env struct {
	Self     mercury.Address
	Out      Outbox
	Shared   Shared
	Counters *status.Counters
	Chance   *rand.Rand
	Log      *slog.Logger
	// Watch measures work, for all that runs on the CellApp's goroutine; nil measures
	// nothing. For messages the CellApp opens a scope, which the cell claims for whoever
	// the message is for.
	Watch *load.Stopwatch
	// Stats counts property traffic; nil counts nothing.
	Stats *property.Stats
	// Parallel calls f for each i below n on Workers goroutines at once, each with a number below
	// Workers of its own, and returns when all have returned. nil, or Workers of 0 or 1: there
	// is one.
	Parallel func(n int, f func(worker, i int))
	Workers  int
	// Trace says which entities' steps are logged; nil for none.
	Trace *trace.Trace
	// Compressor packs what its cells send; one for all cells of a CellApp, since it
	// is large. nil sends everything as it is.
	Compressor *property.Compressor
	// Recorder takes what cells record; nil for a CellApp that records nothing.
	Recorder recording.Sink
	// Do performs a job and calls done on the goroutine of the CellApp, not within Do. nil
	// performs none.
	Do func(run func(ctx context.Context) any, done func(result any)) error
}
