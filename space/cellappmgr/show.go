package cellappmgr

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/trace"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// show makes the values that the manager shows, and lets be set.
func (m *CellAppMgr) show(level logs.Level) error {
	m.watches = app.NewWatches(m.log, level, &m.own)
	t := m.watches.Tree
	watch.Show(t, "world/cell_apps", "CellApps that have joined", m.cellApps)
	watch.Show(t, "world/base_apps", "BaseApps that have joined", func() int { return m.count(wire.BaseApp) })
	watch.Show(t, "world/spaces", "spaces that there are", func() int { return len(m.spaces) })
	watch.Show(t, "world/deaths", "processes that were declared dead", m.Deaths)
	watch.Show(t, "world/frozen", "whether the world stands still", func() bool { return m.frozen })
	watch.Show(t, "world/term", "the manager's term", func() uint32 { return m.cfg.Term })
	t.Add(trace.Path, "ids of the entities whose steps all CellApps and BaseApps log", func() string { return m.tracing.text }, m.traceAll)
	m.showBalance(t)
	m.showLogins(t)
	m.showTimes(t)
	return m.watches.Finish(m.cfg.Watch)
}

// showBalance lets lines and cells rest, and sets how often they are looked at.
func (m *CellAppMgr) showBalance(t *watch.Tree) {
	c := &m.cfg.Balance
	watch.Setting(t, "balance/lines", "whether lines move with the load", func() bool { return !c.NoBalance },
		func(on bool) error { return m.setBalance(func(c *balance.Config) { c.NoBalance = !on }) })
	watch.Setting(t, "balance/cells", "whether cells are added and retired", func() bool { return !c.NoMeta },
		func(on bool) error { return m.setBalance(func(c *balance.Config) { c.NoMeta = !on }) })
	watch.Setting(t, "balance/period", "time between two moves of lines", func() time.Duration { return c.Period },
		func(d time.Duration) error { return m.setBalance(func(c *balance.Config) { c.Period = d }) })
	watch.Setting(t, "balance/meta_period", "time between two looks whether cells are added or retired", func() time.Duration { return c.MetaPeriod },
		func(d time.Duration) error { return m.setBalance(func(c *balance.Config) { c.MetaPeriod = d }) })
	watch.Setting(t, "balance/warning_level", "load of a CellApp above which a warning is logged", func() float64 { return c.WarningLevel },
		func(v float64) error { return m.setBalance(func(c *balance.Config) { c.WarningLevel = v }) })
}

// setBalance changes how cells follow the load. A policy keeps its settings, so that it takes
// another one; what the old one remembers of its lines' last steps goes, and they are damped anew.
func (m *CellAppMgr) setBalance(change func(*balance.Config)) error {
	c := m.cfg.Balance
	change(&c)
	c = m.cfg.Policy.Fill(c)
	if err := errors.Join(c.Validate(), m.cfg.Policy.Check(c, m.cfg.Border)); err != nil {
		return err
	}
	policy, err := m.cfg.Policy.New(c, m.cfg.Border)
	if err != nil {
		return err
	}
	m.cfg.Balance, m.policy, m.placer = c, policy, nil
	m.balanceAt, m.metaAt = min(m.balanceAt, m.awake.at+c.Period), min(m.metaAt, m.awake.at+c.MetaPeriod)
	return nil
}

// showLogins sets when the world is full.
func (m *CellAppMgr) showLogins(t *watch.Tree) {
	c := &m.cfg.Logins
	watch.Show(t, "logins/refused", "why nobody is let in; empty if players are", func() string { return m.gate.reason })
	watch.Setting(t, "logins/always", "whether players are let in whatever the loads are", func() bool { return c.Always },
		func(on bool) error { return m.setLogins(func(c *LoginConfig) { c.Always = on }) })
	watch.Setting(t, "logins/avg_load", "mean load of the CellApps above which logins are refused", func() float64 { return c.AvgLoad },
		func(v float64) error { return m.setLogins(func(c *LoginConfig) { c.AvgLoad = v }) })
	watch.Setting(t, "logins/max_load", "load of one CellApp above which logins are refused", func() float64 { return c.MaxLoad },
		func(v float64) error { return m.setLogins(func(c *LoginConfig) { c.MaxLoad = v }) })
	watch.Setting(t, "logins/base_load", "load above which a BaseApp has no room", func() float64 { return c.BaseLoad },
		func(v float64) error { return m.setLogins(func(c *LoginConfig) { c.BaseLoad = v }) })
	watch.Setting(t, "logins/tolerance", "for how long a load may be above its bound", func() time.Duration { return c.Tolerance },
		func(d time.Duration) error { return m.setLogins(func(c *LoginConfig) { c.Tolerance = d }) })
}

func (m *CellAppMgr) setLogins(change func(*LoginConfig)) error {
	c := m.cfg.Logins
	change(&c)
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return err
	}
	m.cfg.Logins = c
	return nil
}

// showTimes sets how long processes may be silent, and how often observers are told the status.
func (m *CellAppMgr) showTimes(t *watch.Tree) {
	c := &m.cfg
	watch.Setting(t, "silence/app_timeout", "after which a silent process is dead if nobody says otherwise", func() time.Duration { return c.AppTimeout },
		func(d time.Duration) error {
			if d < 2*c.Tick || d <= wire.ReportPeriod || d > c.HangTimeout {
				return fmt.Errorf("%v: take at least twice the tick (%v), more than the %v in which apps report once, and at most silence/hang_timeout (%v)", d, c.Tick, wire.ReportPeriod, c.HangTimeout)
			}
			c.AppTimeout = d
			return nil
		})
	watch.Setting(t, "silence/hang_timeout", "after which a silent process is dead whose port is open", func() time.Duration { return c.HangTimeout },
		func(d time.Duration) error {
			if d < c.AppTimeout {
				return fmt.Errorf("%v: take at least silence/app_timeout (%v)", d, c.AppTimeout)
			}
			c.HangTimeout = d
			return nil
		})
	watch.Setting(t, "status/period", "time between two states of the world that observers are told", func() time.Duration { return c.ReportPeriod },
		func(d time.Duration) error {
			if d < c.Tick {
				return fmt.Errorf("%v: take at least a tick (%v)", d, c.Tick)
			}
			c.ReportPeriod, m.statusAt = d, min(m.statusAt, m.awake.at+d)
			return nil
		})
}
