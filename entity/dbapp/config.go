package dbapp

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

const (
	// DefaultTick is the default of Config.Tick.
	DefaultTick = 100 * time.Millisecond

	// MaxJobs is how many calls of the store are under way at one time: an embedded database writes one
	// at a time, a server has some dozens of connections for all its clients.
	MaxJobs = 8

	// MaxCalls and MaxBytes bound the calls that wait: what tens of thousands of bases ask when they all
	// end at once waits for some seconds, and takes no more memory than a small server has to spare.
	MaxCalls = 1 << 16
	MaxBytes = 256 << 20

	// MaxTogether and MaxBytesTogether bound the writes of one job, so that others get their turn.
	MaxTogether      = 256
	MaxBytesTogether = 4 << 20

	// MaxLoadsTogether bounds the loads of one job. How long rows are is known only then: at worst,
	// that many times store.MaxData.
	MaxLoadsTogether = 64

	// JobTime is how long one call of the store may take. A database that needs longer is stuck.
	JobTime = 5 * time.Second

	// FirstPause and LastPause are the pauses between two tries, which double.
	FirstPause = 100 * time.Millisecond
	LastPause  = 2 * time.Second

	// Patience is for how long a call is tried again: a database server may start anew meanwhile. A
	// load gives up after LoadPatience, since a player waits for it.
	Patience     = 30 * time.Second
	LoadPatience = 4 * time.Second

	// AdoptTime is how long a DBApp that is not fresh waits, from when the first BaseApp has come, for one
	// to say which start of the cluster this is: they come back within a second or two of each other.
	AdoptTime = 5 * time.Second

	// FreeAfter is how long the heirs of a BaseApp have to take its check-outs over. They ask as soon as
	// they hear of the death, and again until they are answered.
	FreeAfter = 30 * time.Second

	// reserved is how many database ids of a type are taken at a time. What is left at the end is never
	// given, so not too many.
	reserved = 64
)

// Jobs runs blocking work off the DBApp's goroutine. The runner provides it.
type Jobs interface {
	// Do calls run elsewhere and later passes its result to JobDone with the same token, on the
	// DBApp's goroutine and never from within Do. It does so exactly once for every job.
	Do(token uint64, run func(ctx context.Context) any)
}

// Limit gives a context an end, as context.WithTimeout does. The runner provides it, since it has a clock.
type Limit func(context.Context) (context.Context, context.CancelFunc)

// Config configures a DBApp.
type Config struct {
	// Transport is the transport of the process. Required.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens. Required.
	Manager netip.AddrPort
	// Schema has the entity definitions. Required, and the same in the whole cluster.
	Schema *property.Schema
	// Store keeps the entities. Types was applied to it, unless there is a Change. Both are required. The
	// DBApp does not close it.
	Store store.Store
	Types *store.Schema
	// Change applies Types to the Store, if that changes it: it is called in a job once it is known that no
	// world lives in it, or that the one that lives has these definitions. nil if it was done before.
	Change func(context.Context) error
	// Holder says in a line who has the store while this DBApp does, and since when: another world that is
	// refused it names that. At most MaxHolder bytes; nothing is said if it is empty.
	Holder string
	// BringBack names the types whose marked entities come back when a start of the cluster begins.
	BringBack []string
	// Fresh says that the cluster starts now, and that no other lives in the Store. Without it a cluster may
	// live that goes on.
	Fresh bool
	// Unleased leaves out the sign in the store that a world lives there, which is for simulated worlds whose
	// runs must stay as they were before there was one.
	Unleased bool
	// Jobs runs the calls of the store. Required.
	Jobs Jobs
	// Secrets fills b with random bytes, by which a world knows its store again. Required.
	Secrets func(b []byte)
	// Limit bounds the time of one call of the store: JobTime suits most. nil means that nothing does.
	Limit Limit
	// Log takes what an operator wants to know; nil discards it.
	Log *slog.Logger
	// Tick is the time between ticks; 0 means DefaultTick.
	Tick time.Duration
	// Meters are its clock, and what it says of itself in the status.
	status.Meters
	// Watch adds the game's own values to what the process shows; see package watch. It is called once, and
	// what it adds is asked for on the goroutine of the process. Default: none.
	Watch func(*watch.Tree)
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	all := faults.In("dbapp: ")
	app.Config{Transport: c.Transport, Manager: c.Manager, Schema: c.Schema, Tick: c.Tick}.Check(all, DefaultTick)
	fault := all.If
	fault(c.Store == nil, "Config.Store is nil: open one, such as of package sqlite")
	fault(len(c.Holder) > MaxHolder, "Config.Holder has %d bytes: give at most %d", len(c.Holder), MaxHolder)
	fault(c.Types == nil, "Config.Types is nil: make them with store.NewSchema, and apply them")
	fault(c.Secrets == nil, "Config.Secrets is nil: give a source of random bytes, such as crypto/rand's Read")
	fault(c.Jobs == nil, "Config.Jobs is nil: give the runner's Jobs")
	return all.Err()
}
