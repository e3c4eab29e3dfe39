package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/watch"
	"github.com/cellscape/cellscape/space/recording"
)

// Defaults of Config.
const (
	// DefaultCellApps and DefaultBaseApps are what Start starts.
	DefaultCellApps = 4
	DefaultBaseApps = 2
	// DefaultListen is the loopback, so that nobody reaches a world from outside until the game
	// says so.
	DefaultListen = "127.0.0.1"
	// DefaultStartTimeout is ample on loopback and in a data centre.
	DefaultStartTimeout = 15 * time.Second
	// DefaultBackupPeriod bounds what a base may have to do again after the death of its BaseApp.
	// With it a BaseApp of 10,000 players sends a thousand copies a second.
	DefaultBackupPeriod = 10 * time.Second
	// DefaultSpaceSize is the side of the default space in metres.
	DefaultSpaceSize = 1000
)

// maxApps bounds the CellApps and the BaseApps of one Start: more than any machine has cores.
const maxApps = 1024

// Config says what a world is made of. Give all roles of one world the same Config, even in
// separate OS processes. Zero fields mean the defaults named below.
type Config struct {
	// Schema has the entity definitions. Default: the schema of CellScripts.
	Schema *property.Schema
	// CellScripts are the Go types of cell parts. Required where CellApps run.
	CellScripts *space.Scripts
	// BaseScripts are the Go types of base parts. Default: none.
	BaseScripts *baseapp.Scripts
	// ClientScripts are the Go types that Connect's clients make of the entities they see. Default:
	// none.
	ClientScripts *client.Scripts
	// PlayerType is the entity type to make for an account that logs in. Default: nobody can log
	// in.
	PlayerType string
	// BaseStart is called on each BaseApp when it has first joined; game code creates its bases
	// there. What it creates is there once for each BaseApp and start: an entity of which the world
	// is to have one is for baseapp.Starter.Ensure. It runs on the goroutines of the BaseApps, so
	// it must lock what it shares.
	BaseStart func(*baseapp.Starter)
	// Spaces are the spaces that the world starts with; game code can create and destroy others.
	// Default: one with id 1, a square of 1000 m around the origin.
	Spaces []cellappmgr.SpaceConfig

	// CellApps and BaseApps are how many of each Start starts. A busy CellApp needs a core of its
	// own. Default 4 and 2.
	CellApps, BaseApps int

	// Workers is on how many cores a CellApp makes the updates of clients, the one part of a tick
	// that can be shared: for a machine with more cores than CellApps. Default 1.
	Workers int

	// Space sets how cells behave: how far players see, ghosts, budgets.
	Space space.Config
	// Recorder takes what is recorded of spaces, on the goroutines of all CellApps: see package
	// space/recording, and space/recording/keep, which writes files. Default: nothing is recorded.
	Recorder recording.Sink
	// Balance sets how eagerly cells follow the load, whatever the policy.
	Balance balance.Config
	// Policy makes the policy that plans the cells. It uses Space.Border. Default:
	// balance.ProfileConfig{}.
	Policy balance.PolicyConfig
	// Logins sets when the world is full, and how many players then wait at a LoginApp until they
	// come in by themselves, before others are refused. Validate demands that this happens before
	// players see less: Space.Overload.Start must not be below Logins.MaxLoad, and
	// Space.Overload.Patience must be a second longer than Logins.Tolerance.
	Logins cellappmgr.LoginConfig
	// Upload bounds how many messages and bytes a second a player may send; who sends more is
	// closed and told so. Default: 500 messages and 40,960 bytes. Space.Witness bounds what a
	// player is sent.
	Upload baseapp.UploadLimits
	// DownloadRate bounds what entity.Base.Download sends to one player, in bytes a second. Default
	// baseapp.DefaultDownloadRate.
	DownloadRate int64
	// PendingLogins bounds the logins that a LoginApp has under way; further players are told that
	// the server is busy. More of them ask Auth at once, and wait longer in a rush. Default
	// loginapp.DefaultMaxPending.
	PendingLogins int
	// ResumeTime is for how long a player's place is kept whose connection was lost. Default
	// baseapp.DefaultResumeTime; below 0 the session ends with its connection.
	ResumeTime time.Duration
	// Relogin says what becomes of a login to an account that is playing, unless the script of its
	// proxy decides (baseapp.LogOnDecider). Default baseapp.TakeOver: the new client gets the
	// player's entity, and the old one is told why it goes.
	Relogin baseapp.Relogin
	// BackupPeriod is the time between two copies of a base to other BaseApps. If its BaseApp dies,
	// the base goes on at one of them, as the last copy has it, and the client of a proxy comes
	// there by itself. What others sent it since that copy comes again; what it did by itself since
	// is undone, and what must not be undone waits for a copy (entity.Base.Backup). With one
	// BaseApp nothing protects the bases, and the log says so. Default 10 s; below 0 never, and
	// then bases die with their BaseApp.
	BackupPeriod time.Duration
	// BackupReplicas is how many other BaseApps hold a copy of each base: so many can die at the
	// same time. Default 1, at most migrate.MaxReplicas.
	BackupReplicas int
	// Shed says when bases move from a BaseApp that has much more to do than others, or many more
	// bases, to one that has less, while their players play; with Shed.Off they never do. The zero
	// value has the defaults of package baseappmgr. Bases move only where they have copies.
	Shed baseappmgr.ShedConfig
	// MoveBatch is how many bases move at a time, and stand still together for that; default
	// baseapp.DefaultMoveBatch.
	MoveBatch int
	// Auth decides who may log in. Default: loginapp.AcceptAll.
	Auth loginapp.Auth

	// Store keeps entities: those of types that are Persistent. Open it before the start, such as
	// of package entity/store/sqlite, and close it after Stop. The managers' process hosts it (a
	// DBApp), all others reach it by message and need none. Its tables are brought in line with the
	// definitions at the start, unless that forgets something; see store.Definer. Default: nothing
	// is kept.
	Store store.Store
	// StoreBegun says that a world has begun in Store before, as of each start of a game that lives but
	// its first. A start then refuses a Store in which none has (store.ErrEmpty): such as the file that
	// sqlite.Open has just made, since the path is wrong or the volume is not mounted, or another
	// database. Default: the world begins anew there, empty.
	StoreBegun bool
	// StoreTypes are types of other rows in Store, such as accounts.Type().
	StoreTypes []*store.Type
	// StoreForgets lets the start have the store forget what the definitions have no place for any
	// more, such as a property that has gone. PlanStore lists that beforehand. Default: such a
	// start fails, and names it.
	StoreForgets bool
	// BringBack names types of entities that come back by themselves when the world starts: those
	// that lived when it ended, whether it was stopped or crashed, and were ever written
	// (entity.Base.Write). Their cell parts are made where they stood, unless the script does
	// otherwise (baseapp.Returner). The PlayerType comes back by logins only. Spaces come back in
	// any case, with their data: after a Shutdown as they were, after a crash of all processes as
	// they were some seconds before.
	BringBack []string
	// ArchivePeriod is the time in which each entity that is kept is written once. Default
	// baseapp.DefaultArchivePeriod; below 0 never.
	ArchivePeriod time.Duration

	// Key seals the world. With it, every packet between two processes, players included, is
	// encrypted and authenticated, and the public half, Key.Public(), proves to a dialler that it
	// talks to this world. Players need only that half; Connect takes it from here. All roles need
	// the same Key. Draw it once with secure.GenerateKey(crypto/rand.Reader), and keep it out of
	// version control. Default: no seal. Packets then have only a checksum, and everything can be
	// read on the way, passwords too.
	//
	// Key seals UDP, and TCP between processes; doors over other networks use TLS. Leave it out
	// only where everyone who can reach the network is trusted, players included: inside one rack
	// or one machine. A sealed and an unsealed process never get a channel to each other, nor do
	// two with different keys: the dial fails at once with mercury.ErrKey, which says why.
	//
	// With Key the processes also prove to each other, by ClusterKeys, that they belong to this
	// world. A peer that has only the public half gets no channel to a manager or a CellApp, and at
	// a LoginApp or BaseApp it is a player, whatever it says. Without Key only an address is
	// proved, so anyone who reaches a port can join, speak as a process of the world and freeze it.
	// Use that on one machine's loopback, or in a network where everyone is trusted.
	Key secure.PrivateKey
	// ClusterKeys prove membership: processes use the first and accept all. They need Key, and must
	// be the same for all roles. Draw them with secure.GenerateClusterKey; observers get keys
	// derived from them. Cluster.SetClusterKeys changes them. Default: Key.ClusterKey(), which
	// follows from Key.
	ClusterKeys []secure.ClusterKey
	// TicketKeys let the LoginApp give a player a ticket for its BaseApp. With it the player's
	// first packet opens the channel there, without a round trip. They need Key. The first seals
	// tickets, and all open them. Default: Start draws one for its life. Roles in separate OS
	// processes must be given the same keys, drawn with secure.GenerateTicketKey; without shared
	// keys, players dial their BaseApp in one round trip.
	//
	// The clocks of the systems may differ by a minute. A process looks at its own when it starts,
	// so set clocks before, not after: one that is wrong then makes bad tickets, or takes good ones
	// for bad, until the process is started again. A ticket is good only from the IP that the
	// LoginApp saw. A bad ticket is refused, and the player's dial goes on by itself with the round
	// trip. Whoever steals a ticket key can read recorded traffic of players who came by its
	// tickets, so change the key with each start of the world.
	TicketKeys []secure.TicketKey

	// Listen is where other processes reach the processes here: an address or name of this machine,
	// or the name of one of its network interfaces ("eth1"). Players need not reach it. Default
	// 127.0.0.1.
	Listen string
	// Inner is the network between the processes: UDP, or TCP, over which bulk costs less within a
	// rack. Key seals both, and ClusterKeys say whom they let in. With TCP the CellAppMgr also
	// listens over UDP at the same port, for observers. Default UDP.
	Inner string
	// InnerPorts are the ports of the processes at Listen. Each process takes the first free one.
	// Default: any.
	InnerPorts Ports
	// ManagerPort is the CellAppMgr's port at Listen. 0 takes a free one.
	ManagerPort uint16
	// Managers are the "host:port" of all managers, if there are several: three bear the loss of
	// one, five of two. They lead by turns; see cellappmgr. All roles take the same list, and join
	// whoever leads. The managers of an entry are started with its Listen and ManagerPort. A name is
	// looked up again and again, so managers may come back at another address, as containers do;
	// for one place that moves, too, give its name here. Default: one.
	Managers []string
	// Resolve looks an entry of Managers up, every two seconds. With it the entries may be any names,
	// such as those of a service registry. Several addresses are ways to the same managers; while
	// there is an error, or none, the last known one stays. It is called on a goroutine of its own
	// and must heed ctx. Default: the host names of the system.
	Resolve func(ctx context.Context, place string) ([]netip.AddrPort, error)
	// Doors are where players come in, over any number of networks. Default: one over UDP, at free
	// ports of Listen.
	Doors []Door
	// TLS seals the doors over TCP, QUIC and WebSocket. It needs at least a certificate for the
	// names and addresses that players dial. Default: none.
	TLS *tls.Config
	// Tick is the time between ticks of all apps but the BaseAppMgr, which answers without waiting
	// for one. Default 100 ms.
	Tick time.Duration
	// MinCellApps is how many CellApps must have joined before the spaces are made: with several, a
	// world that is to be divided at once does not begin on the first one. Default 1.
	MinCellApps int
	// RecoveryWindow is for how long managers that start under a living world wait for its
	// processes: until none has come back for so long. Default 2 s; below 0 they do not wait.
	RecoveryWindow time.Duration
	// StatusPeriod is how often observers are told the Status. Default 1 s.
	StatusPeriod time.Duration
	// AppTimeout is how long a CellApp or BaseApp may be silent before it is declared dead although
	// nobody else says so: longer than the second in which apps report. One that was killed, or
	// whose machine answers nobody, is found dead earlier, and one whose port is open has more
	// time: for that each has a TCP listener at its inner port besides UDP, so let both pass
	// between the machines. Default 3 s.
	AppTimeout time.Duration
	// HangTimeout is how long one whose port is open may be silent: it is stopped, has no processor
	// on a machine with too much to do, or hangs for ever. Let it be longer than the longest pause
	// that a process may make, and below the 10 s after which the others give up their channels to
	// it. Default 9 s, or AppTimeout if that is longer.
	HangTimeout time.Duration
	// Term is the lowest term in which the managers lead. 0 leaves it to them: Start takes 1, and
	// managers that are started again under a running world, at the same address, take the next
	// from what the other processes report, for which a first start of StartManagers waits two
	// seconds. They build their picture of the world from those reports, too; see cellappmgr. With
	// a Term the first start does not wait. Without a Store the ids of entities and spaces hold
	// terms up to 255; managers of higher ones go on with what is there, and take in no new
	// CellApps, BaseApps and spaces.
	Term uint32
	// StartTimeout is how long a start may take. Default 15 s.
	StartTimeout time.Duration
	// Seed, if not 0, makes the scripts' random numbers repeatable. It also makes salts, login
	// tokens and keys of channels guessable, so use it only in tests.
	Seed uint64
	// Log is for operators. A log that takes nothing for a second, such as a pipe that nobody
	// reads, is not waited for: lines are missing then, which Cluster.Trouble says at once, and the
	// log itself when it goes on. Default: nothing is logged.
	Log *slog.Logger
	// Watch adds the game's own values to those that each process shows, and settings of its own to
	// those that an operator may set while the world runs (Observer.Values, Observer.Set):
	// counters, numbers to tune. It is called for each process when that is made, with its role
	// (status.RoleCellApp and so on), and what it adds is found under "game". Getters and setters
	// run on the goroutine of their process, so they must lock what several share. Default: none.
	Watch func(role string, t *watch.Tree)

	inner *innerSeal // of Inner TCP; nil without a seal, and before the start
}

