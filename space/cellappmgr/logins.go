package cellappmgr

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Defaults of LoginConfig.
const (
	DefaultAvgLoad        = 0.85
	DefaultMaxLoad        = 0.9
	DefaultBaseLoad       = 0.85
	DefaultLoginTolerance = 5 * time.Second

	// DefaultMaxProxies is as many proxies as a BaseApp makes (baseapp.MaxProxies).
	DefaultMaxProxies = 10_000

	// MaxQueue bounds LoginConfig.Queue; it is loginapp.MaxQueue.
	MaxQueue = 10_000
)

// LoginConfig says when the world is full: when CellApps have more to do than these bounds allow,
// when no BaseApp has room for a player, or when an app falls so far behind another that the queue
// towards it is a quarter full for Tolerance. Loads are fractions of a core: those of CellApps are
// smoothed by the CellApps that report them, those of BaseApps are their processor time, smoothed
// here. Zero fields have the defaults named.
//
// Loads are judged here, and tolerated for a while. MaxProxies is a number and takes no tolerance: the
// BaseAppMgr, which all LoginApps ask for each proxy, keeps to it (baseappmgr.Config.MaxProxies).
//
// Players who are in come before players who want to come in: logins are refused before the first
// CellApp saves on what its players see (overload.Config), and remain so until the last has
// stopped. Otherwise each player that a slower world has room for would slow it further.
type LoginConfig struct {
	// AvgLoad is the average load of all CellApps above which logins are refused. Default 0.85.
	AvgLoad float64
	// MaxLoad is the load of any one CellApp above which logins are refused, since nobody knows yet
	// where in the world a new player will be. Default 0.9.
	MaxLoad float64
	// BaseLoad is the load above which a BaseApp has no room for a further player. Logins are refused
	// when none has room, since a new proxy may be made on any. Default 0.85.
	BaseLoad float64
	// MaxProxies is how many proxies logins may make a BaseApp have, with a client or without: the number
	// of players that a game wants on one. Bases that come to it from a BaseApp that died or left may
	// exceed it. Default 10,000, which is also the most that a BaseApp makes (baseapp.MaxProxies).
	MaxProxies int
	// Tolerance is how long a load must have been above its bound before logins are refused, and
	// how long all must have been below before players may come in again. Default 5 s.
	Tolerance time.Duration
	// Queue is how many clients may wait at each LoginApp while the world is full, to come in by
	// themselves when there is room. Default 1000 (loginapp.DefaultQueue), at most MaxQueue; below 0 nobody
	// waits, and all are refused. The LoginApps use it.
	Queue int
	// Always lets players in whatever the loads and numbers are.
	Always bool
}

// WithDefaults returns c with its zero fields filled in.
func (c LoginConfig) WithDefaults() LoginConfig {
	c.AvgLoad = cmp.Or(c.AvgLoad, DefaultAvgLoad)
	c.MaxLoad = cmp.Or(c.MaxLoad, DefaultMaxLoad)
	c.BaseLoad = cmp.Or(c.BaseLoad, DefaultBaseLoad)
	c.MaxProxies = cmp.Or(c.MaxProxies, DefaultMaxProxies)
	c.Tolerance = cmp.Or(c.Tolerance, DefaultLoginTolerance)
	return c
}

// Validate reports every fault of a configuration whose defaults are filled in.
func (c LoginConfig) Validate() error {
	var faults []error
	if !(c.AvgLoad > 0) || !(c.MaxLoad > 0) {
		faults = append(faults, fmt.Errorf("cellappmgr: Logins: AvgLoad %v and MaxLoad %v must be above zero; set Always to refuse nobody", c.AvgLoad, c.MaxLoad))
	}
	if !(c.BaseLoad > 0) || c.MaxProxies < 0 {
		faults = append(faults, fmt.Errorf("cellappmgr: Logins: BaseLoad %v and MaxProxies %d must be above zero; set Always to refuse nobody", c.BaseLoad, c.MaxProxies))
	}
	if c.Queue > MaxQueue {
		faults = append(faults, fmt.Errorf("cellappmgr: Logins: Queue is %d: at most %d can wait at a LoginApp", c.Queue, MaxQueue))
	}
	if c.Tolerance < 0 {
		faults = append(faults, fmt.Errorf("cellappmgr: Logins: Tolerance is %v: take a time above zero, or 0 for %v", c.Tolerance, DefaultLoginTolerance))
	}
	return errors.Join(faults...)
}

