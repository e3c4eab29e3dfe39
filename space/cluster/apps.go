package cluster

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// This file makes each process from the Config and what the Host provides.

// start opens the carriers of a process and starts it over them.
func (c *Cluster) start(name string, carriers func() ([]host.Option, error), seal host.Option, create func(host.Env) (host.App, error)) (*host.Process, error) {
	opts, err := carriers()
	if err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", name, err)
	}
	return c.host.Start(name, "", create, append(opts, seal)...)
}

func (c *Cluster) startCellAppMgr(fresh bool) error {
	own := 1
	if c.cfg.Inner == TCP {
		own = 2 // observers come over UDP
	}
	fresh = fresh || c.cfg.Term > 0
	var past cellappmgr.Past
	p, err := c.start("CellAppMgr", c.cfg.managerCarriers, c.cfg.seal(mercury.Observer), func(e host.Env) (host.App, error) {
		cfg := c.seatConfig(&e, own, fresh)
		cfg.Past = &past
		return cellappmgr.NewSeat(cfg)
	})
	if err != nil {
		return err
	}
	c.cellAppMgr, c.manager = p, p.Address().At
	return nil
}

func (c *Cluster) startBaseAppMgr() error {
	p, err := c.start("BaseAppMgr", c.cfg.innerCarriers, c.cfg.seal(mercury.Member), func(e host.Env) (host.App, error) {
		return baseappmgr.New(baseappmgr.Config{
			Transport: e.Transport, Manager: c.manager, Schema: c.cfg.Schema, MaxProxies: c.cfg.maxProxies(), Log: e.Log, Meters: c.cfg.meters(&e, 1),
			Shed: c.cfg.Shed,
		})
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.baseAppMgr = p
	return nil
}

func (c *Cluster) startLoginApp() (err error) {
	c.loginApp, err = c.start("LoginApp", c.cfg.loginCarriers, c.cfg.seal(mercury.Member), func(e host.Env) (host.App, error) {
		cfg := loginapp.Config{
			Transport: e.Transport, Manager: c.manager, Managers: c.places, Schema: c.cfg.Schema, Auth: c.cfg.Auth, Jobs: e.Jobs, Queue: c.cfg.Logins.Queue,
			Log: e.Log, Tick: c.cfg.Tick, Meters: c.cfg.meters(&e, 1),
			Network: c.cfg.network(&e),
		}
		if len(c.cfg.TicketKeys) > 0 {
			tickets, err := c.cfg.newMint(&e)
			if err != nil {
				return nil, err
			}
			cfg.Tickets = tickets
		}
		return loginapp.New(cfg)
	})
	return err
}

func (c *Cluster) startBaseApp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.start(fmt.Sprintf("BaseApp %d", len(c.baseApps)+1), c.cfg.baseCarriers, c.cfg.seal(mercury.Member, c.cfg.TicketKeys...), func(e host.Env) (host.App, error) {
		return baseapp.New(baseapp.Config{
			Transport: e.Transport, Manager: c.manager, Managers: c.places, Schema: c.cfg.Schema, Scripts: c.cfg.BaseScripts, PlayerType: c.cfg.PlayerType,
			Secrets: e.Secrets, Start: c.cfg.BaseStart, Lookout: e.Lookout, Log: e.Log, Tick: c.cfg.Tick, Meters: c.cfg.meters(&e, 1),
			Doors: c.cfg.told(&e), Outside: c.cfg.outside(&e), Upload: c.cfg.Upload, ResumeTime: c.cfg.ResumeTime, Relogin: c.cfg.Relogin,
			BackupPeriod: c.cfg.BackupPeriod, BackupReplicas: c.cfg.BackupReplicas, MoveBatch: c.cfg.MoveBatch,
			Stored: c.cfg.stored(), ArchivePeriod: c.cfg.ArchivePeriod, BringBack: c.cfg.BringBack,
		})
	})
	if err != nil {
		return err
	}
	c.baseApps = append(c.baseApps, p)
	return nil
}

func (c *Cluster) startCellApp() (*host.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.start(fmt.Sprintf("CellApp %d", len(c.cellApps)+1), c.cfg.cellCarriers, c.cfg.seal(mercury.Member), func(e host.Env) (host.App, error) {
		return cellapp.New(cellapp.Config{
			Transport: e.Transport, Manager: c.manager, Managers: c.places, Scripts: c.cfg.CellScripts, Space: c.cfg.Space, Tick: c.cfg.Tick,
			Chance: e.Chance, Jobs: e.Jobs, Lookout: e.Lookout, Work: e.Work, Meters: c.cfg.meters(&e, 1), Log: e.Log,
			Parallel: host.Parallel(c.cfg.Workers), Workers: c.cfg.Workers,
		})
	})
	if err != nil {
		return nil, err
	}
	c.cellApps = append(c.cellApps, p)
	return p, nil
}

// joined reports whether the manager knows the process at an address.
func joined(s *status.World, at netip.AddrPort) bool {
	for i := range s.Apps {
		if s.Apps[i].AddrPort() == at {
			return true
		}
	}
	return false
}