// Validate reports all faults of c at once, except those that concern only one kind of process;
// starting that process finds them.
func (c Config) Validate() error {
	all := faults.In("cluster: Config.")
	fault := all.If
	d := c.withDefaults()
	fault(d.Schema == nil, "Schema and CellScripts are nil: load the definitions with property.Load and give their scripts")
	fault(c.Schema != nil && c.CellScripts != nil && c.Schema != c.CellScripts.Schema(), "Schema is not the one of CellScripts: leave it out")
	fault(c.CellApps < 0 || c.CellApps > maxApps, "CellApps is %d: take 1 to %d, or 0 for %d", c.CellApps, maxApps, DefaultCellApps)
	fault(c.BaseApps < 0 || c.BaseApps > maxApps, "BaseApps is %d: take 1 to %d, or 0 for %d", c.BaseApps, maxApps, DefaultBaseApps)
	fault(c.Workers < 0 || c.Workers > cellapp.MaxWorkers, "Workers is %d: take 1 to %d, or 0 for 1", c.Workers, cellapp.MaxWorkers)
	fault(c.PendingLogins < 0, "PendingLogins is %d: take a number above zero, or 0 for %d", c.PendingLogins, loginapp.DefaultMaxPending)
	fault(c.AppTimeout < 0, "AppTimeout is %v: take a time above a second, or 0 for 3s", c.AppTimeout)
	fault(c.HangTimeout < 0, "HangTimeout is %v: take at least AppTimeout, or 0 for 9s", c.HangTimeout)
	s := d.Space.WithDefaults()
	fault(!c.sealed() && len(c.TicketKeys) > 0, "TicketKeys are given without Key: give Key too, or neither")
	fault(!c.sealed() && len(c.ClusterKeys) > 0, "ClusterKeys are given without Key: give Key too, or neither")
	all.Add(c.validateSeal())
	for i := range d.Spaces {
		fault(c.CellScripts != nil && !c.CellScripts.HasOnArea() && d.Spaces[i].Geometry != bsp.Rect{} && !d.Balance.IgnoreGeometry,
			"Spaces[%d] has Geometry, and CellScripts do not load it, so nobody could enter: give them OnArea, or leave Geometry out", i)
	}
	if c.CellScripts != nil {
		all.Add(c.CellScripts.Err())
	}
	if c.BaseScripts != nil {
		all.Add(c.BaseScripts.Err())
	}
	if c.ClientScripts != nil {
		all.Add(c.ClientScripts.Err())
	}
	fault(d.Inner != UDP && d.Inner != TCP, "Inner is %q: take UDP or TCP", c.Inner)
	fault(unspecified(d.Listen), "Listen is %q, which leaves open where the other processes reach it: name one address or interface of this machine", c.Listen)
	_, err := addressOf(d.Listen)
	fault(err != nil, "Listen: %w", err)
	all.Add(c.validateManagers(), d.validateBringBack())
	p := c.InnerPorts
	fault(p.First > p.Last || p.First == 0 && p.Last != 0, "InnerPorts are %d to %d: give the lower first, or leave both out for any", p.First, p.Last)
	fault(c.MoveBatch < 0, "MoveBatch is %d: take a number of bases, or 0 for %d", c.MoveBatch, baseapp.DefaultMoveBatch)
	fault(!(c.Shed.Above >= 0) || !(c.Shed.LeastLoad >= 0) || c.Shed.Least < 0,
		"Shed is %+v: take a share, a part of a core and a number of bases above zero, or 0 for the defaults", c.Shed)
	fault(c.BackupReplicas < 0 || c.BackupReplicas > migrate.MaxReplicas, "BackupReplicas is %d: take 1 to %d, or 0 for %d", c.BackupReplicas, migrate.MaxReplicas, baseapp.DefaultBackupReplicas)
	all.Add(c.validateTimes(), d.validateDoors(), c.validateUpload(), s.Validate(), c.Balance.Validate(), c.validateOverload(), d.validateManager())
	return all.Err()
}

