package baseapp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// DefaultTick is the time between ticks where Config leaves it open: 10 Hz, the
// rate of the field.
const DefaultTick = 100 * time.Millisecond

const (
	// AttachTimeout is how long a proxy waits for the client that its login was
	// for. A client has the token when it dials, so this covers a slow start of a
	// game, not a person.
	AttachTimeout = 30 * time.Second

	// ClaimTimeout is how long a channel from outside may stay silent before it
	// is closed: otherwise silent channels would fill the transport.
	ClaimTimeout = 10 * time.Second

	// KeptForcesBackup is the number of messages a base keeps for its cell part
	// before it asks for a backup: far below entity.MaxKept, where sending fails,
	// and far above what the usual backup period leaves.
	KeptForcesBackup = 256

	// MaxProxies bounds the proxies that logins make on one BaseApp: ten times
	// the players that one core relays for; the next one is told that the server
	// is full.
	MaxProxies = 10_000

	// MaxBases bounds the bases of one BaseApp, game code's included: at about
	// 2 KB for an empty base this is the memory of a small server.
	MaxBases = 1 << 18
)

// Config configures a BaseApp.
type Config struct {
	// Transport carries everything, to apps and to clients. Required.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens: the one address needed to join.
	Manager netip.AddrPort
	// Schema holds the entity types. Required; the same in the whole cluster.
	Schema *property.Schema
	// Scripts are the Go types of base parts. Required if game code creates bases.
	Scripts *Scripts
	// PlayerType is the entity type that is made for an account that logs in. With
	// "" no account can log in here.
	PlayerType string
	// Doors are where clients reach this app, by network; none means Transport.Self(), over UDP.
	Doors []protocol.Door
	// Outside reports whether a channel came in by one of Doors: then it is a client's, and
	// nothing else. All others are between apps. Nil: one door leads to both, and what is said
	// first tells who came.
	Outside func(mercury.ChannelID) bool
	// Secrets fills b with random bytes that outsiders cannot guess; the tokens of
	// clients are made of them. Required with a PlayerType.
	Secrets func(b []byte)
	// Start is called once, when the app has joined the cluster for the first
	// time: game code creates its bases here. The Starter stays valid: scripts may
	// keep it and create bases later.
	Start func(*Starter)
	// DownloadRate is what entity.Base.Download may send to one client at most, in bytes a
	// second; 0 means DefaultDownloadRate.
	DownloadRate int64
	// Log receives what happens; nil discards it.
	Log *slog.Logger
	// Tick is the time between ticks; 0 means DefaultTick.
	Tick time.Duration
	// Clock measures work within a tick; with nil no work is measured.
	Clock func() time.Duration
	// CPU is the processor time that the app's thread has used; nil means unknown.
	CPU func() time.Duration
	// ProcessCPU is what the OS process has used of the processors, on all its threads,
	// and which process that is; nil means unknown.
	ProcessCPU func() (pid int, used time.Duration)
	// Carriers tells how the carriers of the process fare; nil means unknown.
	Carriers func() []status.Carrier
}

// ErrConfig is in the chain of every fault that Validate finds.
var ErrConfig = errors.New("baseapp: configuration")

// Validate reports all faults at once, the scripts' included, each with its remedy.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %w", ErrConfig, fmt.Errorf(format, args...)))
	}
	if c.Transport == nil {
		fault("Transport is nil; give the transport that the app speaks through")
	}
	if !c.Manager.IsValid() || c.Manager.Port() == 0 {
		fault("Manager is no address; give the host and port of the CellAppMgr")
	}
	if c.Tick < 0 {
		fault("Tick is %v; give the time between ticks, or 0 for %v", c.Tick, DefaultTick)
	}
	if c.DownloadRate < 0 || c.DownloadRate > 1<<30 {
		fault("DownloadRate is %d; give up to 1 GiB a second, or 0 for %d", c.DownloadRate, DefaultDownloadRate)
	}
	if c.Schema == nil {
		fault("Schema is nil; load one with property.Load or property.NewSchema")
		return errors.Join(faults...)
	}
	if c.PlayerType != "" {
		c.checkPlayer(fault)
	}
	if c.Scripts != nil {
		if err := c.Scripts.Err(); err != nil {
			fault("%w", err)
		}
		if c.Scripts.Schema() != c.Schema {
			fault("Scripts are of another schema; make them with NewScripts of Config.Schema")
		}
	}
	return errors.Join(faults...)
}

func (c *Config) checkPlayer(fault func(format string, args ...any)) {
	d := c.Schema.Type(c.PlayerType)
	switch {
	case d == nil:
		fault("PlayerType %q is not in the schema; name one of its types", c.PlayerType)
	case !d.HasBase || !d.HasClient:
		fault("PlayerType %q has no base or no client; let its definition have both", c.PlayerType)
	}
	if d != nil && (c.Scripts == nil || c.Scripts.Schema() == c.Schema && c.Scripts.bases.Of(d) == nil) {
		fault("PlayerType %q has no script; register one with baseapp.Register", c.PlayerType)
	}
	if c.Secrets == nil {
		fault("Secrets is nil; give a source of random bytes, such as crypto/rand's Read")
	}
}

func (c *Config) setDefaults() {
	if c.Tick == 0 {
		c.Tick = DefaultTick
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Scripts == nil {
		c.Scripts = NewScripts(c.Schema)
	}
	if len(c.Doors) == 0 {
		c.Doors = []protocol.Door{{Network: protocol.UDP, Address: c.Transport.Self()}}
	}
}
