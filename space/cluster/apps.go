package cluster

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// How each process is made from the Config and what the Host gives it.

func (c *Cluster) startCellAppMgr() error {
	p, err := c.host.Start("CellAppMgr", c.cfg.at(c.cfg.ManagerPort), func(e host.Env) (host.App, error) {
		return cellappmgr.New(cellappmgr.Config{
			Transport: e.Transport, Log: e.Log, Schema: c.cfg.Schema, Spaces: c.cfg.Spaces, Balance: c.cfg.Balance, Border: c.cfg.Space.WithDefaults().Border, Policy: c.cfg.Policy, Logins: c.cfg.Logins,
			Term: c.cfg.Term, AppTimeout: c.cfg.AppTimeout, ReportPeriod: c.cfg.StatusPeriod, Tick: c.cfg.Tick, Clock: e.Clock, CPU: e.CPU, ProcessCPU: e.ProcessCPU,
		})
	}, c.cfg.seal())
	if err != nil {
		return err
	}
	c.cellAppMgr, c.manager = p, p.Address().At
	return nil
}

func (c *Cluster) startBaseAppMgr() (err error) {
	c.baseAppMgr, err = c.host.Start("BaseAppMgr", c.cfg.at(0), func(e host.Env) (host.App, error) {
		return baseappmgr.New(baseappmgr.Config{
			Transport: e.Transport, Manager: c.manager, Schema: c.cfg.Schema, Log: e.Log, Tick: c.cfg.Tick, Clock: e.Clock, CPU: e.CPU, ProcessCPU: e.ProcessCPU,
		})
	}, c.cfg.seal())
	return err
}

func (c *Cluster) startLoginApp() (err error) {
	c.loginApp, err = c.host.Start("LoginApp", c.cfg.at(c.cfg.LoginPort), func(e host.Env) (host.App, error) {
		cfg := loginapp.Config{
			Transport: e.Transport, Manager: c.manager, Schema: c.cfg.Schema, Auth: c.cfg.Auth, Jobs: e.Jobs,
			Log: e.Log, Tick: c.cfg.Tick, Clock: e.Clock, CPU: e.CPU, ProcessCPU: e.ProcessCPU,
		}
		if len(c.cfg.TicketKeys) > 0 {
			tickets, err := c.cfg.newMint(&e)
			if err != nil {
				return nil, err
			}
			cfg.Tickets = tickets
		}
		return loginapp.New(cfg)
	}, c.cfg.seal())
	return err
}

func (c *Cluster) startBaseApp() error {
	p, err := c.host.Start(fmt.Sprintf("BaseApp %d", len(c.baseApps)+1), c.cfg.at(0), func(e host.Env) (host.App, error) {
		return baseapp.New(baseapp.Config{
			Transport: e.Transport, Manager: c.manager, Schema: c.cfg.Schema, Scripts: c.cfg.BaseScripts, PlayerType: c.cfg.PlayerType,
			Secrets: e.Secrets, Start: c.cfg.BaseStart, Log: e.Log, Tick: c.cfg.Tick, Clock: e.Clock, CPU: e.CPU, ProcessCPU: e.ProcessCPU,
		})
	}, c.cfg.seal(c.cfg.TicketKeys...))
	if err != nil {
		return err
	}
	c.baseApps = append(c.baseApps, p)
	return nil
}

func (c *Cluster) startCellApp() (*host.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.host.Start(fmt.Sprintf("CellApp %d", len(c.cellApps)+1), c.cfg.at(0), func(e host.Env) (host.App, error) {
		return cellapp.New(cellapp.Config{
			Transport: e.Transport, Manager: c.manager, Scripts: c.cfg.CellScripts, Space: c.cfg.Space, Tick: c.cfg.Tick,
			Chance: e.Chance, Jobs: e.Jobs, Clock: e.Clock, CPU: e.CPU, ProcessCPU: e.ProcessCPU, Log: e.Log,
		})
	}, c.cfg.seal())
	if err != nil {
		return nil, err
	}
	c.cellApps = append(c.cellApps, p)
	return p, nil
}

// joined reports whether the manager knows a process.
func joined(s *status.World, at netip.AddrPort) bool {
	for i := range s.Apps {
		if s.Apps[i].AddrPort() == at {
			return true
		}
	}
	return false
}
