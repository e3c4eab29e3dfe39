package cluster

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/mercury/host"
)

// This file lets a game take single CellApps and BaseApps of this OS process away, as death would, and add
// others.

// CellApps is how many CellApps were started here, including those that have ended: each keeps its
// number. Status counts those that the world has.
func (c *Cluster) CellApps() int { return c.count(&c.cellApps) }

// BaseApps is how many BaseApps were started here, counted as CellApps are.
func (c *Cluster) BaseApps() int { return c.count(&c.baseApps) }

// CellAppAddr is where CellApp i listens, counted from 0 in the order of starting. It is not valid
// if there is no such CellApp.
func (c *Cluster) CellAppAddr(i int) netip.AddrPort { return c.addrOf(&c.cellApps, i) }

// BaseAppAddr is where BaseApp i listens for other processes, counted as CellApps are.
func (c *Cluster) BaseAppAddr(i int) netip.AddrPort { return c.addrOf(&c.baseApps, i) }

// KillCellApp kills CellApp i, counted from 0 in the order of starting, as SIGKILL would, to show
// what a world does then.
func (c *Cluster) KillCellApp(i int) error { return c.kill("CellApp", &c.cellApps, i) }

// KillBaseApp kills BaseApp i, as KillCellApp does.
func (c *Cluster) KillBaseApp(i int) error { return c.kill("BaseApp", &c.baseApps, i) }

// AddCellApp starts one more CellApp, and does not wait for it to join.
func (c *Cluster) AddCellApp() error {
	_, err := c.startCellApp()
	return err
}

// AddBaseApp starts one more BaseApp, and does not wait for it to join. Config.BaseStart is called there,
// too.
func (c *Cluster) AddBaseApp() error { return c.startBaseApp() }

func (c *Cluster) count(list *[]*host.Process) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(*list)
}

// process returns a process of a list, nil if there is none.
func (c *Cluster) process(list *[]*host.Process, i int) *host.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i < 0 || i >= len(*list) {
		return nil
	}
	return (*list)[i]
}

func (c *Cluster) addrOf(list *[]*host.Process, i int) netip.AddrPort {
	p := c.process(list, i)
	if p == nil {
		return netip.AddrPort{}
	}
	return p.Address().At
}

func (c *Cluster) kill(role string, list *[]*host.Process, i int) error {
	p := c.process(list, i)
	if p == nil {
		return fmt.Errorf("cluster: there is no %s %d here", role, i)
	}
	c.cfg.Log.Warn(role+" killed", "process", p.Name(), "at", p.Address())
	p.Kill()
	return nil
}
