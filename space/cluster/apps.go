package cluster

import (
	"fmt"
	"net/netip"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
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

// startCellAppMgr starts the managers' seat. lead is told when it leads; nil where no other may.
func (c *Cluster) startCellAppMgr(fresh bool, lead *leading) error {
	own := 1
	if c.cfg.Inner == TCP {
		own = 2 // observers come over UDP
	}
	fresh = fresh || c.cfg.Term > 0
	var past cellappmgr.Past
	p, err := c.start("CellAppMgr", c.cfg.managerCarriers, c.cfg.seal(mercury.Observer), func(e host.Env) (host.App, error) {
		env := c.cfg.env(&e, own)
		env.Past = &past
		cfg := c.roles().seatConfig(env, fresh)
		cfg.ForObservers = func(ch mercury.ChannelID) bool {
			i, _, ok := e.Net.Carrier(ch)
			return ok && i > 0
		}
		if lead != nil {
			cfg.Leads, cfg.Ends = lead.set, func(string) { lead.set(0) }
		}
		return cellappmgr.NewSeat(cfg)
	})
	if err != nil {
		return err
	}
	c.cellAppMgr, c.manager = p, p.Address().At
	c.places.pin(c.manager)
	return nil
}

func (c *Cluster) startBaseAppMgr() error {
	p, err := c.start("BaseAppMgr", c.cfg.innerCarriers, c.cfg.seal(mercury.Member), func(e host.Env) (host.App, error) {
		return c.roles().BaseAppMgr(c.cfg.env(&e, 1))
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
		env := c.cfg.env(&e, 1)
		env.Network = c.cfg.network(&e)
		if len(c.cfg.TicketKeys) > 0 {
			tickets, err := c.cfg.newMint(&e)
			if err != nil {
				return nil, err
			}
			env.Tickets = tickets
		}
		return c.roles().LoginApp(env)
	})
	return err
}

// nameOf is what a process is called in logs and errors here, where there are some of its role already.
// Their numbers in the world are the managers' to give: a process says its own when it has joined. So one
// that joins managers elsewhere has none in its name, or "CellApp 2" were another one in each log.
func (c *Cluster) nameOf(role string, before int) string {
	switch {
	case c.cellAppMgr != nil:
		return fmt.Sprintf("%s %d", role, before+1)
	case before == 0:
		return role
	}
	return fmt.Sprintf("%s no. %d here", role, before+1)
}

func (c *Cluster) startBaseApp() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, err := c.start(c.nameOf(status.RoleBaseApp, len(c.baseApps)), c.cfg.baseCarriers, c.cfg.seal(mercury.Member, c.cfg.TicketKeys...), func(e host.Env) (host.App, error) {
		env := c.cfg.env(&e, 1)
		env.Doors, env.Outside = c.cfg.told(&e), c.cfg.outside(&e)
		return c.roles().BaseApp(env)
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
	p, err := c.start(c.nameOf(status.RoleCellApp, len(c.cellApps)), c.cfg.cellCarriers, c.cfg.seal(mercury.Member), func(e host.Env) (host.App, error) {
		return c.roles().CellApp(c.cfg.env(&e, 1))
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
