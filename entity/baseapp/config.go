package baseapp

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// DefaultTick is the default time between ticks: 10 Hz, as is usual for such servers.
const DefaultTick = 100 * time.Millisecond

const (
	// AttachTimeout is how long a proxy waits for the client that logged in. The client has its
	// token when it dials, so this must cover the slow start of a game, not a person.
	AttachTimeout = 30 * time.Second

	// DefaultResumeTime is the default of Config.ResumeTime: time for a telephone to find another
	// network, or for a household's router to start anew.
	DefaultResumeTime = 30 * time.Second

	// DefaultArchivePeriod is the default of Config.ArchivePeriod: what a player may lose when all
	// processes die at once, against the load of a database.
	DefaultArchivePeriod = 100 * time.Second

	// ClaimTimeout is how long a channel from outside may stay silent before it is closed. Without
	// it silent channels could fill the transport.
	ClaimTimeout = 10 * time.Second

	// KeptForcesBackup is how many messages a base keeps for its cell part before it asks for a
	// backup: far below flow.MaxKept, where sending fails, and far above what piles up within the
	// usual backup period.
	KeptForcesBackup = 256

	// MaxProxies bounds the proxies that logins make on one BaseApp: ten times as many players as
	// one core relays for. The next player is told that the server is full.
	MaxProxies = 10_000

	// MaxBases bounds the bases of one BaseApp, game code's included: at about 2 KB for an empty
	// base this is the memory of a small server.
	MaxBases = 1 << 18
)

