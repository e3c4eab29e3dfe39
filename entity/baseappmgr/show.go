package baseappmgr

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// show makes the values that the BaseAppMgr shows, and lets be set.
func (m *BaseAppMgr) show(level logs.Level) error {
	m.watches = app.NewWatches(m.log, level, &m.report)
	t := m.watches.Tree
	watch.Show(t, "players/accounts", "accounts that have a proxy, or soon have", func() int { return len(m.accounts) })
	watch.Show(t, "players/base_apps", "BaseApps that have joined", func() int { return len(m.baseApps) })
	watch.Show(t, "players/login_apps", "LoginApps that have joined", func() int { return len(m.loginApps) })
	watch.Show(t, "players/names", "names of bases", func() int { return len(m.names.held) })
	watch.Setting(t, "players/max_proxies", "proxies that logins may make on a BaseApp; 0 is no bound", func() int { return m.cfg.MaxProxies },
		func(n int) error { return m.configure(func(c *Config) { c.MaxProxies = n }) })
	watch.Show(t, "shed/orders", "orders to give bases to others so far", func() int { return m.sheds })
	watch.Setting(t, "shed/on", "whether bases move from BaseApps with much to do", func() bool { return !m.cfg.Shed.Off },
		func(on bool) error { return m.configure(func(c *Config) { c.Shed.Off = !on }) })
	watch.Setting(t, "shed/above", "share above the average from which on they do", func() float64 { return m.cfg.Shed.Above },
		func(v float64) error { return m.configure(func(c *Config) { c.Shed.Above = v }) })
	watch.Setting(t, "shed/least_load", "how much that must be of work at least, as a part of a core", func() float64 { return m.cfg.Shed.LeastLoad },
		func(v float64) error { return m.configure(func(c *Config) { c.Shed.LeastLoad = v }) })
	watch.Setting(t, "shed/least", "how many bases that must be at least", func() int { return m.cfg.Shed.Least },
		func(n int) error { return m.configure(func(c *Config) { c.Shed.Least = n }) })
	return m.watches.Finish(m.cfg.Watch)
}

// configure changes the settings if they make sense.
func (m *BaseAppMgr) configure(change func(*Config)) error {
	c := m.cfg
	change(&c)
	c.Shed.setDefaults()
	if err := c.Validate(); err != nil {
		return fmt.Errorf("baseappmgr: %w", err)
	}
	m.cfg = c
	return nil
}
