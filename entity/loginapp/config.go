package loginapp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// DefaultTick is the default of Config.Tick.
	DefaultTick = 100 * time.Millisecond

	// DefaultMaxPending is the default of Config.MaxPending.
	DefaultMaxPending = 1000

	// LoginTimeout is how long an open channel may stay without a login: a client
	// logs in at once, whoever does not only holds a channel.
	LoginTimeout = 10 * time.Second

	// AuthTimeout is how long an Auth may take before the client is told that the
	// server is busy.
	AuthTimeout = 10 * time.Second

	// PlaceTimeout is how long the BaseAppMgr may take to answer. It answers
	// within 5 s itself, so this ends only logins whose answer is lost.
	PlaceTimeout = 10 * time.Second

	// CloseAfter is how long a channel stays open after the answer. A client
	// closes it itself; this is for those that do not.
	CloseAfter = 5 * time.Second
)

// Tickets makes tickets for clients. It is called on the LoginApp's goroutine.
type Tickets interface {
	// Mint returns a ticket with which a client at an IP may open one channel to a
	// BaseApp at once; or nothing, and then the client dials it in a round trip. More
	// than mercury.MaxTicket bytes are not sent.
	//
	// client is the IP as the LoginApp sees it. Where a client reaches the BaseApp from
	// another one, as behind a NAT with several, the BaseApp refuses the ticket and the
	// client's transport dials anew by itself, which costs it the round trip that the
	// ticket would have spared, and that of the refusal.
	Mint(now time.Duration, base mercury.Address, client netip.Addr) []byte
}

// Config says how a LoginApp is made.
type Config struct {
	// Transport is the process's own; clients dial it. Required.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens. Required.
	Manager netip.AddrPort
	// Schema has the entity definitions; clients must have the same as far as they
	// can see or call. Required.
	Schema *property.Schema
	// Auth says who may log in. Required.
	Auth Auth
	// Jobs performs Auth's work. Required.
	Jobs Jobs
	// Network is that of the outer door by which a channel came in: there, only clients are
	// heard. "" for the inner door, where only managers are. Nil: one door over UDP leads to both.
	Network func(mercury.ChannelID) string
	// Tickets makes tickets that spare clients a round trip to their BaseApp. Only for a
	// LoginApp whose channels are sealed, since a ticket is a secret. Default: none.
	Tickets Tickets
	// MaxPending bounds the logins under way; more are told that the server is
	// busy. More lets a rush wait longer, and asks more of Auth at once. Default 1000.
	MaxPending int
	// Log is told of logins refused and let in. Default: nothing is logged.
	Log *slog.Logger
	// Tick is the time between two ticks. Shorter only makes timeouts more
	// precise. Default 100 ms.
	Tick time.Duration
	// Clock is the meter of work. Default: no work is measured.
	Clock func() time.Duration
	// CPU is the processor time that the app's thread has used. Default: none is reported.
	CPU func() time.Duration
	// ProcessCPU is what the OS process has used of the processors, on all its threads,
	// and which process that is; nil means unknown.
	ProcessCPU func() (pid int, used time.Duration)
	// Carriers tells how the carriers of the process fare; nil means unknown.
	Carriers func() []status.Carrier
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("loginapp: "+format, args...))
		}
	}
	fault(c.Transport == nil, "Config.Transport is nil: give the transport of this process")
	fault(!c.Manager.IsValid() || c.Manager.Port() == 0, "Config.Manager is %v: give the address and port of the CellAppMgr", c.Manager)
	fault(c.Schema == nil, "Config.Schema is nil: load the definitions that the cluster has")
	fault(c.Auth == nil, "Config.Auth is nil: give AcceptAll, a Table, or your own")
	fault(c.Jobs == nil, "Config.Jobs is nil: give the runner's")
	fault(c.MaxPending < 0, "Config.MaxPending is %d: give a number above zero, or zero for %d", c.MaxPending, DefaultMaxPending)
	fault(c.Tick < 0, "Config.Tick is %v: give a time above zero, or zero for %v", c.Tick, DefaultTick)
	return errors.Join(faults...)
}
