package baseappmgr

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
	// DefaultTick is the default of Config.Tick: it answers at once, and ticks only end what takes
	// too long. To wake an idle process for a tick costs 0.1 ms.
	DefaultTick = 250 * time.Millisecond

	// ReserveTimeout is how long an account stays reserved for a proxy that a BaseApp was asked for
	// and never reported. It is long, because an answer that comes after the account was given away
	// would make two proxies of it.
	ReserveTimeout = time.Minute

	// ReloginTimeout is how long a BaseApp may take to say whether another client may have the proxy of
	// an account: longer than it waits for the end of the proxy (baseapp.EndPatience). Until then
	// further logins of the account are told that the server is busy.
	ReloginTimeout = 10 * time.Second

	// MaxPending bounds the proxies that are being made at one time. A BaseApp makes thousands a
	// second; if so many wait, it is not making any.
	MaxPending = 4096

	// MaxAccounts bounds the accounts that are logged in: far above what one cluster's BaseApps
	// hold.
	MaxAccounts = 1 << 20
)

// Config says how a BaseAppMgr is made.
type Config struct {
	// Transport is the process's own. Required.
	Transport mercury.Transport
	// Manager is where the CellAppMgr listens. Required.
	Manager netip.AddrPort
	// Schema holds the entity definitions; the digest of an app that joins must be the same.
	// Required.
	Schema *property.Schema
	// MaxProxies is how many proxies logins may make a BaseApp have (cellappmgr.LoginConfig). Default: no
	// bound but that of a BaseApp itself.
	MaxProxies int
	// Shed says when bases move from a BaseApp that has much more to do than others, or many more
	// of them. The zero value has defaults.
	Shed ShedConfig
	// Log is told of apps that come and go. Default: nothing is logged.
	Log *slog.Logger
	// Tick is the time between two ticks. A shorter one only makes timeouts more precise. Default
	// DefaultTick.
	Tick time.Duration
	// Meters are its clock, and what it says of itself in the status.
	status.Meters
	// Watch adds the game's own values to what the process shows; see package watch. It is called once, and
	// what it adds is asked for on the goroutine of the process. Default: none.
	Watch func(*watch.Tree)
}

// Validate reports all faults of c at once.
func (c *Config) Validate() error {
	all := faults.In("baseappmgr: ")
	app.Config{Transport: c.Transport, Manager: c.Manager, Schema: c.Schema, Tick: c.Tick}.Check(all, DefaultTick)
	fault := all.If
	fault(c.MaxProxies < 0, "Config.MaxProxies is %d: give a number above zero, or zero for no bound", c.MaxProxies)
	fault(!(c.Shed.Above >= 0), "Config.Shed.Above is %v: give a share above zero, or zero for %v", c.Shed.Above, DefaultShedAbove)
	fault(c.Shed.Least < 0, "Config.Shed.Least is %d: give a number of bases, or zero for %d", c.Shed.Least, DefaultShedLeast)
	fault(!(c.Shed.LeastLoad >= 0), "Config.Shed.LeastLoad is %v: give a part of a core, or zero for %v", c.Shed.LeastLoad, DefaultShedLeastLoad)
	return all.Err()
}
