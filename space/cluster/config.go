package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// Defaults of Config.
const (
	// DefaultCellApps and DefaultBaseApps are what Start starts.
	DefaultCellApps = 4
	DefaultBaseApps = 2
	// DefaultListen is the loopback: nobody from outside until the game says so.
	DefaultListen = "127.0.0.1"
	// DefaultStartTimeout is ample on loopback and in a data centre.
	DefaultStartTimeout = 15 * time.Second
	// DefaultSpaceSize is the side of the default space in metres.
	DefaultSpaceSize = 1000
)

// maxApps bounds CellApps and BaseApps of one Start: more than any machine has cores.
const maxApps = 1024

// Config says what a world is made of. All roles of one world are given the same,
// also in separate OS processes. Zero fields have the defaults named.
type Config struct {
	// Schema has the entity definitions. Default: those of CellScripts.
	Schema *property.Schema
	// CellScripts are the Go types of cell parts. Required where CellApps run.
	CellScripts *space.Scripts
	// BaseScripts are the Go types of base parts. Default: none.
	BaseScripts *baseapp.Scripts
	// ClientScripts are the Go types that Connect's clients make of what they see.
	// Default: none.
	ClientScripts *client.Scripts
	// PlayerType is the entity type that is made for an account that logs in.
	// Default: nobody can log in.
	PlayerType string
	// BaseStart is called on each BaseApp when it has joined for the first time:
	// game code creates its bases there. It runs on the goroutines of the BaseApps,
	// so what it shares must be locked.
	BaseStart func(*baseapp.Starter)
	// Spaces are what the world consists of when it starts; game code creates and
	// destroys others. Default: one of id 1, a square of 1000 m around the origin.
	Spaces []cellappmgr.SpaceConfig

	// CellApps and BaseApps are how many of them Start starts; one core runs one
	// busy CellApp. Default 4 and 2.
	CellApps, BaseApps int

	// Space says how cells behave: how far players see, ghosts, budgets.
	Space space.Config
	// Balance says how eagerly cells follow the load, whatever the policy.
	Balance balance.Config
	// Policy makes the policy that plans the cells. Default balance.ProfileConfig{}. It goes by Space.Border.
	Policy balance.PolicyConfig
	// Logins says when the world is full, so that players are refused. Validate demands
	// that it is before what players see gets worse: Space.Overload.Start is not below
	// Logins.MaxLoad, and Space.Overload.Patience a second longer than Logins.Tolerance.
	Logins cellappmgr.LoginConfig
	// Auth says who may log in. Default: loginapp.AcceptAll.
	Auth loginapp.Auth

	// Key seals the world: with it every packet between any two processes, players
	// included, is encrypted and authenticated, and whoever dials one of them knows by
	// the public half, Key.Public(), that it talks to this world. Players need that half and
	// nothing else; Connect takes it from here. The same for all
	// roles; draw it once with secure.GenerateKey(crypto/rand.Reader), and keep it out of
	// version control. Default: no seal, packets are only checksummed and everything can
	// be read on the way, passwords too.
	//
	// It seals what goes over UDP, and TCP between processes; doors over other networks have
	// TLS. Leave it out where all that can touch the network are trusted, inside one rack or one machine, players
	// among them. What is sealed and what is not never get a channel to each other, nor
	// who has another key: the dial ends at once with mercury.ErrKey, which says why.
	//
	// With it the processes also prove to each other that they are of this world, by
	// ClusterKeys: who has the public half alone gets no channel to a manager or a CellApp, and
	// at a LoginApp or BaseApp he is a player, whatever he says. Without Key anyone who reaches a
	// port can join, speak as a process of the world and freeze it: an address is all that is
	// proved then. That is for one machine's loopback, or a network where all are trusted.
	Key secure.PrivateKey
	// ClusterKeys are what the processes of the world prove membership by: the first is used, all
	// are accepted. They are good with Key only, the same for all roles, drawn with
	// secure.GenerateClusterKey; observers are given keys that are drawn out of them. Default:
	// Key.ClusterKey(), which who has Key can tell. Cluster.SetClusterKeys changes them.
	ClusterKeys []secure.ClusterKey
	// TicketKeys let the LoginApp give a player a ticket for its BaseApp, by which its
	// first packet there opens the channel, without a round trip. They are good with Key
	// only. The first seals, all open. Default: Start draws one for its life. Roles in
	// separate OS processes share none unless they are given the same, drawn with
	// secure.GenerateTicketKey; without shared keys, players dial their BaseApp in one round trip. The
	// clocks of their systems may differ by a minute. A ticket is good from the IP that the LoginApp
	// saw. A ticket that is not good, for example from another IP, is refused, and the player's dial
	// goes on by itself with the round trip. A thief of a ticket key can read recorded traffic of the
	// players that came with its tickets, so change the key with each start of the world.
	TicketKeys []secure.TicketKey

	// Listen is where the processes talk to each other, as the others reach it: an address or a
	// name of this machine, or the name of one of its network interfaces ("eth1"). Players need
	// not reach it. Default 127.0.0.1.
	Listen string
	// Inner is the network between the processes: UDP, or TCP within a rack, where bulk costs
	// less over it. Key seals both. Over TCP the CellAppMgr listens over UDP at the same port,
	// too: observers come by it. Default UDP.
	Inner string
	// InnerPorts are those of the processes at Listen, of which each takes the first that is
	// free. Default: any.
	InnerPorts Ports
	// ManagerPort is the CellAppMgr's at Listen. 0 takes a free one.
	ManagerPort uint16
	// Doors are where players come in, by any number of networks. Default: one over UDP, at
	// Listen, at free ports.
	Doors []Door
	// TLS seals the doors over TCP, QUIC and WebSocket: a certificate at least, good for the
	// names and addresses that players dial. Default: none.
	TLS *tls.Config
	// Tick is the time between ticks of all apps. Default 100 ms.
	Tick time.Duration
	// StatusPeriod is how often observers are told the Status. Default 1 s.
	StatusPeriod time.Duration
	// AppTimeout is how long a CellApp or BaseApp may be silent before it is
	// declared dead. They report every second. Default 3 s.
	AppTimeout time.Duration
	// Term is the term of the managers, higher at each start of them: one that is started
	// again under a running world, at the same address, makes its picture of it from what
	// the other processes tell it; see cellappmgr. A start with the term of the one before
	// is refused by all. Default 1.
	Term uint32
	// StartTimeout is how long a start may take. Default 15 s.
	StartTimeout time.Duration
	// Seed makes the chance of scripts repeatable if not 0. It makes salts, login tokens
	// and the keys of channels guessable too: for tests.
	Seed uint64
	// Log is for operators. Default: nothing is logged.
	Log *slog.Logger
}