// gate is whether the loads let players come in.
type gate struct {
	refused bool
	reason  string
	waiting bool          // the loads ask for the opposite,
	since   time.Duration // since then, by the time that the manager was awake
}

// judgeLogins decides whether the loads let players come in, and tells the LoginApps when that changes.
func (m *CellAppMgr) judgeLogins() {
	g := &m.gate
	reason, saving := m.whyFull()
	now := m.awake.total
	if full := reason != ""; full == g.refused {
		g.waiting = false
		return
	}
	if !g.waiting {
		g.waiting, g.since = true, now
	}
	// A CellApp that already saves has been over its bound for longer than any tolerance.
	if now-g.since < m.cfg.Logins.Tolerance && !saving {
		return
	}
	g.refused, g.reason, g.waiting = reason != "", reason, false
	if g.refused {
		m.log.Warn("the world is full: logins are refused", "reason", reason)
	} else {
		m.log.Info("logins are open again")
	}
	m.tell(m.logins(), wire.LoginApp)
}

func (m *CellAppMgr) logins() *wire.Logins {
	return &wire.Logins{Refused: m.gate.refused, Reason: m.gate.reason}
}

// whyFull says why nobody may come in at the present loads, or "". saving says that a CellApp
// already saves.
func (m *CellAppMgr) whyFull() (reason string, saving bool) {
	c := m.cfg.Logins
	if c.Always {
		return "", false
	}
	var sum, most int64
	apps := int64(0)
	for _, a := range m.members {
		if b := a.report.Backlog; b.Level() != mercury.Free && reason == "" {
			reason = fmt.Sprintf("%s has %d of %d bytes waiting for %s, which does not keep up", a, b.Bytes, b.Limit, b.To)
		}
		if a.role != wire.CellApp {
			continue
		}
		if a.savingStep > 0 {
			return a.String() + " saves on what its players see", true
		}
		apps++
		sum += a.load.Load
		most = max(most, a.load.Load)
	}
	if reason == "" {
		reason = m.noBaseApp()
	}
	if apps == 0 || reason != "" {
		return reason, false
	}
	switch average := sum / apps; {
	case fraction(average) > c.AvgLoad:
		return fmt.Sprintf("the CellApps' average load %.2f is above %.2f", fraction(average), c.AvgLoad), false
	case fraction(most) > c.MaxLoad:
		return fmt.Sprintf("a CellApp's load %.2f is above %.2f", fraction(most), c.MaxLoad), false
	}
	return "", false
}

// noBaseApp says why no BaseApp that has room by the number of its proxies has any by its load, or "". If
// none has room by the number, the BaseAppMgr makes no proxies, and while there is no BaseApp, it refuses
// players.
func (m *CellAppMgr) noBaseApp() string {
	c, apps, least := m.cfg.Logins, 0, load.Max
	for _, a := range m.members {
		if a.role != wire.BaseApp || a.report.NoRoom || int(a.report.Proxies) >= c.MaxProxies {
			continue
		}
		apps++
		least = min(least, a.work.load.Smoothed)
	}
	if apps == 0 || fraction(least) <= c.BaseLoad {
		return ""
	}
	return fmt.Sprintf("the least load of %d BaseApps with room, %.2f, is above %.2f", apps, fraction(least), c.BaseLoad)
}

// refusesLogins reports whether players who want to come in have to wait, by the loads or because the
// BaseAppMgr has no BaseApp with room.
func (m *CellAppMgr) refusesLogins() bool {
	return m.gate.refused || slices.ContainsFunc(m.members, func(a *member) bool { return a.role == wire.BaseAppMgr && a.report.NoRoom })
}
