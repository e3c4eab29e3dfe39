package bots

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/property"
)

// Defaults and bounds of Config.
const (
	// MaxBots is the most of one swarm: more than the ports of one machine carry.
	MaxBots = 100_000
	// DefaultPerSocket is as many bots as share a socket by default.
	DefaultPerSocket = 16
	// MaxPerSocket is the most: an app takes no more channels from one place (package mercury).
	MaxPerSocket = 30
	// DefaultLogins is how many bots log in each second by default.
	DefaultLogins = 100
	// DefaultInTime is when a move should be known to all who have the mover in view.
	DefaultInTime = 2 * client.DefaultTick
	// DefaultRounding is how far off a place may be, in metres, that still tells which move it is.
	// It is far above what places are rounded to on the wire, and below the step of a walker.
	DefaultRounding = 0.1
)

// Config says who plays, and how. Zero fields have the defaults named.
type Config struct {
	// Bots is how many there are. Required.
	Bots int
	// LoginApp is where the world's LoginApp is. Required.
	LoginApp netip.AddrPort
	// ServerKey is the public key of the world. Default: everything is in the clear.
	ServerKey secure.PublicKey
	// Schema has the entity definitions. Required.
	Schema *property.Schema
	// Scripts are the Go types of what the bots see. Default: none.
	Scripts *client.Scripts
	// Account is the name and the password of a bot. Default: bot and its number, and none.
	Account func(number int) (user, password string)
	// Behave makes the behaviour of a bot. Default: it stands where it was put.
	Behave func(number int) Behaviour
	// Events, if not nil, gives a bot events beside those that the swarm uses itself.
	Events func(b *Bot) client.Events
	// PerSocket is how many bots share a socket. A server can tell by their
	// address that they are together, which no players are: 1 is the honest choice where the
	// server's system calls are measured. Default 16, at most 30.
	PerSocket int
	// Logins is how many bots log in each second. Default 100.
	Logins int
	// Seed is what the bots' decisions follow from. Default 1.
	Seed uint64
	// Tick is the rhythm of the bots. Default client.DefaultTick.
	Tick time.Duration
	// InTime is when a move should be known to who has the mover in view. Default 200 ms.
	InTime time.Duration
	// ViewRadius is how far away an entity may be, in metres, whose age is sampled: the area of
	// interest without its hysteresis. Default: any distance.
	ViewRadius float32
	// Rounding is how far off a place may be that still tells which move it is. Default 0.1 m.
	Rounding float32
	// Log gets a line for each error. Default: nothing is logged.
	Log *slog.Logger
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("bots: Config."+format, args...))
		}
	}
	fault(c.Bots < 1 || c.Bots > MaxBots, "Bots is %d: take 1 to %d", c.Bots, MaxBots)
	fault(!c.LoginApp.IsValid() || c.LoginApp.Port() == 0, "LoginApp is %v: give the address and port of a LoginApp", c.LoginApp)
	fault(c.Schema == nil, "Schema is missing: give the definitions of the world")
	fault(c.PerSocket < 0 || c.PerSocket > MaxPerSocket, "PerSocket is %d: take 1 to %d, or 0 for %d", c.PerSocket, MaxPerSocket, DefaultPerSocket)
	fault(c.Logins < 0, "Logins is %d: take a positive number a second, or 0 for %d", c.Logins, DefaultLogins)
	fault(c.Tick < 0, "Tick is %v: take a positive time, or 0 for %v", c.Tick, client.DefaultTick)
	fault(c.InTime < 0, "InTime is %v: take a positive time, or 0 for %v", c.InTime, DefaultInTime)
	fault(!(c.ViewRadius >= 0), "ViewRadius is %v: take metres, or 0 for any distance", c.ViewRadius)
	fault(!(c.Rounding >= 0), "Rounding is %v: take metres, or 0 for %v", c.Rounding, DefaultRounding)
	return errors.Join(faults...)
}

func (c *Config) withDefaults() Config {
	d := *c
	d.PerSocket = orDefault(d.PerSocket, DefaultPerSocket)
	d.Logins = orDefault(d.Logins, DefaultLogins)
	d.Seed = orDefault(d.Seed, 1)
	d.Tick = orDefault(d.Tick, client.DefaultTick)
	d.InTime = orDefault(d.InTime, DefaultInTime)
	d.Rounding = orDefault(d.Rounding, DefaultRounding)
	if d.Account == nil {
		d.Account = func(number int) (user, password string) { return fmt.Sprintf("bot%05d", number), "" }
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	return d
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