// leastTime is the shortest Tick, and the shortest of other times: less leaves no time to do
// anything in it.
const leastTime = time.Millisecond

// validateTimes refuses times that no process could keep. Most of them are numbers without their
// unit.
func (c *Config) validateTimes() error {
	all := faults.In("cluster: Config.")
	all.If(c.Tick < 0, "Tick is %v: take a positive time, or 0 for %v", c.Tick, baseapp.DefaultTick)
	all.If(c.StartTimeout < 0, "StartTimeout is %v: take a positive time, or 0 for %v", c.StartTimeout, DefaultStartTimeout)
	all.If(c.StatusPeriod < 0, "StatusPeriod is %v: take a positive time, or 0 for 1s", c.StatusPeriod)
	all.If(c.BackupPeriod > 0 && c.BackupPeriod < cmp.Or(c.Tick, baseapp.DefaultTick),
		"BackupPeriod is %v: take a tick or more, 0 for %v, or less than 0 for never", c.BackupPeriod, DefaultBackupPeriod)
	for _, t := range []struct {
		name   string
		is     time.Duration
		remedy string
	}{
		{"Tick", c.Tick, "0 for " + baseapp.DefaultTick.String()},
		{"StartTimeout", c.StartTimeout, "0 for " + DefaultStartTimeout.String()},
		{"StatusPeriod", c.StatusPeriod, "0 for 1s"},
		{"ArchivePeriod", c.ArchivePeriod, "0 for " + baseapp.DefaultArchivePeriod.String() + ", or less than 0 for never"},
		{"ResumeTime", c.ResumeTime, "0 for " + baseapp.DefaultResumeTime.String() + ", or less than 0 for none"},
		{"Space.BackupPeriod", c.Space.BackupPeriod, "0 for 10s"},
	} {
		all.If(t.is > 0 && t.is < leastTime, "%s is %v: take %v or more, or %s; a number without a unit is nanoseconds", t.name, t.is, leastTime, t.remedy)
	}
	return all.Err()
}

