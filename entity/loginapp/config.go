package loginapp

import (
	"log/slog"
	"net/netip"
	"time"

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

	// DefaultMaxPending is the default of Config.MaxPending.
	DefaultMaxPending = 1000

	// DefaultQueue is the default of Config.Queue: a few minutes of a world that lets one in each tick.
	DefaultQueue = 1000

	// MaxQueue bounds Config.Queue: each of them is told its position every TellPeriod.
	MaxQueue = 10_000

	// MaxWait is how long a client may wait for room. A login that waits for longer is refused: what
	// Auth said of it must not grow old, and an account that nobody sits at must not keep its place.
	MaxWait = 30 * time.Minute

	// TellPeriod is the time between two positions that a waiting client is told: often enough for it to
	// know that it still waits (client.LoginTimeout).
	TellPeriod = 5 * time.Second

	// LoginTimeout is how long an open channel may stay without a login. Clients log in at once.
	LoginTimeout = 10 * time.Second

	// AuthTimeout is how long an Auth may take before the client is told that the server is busy.
	AuthTimeout = 10 * time.Second

	// PlaceTimeout is how long the BaseAppMgr and a BaseApp may take to make a proxy before
	// the client is told that the server is busy.
	PlaceTimeout = 5 * time.Second

	// CloseAfter is how long a channel stays open after the answer. A client closes it itself; this
	// is for those that do not.
	CloseAfter = 5 * time.Second
)

// Tickets makes tickets for clients. It is called on the LoginApp's goroutine.
type Tickets interface {
	// Mint returns a ticket with which a client at an IP may open one channel to a BaseApp at once.
	// It may return nil; the client then dials in a round trip. A ticket longer than
	// mercury.MaxTicket bytes is not sent.
	//
	// client is the IP that the LoginApp sees. A client may reach the BaseApp from another IP, as
	// behind a NAT with several. The BaseApp then refuses the ticket, and the client's transport
	// dials again by itself. That costs the round trip that the ticket would have spared, and the
	// refusal's.
	Mint(now time.Duration, base mercury.Address, client netip.Addr) []byte
}

// Config configures a LoginApp.
type Config struct {
	// Transport is the transport of the process, which clients dial. Required.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens. Required.
	Manager netip.AddrPort
	// Managers are all places where the CellAppMgr may lead, if there are several: one leads, and
	// the others stand by. Default: Manager alone.
	Managers []netip.AddrPort
	// Schema has the entity definitions. Clients must have the same ones, as far as they can see
	// and call. Required.
	Schema *property.Schema
	// Auth says who may log in. Required.
	Auth Auth
	// Jobs runs Auth's work. Required.
	Jobs Jobs
	// Network returns the network of the outer door by which a channel came in; only clients are
	// heard there. It returns "" for the inner door, where only managers are heard. With nil, one
	// door over UDP serves both.
	Network func(mercury.ChannelID) string
	// Tickets makes tickets that spare clients a round trip to their BaseApp. Only for a LoginApp
	// whose channels are sealed, since a ticket is a secret. Default: none.
	Tickets Tickets
	// MaxPending bounds the logins under way; further clients are told that the server is busy. A
	// higher bound lets a rush wait longer, and sends more requests to Auth at once. Default 1000.
	MaxPending int
	// Queue bounds how many clients may wait here while the world is full; further ones are refused. 0
	// means DefaultQueue, below 0 nobody waits. At most MaxQueue. Each LoginApp has a queue of its own.
	Queue int
	// Log is told of logins, refused and accepted. Default: nothing is logged.
	Log *slog.Logger
	// Tick is the time between two ticks. A shorter one makes timeouts more precise, and lets those who
	// wait in the queue come in faster once there is room: one in each tick. Default 100 ms.
	Tick time.Duration
	// Meters are its clock, and what it says of itself in the status.
	status.Meters
	// Watch adds the game's own values to what the process shows; see package watch. It is called once, and
	// what it adds is asked for on the goroutine of the process. Default: none.
	Watch func(*watch.Tree)
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	all := faults.In("loginapp: ")
	app.Config{Transport: c.Transport, Manager: c.Manager, Schema: c.Schema, Tick: c.Tick}.Check(all, DefaultTick)
	fault := all.If
	fault(c.Auth == nil, "Config.Auth is nil: give AcceptAll, a Table, or your own")
	fault(c.Jobs == nil, "Config.Jobs is nil: give the runner's Jobs")
	fault(c.MaxPending < 0, "Config.MaxPending is %d: give a number above zero, or zero for %d", c.MaxPending, DefaultMaxPending)
	fault(c.Queue > MaxQueue, "Config.Queue is %d: give at most %d, zero for %d, or less than zero for none", c.Queue, MaxQueue, DefaultQueue)
	return all.Err()
}