// Validate reports all faults of c at once. What concerns one kind of process only
// is found when that is started.
func (c Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("cluster: Config."+format, args...))
		}
	}
	d := c.withDefaults()
	fault(d.Schema == nil, "Schema and CellScripts are nil: load the definitions with property.Load and give their scripts")
	fault(c.Schema != nil && c.CellScripts != nil && c.Schema != c.CellScripts.Schema(), "Schema is not the one of CellScripts: leave it out")
	fault(c.CellApps < 0 || c.CellApps > maxApps, "CellApps is %d: take 1 to %d, or 0 for %d", c.CellApps, maxApps, DefaultCellApps)
	fault(c.BaseApps < 0 || c.BaseApps > maxApps, "BaseApps is %d: take 1 to %d, or 0 for %d", c.BaseApps, maxApps, DefaultBaseApps)
	fault(c.Tick < 0, "Tick is %v: take a positive time, or 0 for 100ms", c.Tick)
	fault(c.StartTimeout < 0, "StartTimeout is %v: take a positive time, or 0 for %v", c.StartTimeout, DefaultStartTimeout)
	fault(c.StatusPeriod < 0, "StatusPeriod is %v: take a positive time, or 0 for 1s", c.StatusPeriod)
	fault(c.AppTimeout < 0, "AppTimeout is %v: take a time above a second, or 0 for 3s", c.AppTimeout)
	s := d.Space.WithDefaults()
	fault(!c.sealed() && len(c.TicketKeys) > 0, "TicketKeys are given without Key: give Key too, or neither")
	fault(!c.sealed() && len(c.ClusterKeys) > 0, "ClusterKeys are given without Key: give Key too, or neither")
	faults = append(faults, c.validateSeal())
	for i := range d.Spaces {
		fault(c.CellScripts != nil && !c.CellScripts.HasOnArea() && d.Spaces[i].Geometry != bsp.Rect{} && !d.Balance.IgnoreGeometry,
			"Spaces[%d] has Geometry, and CellScripts do not load it, so that nobody would be let in: give them OnArea, or leave Geometry out", i)
	}
	if c.CellScripts != nil {
		faults = append(faults, c.CellScripts.Err())
	}
	if c.BaseScripts != nil {
		faults = append(faults, c.BaseScripts.Err())
	}
	if c.ClientScripts != nil {
		faults = append(faults, c.ClientScripts.Err())
	}
	fault(d.Inner != UDP && d.Inner != TCP, "Inner is %q: take UDP or TCP", c.Inner)
	fault(unspecified(d.Listen), "Listen is %q, which leaves open where the other processes reach it: name one address or interface of this machine", c.Listen)
	_, err := addressOf(d.Listen)
	fault(err != nil, "Listen: %w", err)
	p := c.InnerPorts
	fault(p.First > p.Last || p.First == 0 && p.Last != 0, "InnerPorts are %d to %d: give the lower first, or leave both out for any", p.First, p.Last)
	faults = append(faults, d.validateDoors(), s.Validate(), c.Balance.Validate(), c.validateOverload(), d.validateManager())
	return errors.Join(faults...)
}

// notices are what c and its definitions ask for and what does not happen. It is asked of a Config as it was given, since
// defaults are nobody's wish.
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
	if !c.sealed() {
		notices = append(notices, "there is no Key: whoever reaches a port of this world can read its traffic, and speak as one of its processes; give one where others share the network")
	}
	return notices
}

// validateManager finds what the CellAppMgr alone would refuse, when it is started: the
// spaces, and its times. What is found before is left out, and the Transport that it
// only gets from Start is stood in for: each fault is told once.
func (c *Config) validateManager() error {
	m := cellappmgr.Config{
		Transport: struct{ mercury.Transport }{}, Schema: new(property.Schema),
		Spaces: c.Spaces, Policy: c.Policy, Term: c.Term, Tick: max(0, c.Tick), AppTimeout: max(0, c.AppTimeout),
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

// ManagerAddr resolves "host:port" of the managers of a world. Port 0 is for who starts them, at a free port: what
// Cluster.ManagerAddr then returns is what the others join.
func ManagerAddr(addr string) (netip.AddrPort, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("cluster: address of the managers: %w", err)
	}
	if at.IP == nil || at.IP.IsUnspecified() {
		return netip.AddrPort{}, fmt.Errorf("cluster: address of the managers: %q lacks a host", addr)
	}
	a := at.AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()), nil
}