func (c *Config) validateUpload() error {
	if c.ResumeTime > protocol.MaxResumeTime {
		return fmt.Errorf("cluster: ResumeTime is %v: give up to %v, or 0 for %v", c.ResumeTime, protocol.MaxResumeTime, baseapp.DefaultResumeTime)
	}
	if c.Relogin > baseapp.AwaitDestroy {
		return fmt.Errorf("cluster: Relogin is %d: take baseapp.TakeOver, RefuseLogin or AwaitDestroy", c.Relogin)
	}
	if err := c.Upload.Validate(); err != nil {
		return fmt.Errorf("cluster: Config.%w", err)
	}
	return nil
}

// notices lists what c and its definitions ask for but will not happen. Call it on a Config as the
// game gave it, since nobody asked for the defaults.
func (c *Config) notices() (notices []string) {
	schema := c.Schema
	if schema == nil && c.CellScripts != nil {
		schema = c.CellScripts.Schema()
	}
	if schema != nil {
		for _, n := range schema.Notices {
			notices = append(notices, n.Error())
		}
	}
	if c.BackupPeriod < 0 {
		notices = append(notices, "BackupPeriod is below 0: nothing protects the bases of a BaseApp that dies, and the sessions of its players end")
	}
	return notices
}

// openDoors says so of a world without a seal.
func (c *Config) openDoors() (notices []string) {
	if !c.sealed() {
		notices = append(notices, "there is no Key: whoever reaches a port of this world can read its traffic, and speak as one of its processes; give one where others share the network")
	}
	return notices
}