// Config configures a BaseApp.
type Config struct {
	// Transport carries all messages, to apps and to clients. Required. One whose MaxMessage is below
	// mercury.DefaultMaxMessage refuses copies of large bases for ever.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens, the only address needed to join. Required.
	Manager netip.AddrPort
	// Managers are all places where the CellAppMgr may lead, if there are several: one leads, and
	// the others stand by. Default: Manager alone.
	Managers []netip.AddrPort
	// Schema holds the entity types. Required, and the same in the whole cluster.
	Schema *property.Schema
	// Scripts are the Go types of base parts. Required if game code creates bases.
	Scripts *Scripts
	// PlayerType is the entity type to make for an account that logs in. With "" no account can log
	// in here.
	PlayerType string
	// Doors are where clients reach this app, by network; none means Transport.Self(), over UDP.
	Doors []protocol.Door
	// Outside reports whether a channel came in by one of Doors. It is then a client's, and all
	// other channels are between apps. With nil one door serves both, and the first message tells
	// them apart.
	Outside func(mercury.ChannelID) bool
	// Secrets fills b with random bytes that outsiders cannot guess, for the tokens of clients.
	// Required with a PlayerType.
	Secrets func(b []byte)
	// Start is called once, when the app has first joined the cluster. Game code creates its bases
	// here, and by Starter.Ensure those of which the cluster is to have one. The Starter stays valid,
	// so scripts may keep it to create bases later.
	Start func(*Starter)
	// DownloadRate bounds what entity.Base.Download sends to one client, in bytes a second; 0 means
	// DefaultDownloadRate.
	DownloadRate int64
	// BackupPeriod is the time between two backups of a base to other BaseApps, on which it goes on if
	// this one dies, at least a tick. 0 means DefaultBackupPeriod; below 0 is never: then a death ends the
	// bases, and the sessions of their players. All BaseApps of a cluster should have the same.
	BackupPeriod time.Duration
	// MoveBatch is how many bases go to others at a time when the app leaves with more than that,
	// or is to have fewer than it has; 0 means DefaultMoveBatch. Those bases stand still until
	// their last copies are held and the CellAppMgr has agreed: with more in a batch for longer.
	// They go by slices of the ids, so that of ten thousand bases 156 go together at least.
	MoveBatch int
	// BackupReplicas is how many other BaseApps hold a copy of each base, up to migrate.MaxReplicas; 0
	// means DefaultBackupReplicas. So many may die at the same time.
	BackupReplicas int
	// Stored are the types that the cluster's store keeps, as the DBApp has them; nil means that nothing is
	// kept.
	Stored *store.Schema
	// ArchivePeriod is the time in which each base that the store keeps is written once, whatever happens;
	// 0 means DefaultArchivePeriod, below 0 never.
	ArchivePeriod time.Duration
	// BringBack names the types whose entities come back when the cluster starts, as those that lived when
	// it ended; the same in the whole cluster.
	BringBack []string
	// Upload bounds what one client may send.
	Upload UploadLimits
	// ResumeTime is how long a client that lost its channel may take to come back over another one. Its
	// entity stays in the world, and what it is told waits. Default DefaultResumeTime, at most
	// protocol.MaxResumeTime; below 0 a session ends with its channel.
	ResumeTime time.Duration
	// Relogin says what becomes of a login to an account whose proxy has a client, unless the proxy's script
	// decides (LogOnDecider). Default TakeOver. A proxy without a client, which its script has kept,
	// is given to the client that logs in.
	Relogin Relogin
	// Lookout looks at other processes when the CellAppMgr asks whether one is dead. With nil the BaseApp
	// gives no opinion.
	Lookout mercury.Lookout
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

// ErrConfig is wrapped by every fault that Validate reports.
var ErrConfig = errors.New("baseapp: configuration")

// Validate reports all faults at once, those of the scripts included, each with its remedy.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %w", ErrConfig, fmt.Errorf(format, args...)))
	}
	if c.Transport == nil {
		fault("Transport is nil; give the transport that the app speaks through")
	}
	if !c.Manager.IsValid() || c.Manager.Port() == 0 {
		fault("Manager is not an address; give the host and port of the CellAppMgr")
	}
	if c.Tick < 0 {
		fault("Tick is %v; give the time between ticks, or 0 for %v", c.Tick, DefaultTick)
	}
	if c.DownloadRate < 0 || c.DownloadRate > 1<<30 {
		fault("DownloadRate is %d; give up to 1 GiB a second, or 0 for %d", c.DownloadRate, DefaultDownloadRate)
	}
	if c.ResumeTime > protocol.MaxResumeTime {
		fault("ResumeTime is %v; give up to %v, 0 for %v, or less than 0 for none", c.ResumeTime, protocol.MaxResumeTime, DefaultResumeTime)
	}
	if c.Relogin >= relogins {
		fault("Relogin is %d; give TakeOver, RefuseLogin or AwaitDestroy", c.Relogin)
	}
	if c.BackupPeriod > 0 && c.BackupPeriod < cmp.Or(c.Tick, DefaultTick) {
		fault("BackupPeriod is %v; give a tick or more, 0 for %v, or less than 0 for never", c.BackupPeriod, DefaultBackupPeriod)
	}
	if c.MoveBatch < 0 {
		fault("MoveBatch is %d; give a number of bases, or 0 for %d", c.MoveBatch, DefaultMoveBatch)
	}
	if c.BackupReplicas < 0 || c.BackupReplicas > migrate.MaxReplicas {
		fault("BackupReplicas is %d; give 1 to %d, or 0 for %d", c.BackupReplicas, migrate.MaxReplicas, DefaultBackupReplicas)
	}
	if err := c.Upload.Validate(); err != nil {
		fault("%w", err)
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
	c.Tick = cmp.Or(c.Tick, DefaultTick)
	c.ResumeTime = cmp.Or(c.ResumeTime, DefaultResumeTime)
	c.BackupPeriod = cmp.Or(c.BackupPeriod, DefaultBackupPeriod)
	c.MoveBatch = cmp.Or(c.MoveBatch, DefaultMoveBatch)
	c.BackupReplicas = cmp.Or(c.BackupReplicas, DefaultBackupReplicas)
	c.Upload = c.Upload.withDefaults()
	c.ArchivePeriod = cmp.Or(c.ArchivePeriod, DefaultArchivePeriod)
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