// validateManager finds the faults that only the CellAppMgr would report, when it starts: those of
// spaces and of its times. It leaves out faults that were found before, and fills in the Transport
// that Start provides, so that each fault is reported once.
func (c *Config) validateManager() error {
	m := cellappmgr.Config{
		Transport: struct{ mercury.Transport }{}, Schema: new(property.Schema),
		MinCellApps: c.MinCellApps, RecoveryWindow: c.RecoveryWindow,
		Spaces: c.Spaces, Policy: c.Policy, Term: c.Term, Tick: max(0, c.Tick), AppTimeout: max(0, c.AppTimeout), HangTimeout: max(0, c.HangTimeout),
	}
	if b := c.Space.WithDefaults().Border; b.Validate() == nil {
		m.Border = b
	}
	if c.Balance.Validate() == nil {
		m.Balance = c.Balance
	}
	return m.Validate()
}

func (c Config) withDefaults() Config {
	if c.Schema == nil && c.CellScripts != nil {
		c.Schema = c.CellScripts.Schema()
	}
	if len(c.Spaces) == 0 {
		const half = DefaultSpaceSize / 2
		c.Spaces = []cellappmgr.SpaceConfig{{ID: 1, Bounds: bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half}}}
	}
	if c.Auth == nil {
		c.Auth = loginapp.AcceptAll{}
	}
	orDefault(&c.CellApps, DefaultCellApps)
	orDefault(&c.BaseApps, DefaultBaseApps)
	orDefault(&c.Listen, DefaultListen)
	orDefault(&c.Inner, UDP)
	if len(c.Doors) == 0 {
		c.Doors = []Door{{Network: UDP}}
	}
	c.Doors = slices.Clone(c.Doors)
	for i := range c.Doors {
		orDefault(&c.Doors[i].Listen, c.Listen)
	}
	orDefault(&c.StartTimeout, DefaultStartTimeout)
	orDefault(&c.BackupPeriod, DefaultBackupPeriod)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
