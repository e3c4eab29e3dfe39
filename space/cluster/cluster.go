package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/client/session"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// Cluster is the processes of a world that run in this OS process: all of them, or those of one
// role.
type Cluster struct {
	cfg     Config
	host    *host.Host
	manager netip.AddrPort
	places  *lookup  // of Config.Managers
	lines   *outlet  // of Config.Log
	lead    *leading // nil unless managers elsewhere may lead, too

	cellAppMgr, baseAppMgr, loginApp, dbApp *host.Process

	mu       sync.Mutex
	baseApps []*host.Process
	cellApps []*host.Process
	retired  map[*host.Process]bool // those of them that have left in order
	sessions []*session.Session

	stop     sync.Once
	stopping atomic.Bool
	detach   func() bool // ends the watch of the context
	err      error       // of stop
}

// Start starts a whole world in this process and returns when players can log in. When ctx ends,
// the world is stopped.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if err := cfg.drawTicketKey(); err != nil {
		return nil, err
	}
	if len(cfg.Managers) > 0 {
		return nil, errors.New("cluster: Start with Config.Managers: leave them out, since all of this world ends with this process; or start each role by itself")
	}
	return start(ctx, cfg, netip.AddrPort{}, func(c *Cluster) error {
		if err := c.startCellAppMgr(true, nil); err != nil {
			return err
		}
		if err := errors.Join(c.startDBApp(ctx, true), c.startBaseAppMgr(), c.startLoginApp()); err != nil {
			return err
		}
		for range c.cfg.BaseApps {
			if err := c.startBaseApp(); err != nil {
				return err
			}
		}
		for range c.cfg.CellApps {
			if _, err := c.startCellApp(); err != nil {
				return err
			}
		}
		return nil
	})
}

// StartManagers starts the CellAppMgr, at Config.ManagerPort, and the BaseAppMgr. All other
// processes join them at ManagerAddr. Where Config.Managers names several places, it returns as soon as
// the process stands by; it leads when a majority of the others has voted for it.
func StartManagers(ctx context.Context, cfg Config) (*Cluster, error) {
	return start(ctx, cfg, netip.AddrPort{}, func(c *Cluster) error {
		if c.several() {
			// One that stands by would find out only when the world needs it. A store that is away now
			// may be back by then.
			if err := c.cfg.begun(ctx); errors.Is(err, store.ErrEmpty) {
				return err
			}
			lead := newLeading()
			if err := c.startCellAppMgr(false, lead); err != nil {
				return err
			}
			c.lead = lead // which Stop ends, so it must have begun
			lead.follow(c)
			return nil
		}
		if err := c.startCellAppMgr(false, nil); err != nil {
			return err
		}
		return errors.Join(c.startDBApp(ctx, c.cfg.Term == 1), c.startBaseAppMgr())
	})
}

// StartLogin starts a LoginApp at the doors, and returns when it has joined the managers.
func StartLogin(ctx context.Context, cfg Config, manager netip.AddrPort) (*Cluster, error) {
	return join(ctx, cfg, manager, (*Cluster).startLoginApp)
}

// StartBaseApp starts a BaseApp, and returns when it has joined the managers.
func StartBaseApp(ctx context.Context, cfg Config, manager netip.AddrPort) (*Cluster, error) {
	return join(ctx, cfg, manager, (*Cluster).startBaseApp)
}

// StartCellApp starts a CellApp, and returns when it has joined the managers.
func StartCellApp(ctx context.Context, cfg Config, manager netip.AddrPort) (*Cluster, error) {
	return join(ctx, cfg, manager, func(c *Cluster) error {
		_, err := c.startCellApp()
		return err
	})
}

// join starts processes whose managers run elsewhere.
func join(ctx context.Context, cfg Config, manager netip.AddrPort, processes func(*Cluster) error) (*Cluster, error) {
	if len(cfg.Managers) == 0 && (!manager.IsValid() || manager.Port() == 0) {
		return nil, fmt.Errorf("cluster: the managers cannot be joined at %v: give the address and port that they listen at, which Cluster.ManagerAddr returns in their process", manager)
	}
	return start(ctx, cfg, manager, processes)
}

func start(ctx context.Context, cfg Config, manager netip.AddrPort, processes func(*Cluster) error) (*Cluster, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	notices := append(cfg.notices(), cfg.openDoors()...)
	cfg = cfg.withDefaults()
	lines := newPatient(cfg.Log.Handler())
	cfg.Log = slog.New(lines)
	places := newLookup(cfg.Managers, cfg.Resolve, cfg.Log)
	if err := places.find(ctx, cfg.StartTimeout); err != nil {
		places.quit()
		return nil, err
	}
	if !manager.IsValid() {
		manager = places.first()
	}
	c := &Cluster{manager: manager, places: places, lines: lines.outlet, retired: make(map[*host.Process]bool)}
	cfg.Log = slog.New(quiet{cfg.Log.Handler(), &c.stopping})
	for _, n := range notices {
		cfg.Log.Warn("notice", "notice", n)
	}
	if err := cfg.sealInner(); err != nil {
		return nil, err
	}
	h, err := host.New(host.Config{Log: cfg.Log, Seed: cfg.Seed})
	if err != nil {
		return nil, err
	}
	c.cfg, c.host = cfg, h
	if err = processes(c); err == nil {
		c.places.follow(c.all)
		err = c.ready(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	c.detach = context.AfterFunc(ctx, func() { _ = c.Stop() })
	return c, nil
}

// several reports whether managers elsewhere may lead, too.
func (c *Cluster) several() bool { return len(c.cfg.Managers) > 1 }

// ManagerAddr is where the CellAppMgr listens, for other processes and observers to join.
func (c *Cluster) ManagerAddr() netip.AddrPort { return c.manager }

// LoginAddr is where clients log in by the first door. It is not valid in a process without a
// LoginApp.
func (c *Cluster) LoginAddr() netip.AddrPort {
	if c.loginApp == nil {
		return netip.AddrPort{}
	}
	return c.loginApp.Places()[1].Self.At
}

// LoginURLs are where clients log in by each door, as session.Config.LoginApp takes them. There are
// none in a process without a LoginApp.
func (c *Cluster) LoginURLs() (urls []string) {
	if c.loginApp == nil {
		return nil
	}
	for i := range c.cfg.Doors {
		at := c.carrierAt(i)
		urls = append(urls, at.URL())
	}
	return urls
}

// carrierAt returns the figures of a door of the LoginApp.
func (c *Cluster) carrierAt(door int) status.Carrier {
	d, p := &c.cfg.Doors[door], c.loginApp.Places()[door+1]
	return status.Carrier{Network: p.Network, Address: p.Self.String(), Name: d.Name, Sealed: d.byTLS() && c.cfg.TLS != nil}
}

// ErrStandsBy is returned by Status in an OS process whose managers stand by. An Observer is told by the
// manager that leads.
var ErrStandsBy = errors.New("cluster: the managers of another process lead")

// ErrNoManager is returned by Status in an OS process that does not run the managers. An Observer
// can ask from anywhere.
var ErrNoManager = errors.New("cluster: the managers run elsewhere")

// Status returns the present state of the world.
func (c *Cluster) Status() (w status.World, err error) {
	if c.cellAppMgr == nil {
		return w, ErrNoManager
	}
	leads := false
	err = c.cellAppMgr.Do(func(a host.App) {
		s := a.(*cellappmgr.Seat)
		w, leads = s.Status(), s.Term() > 0
	})
	if err == nil && !leads && c.several() {
		err = ErrStandsBy
	}
	return w, err
}

// SealStats returns the sum of what the Guards of the processes here have counted: channels opened
// in a round trip (Admitted) and by a ticket (Resumed), and refusals. All are zero for a world
// without Config.Key.
func (c *Cluster) SealStats() (sum secure.Stats, err error) {
	for _, p := range c.all() {
		all, e := p.Carriers()
		err = errors.Join(err, e)
		for _, c := range all {
			sum.Answered += c.Seal.Answered
			sum.BadHellos += c.Seal.BadHellos
			sum.Admitted += c.Seal.Admitted
			sum.Resumed += c.Seal.Resumed
			sum.Refused += c.Seal.Refused
			sum.Replayed += c.Seal.Replayed
			sum.Full += c.Seal.Full
			sum.Minted += c.Seal.Minted
			sum.Strangers += c.Seal.Strangers
			sum.OldKeys += c.Seal.OldKeys
		}
	}
	return sum, err
}

// SetClusterKeys changes Config.ClusterKeys for the processes that run here and those that start
// later. Do it in three steps, each in all OS processes before the next, so that any two processes
// always have a key in common: add the new key after the old one, put it first, and leave the old
// one out. Channels stay open. After the last step nobody can join by the old key, or by an
// observer's key derived from it. After an error some processes may have the new keys; correct the
// fault and call again.
func (c *Cluster) SetClusterKeys(keys ...secure.ClusterKey) error {
	cfg := Config{Key: c.cfg.Key, ClusterKeys: keys}
	switch {
	case !cfg.sealed():
		return fmt.Errorf("cluster: SetClusterKeys: %w: start the world with Config.Key", host.ErrUnsealed)
	case len(keys) == 0:
		return errors.New("cluster: SetClusterKeys: no key: give all keys to accept from now on, the one to use first")
	}
	if err := cfg.validateSeal(); err != nil {
		return err
	}
	if c.cfg.inner != nil {
		if err := c.cfg.inner.take(keys); err != nil {
			return err
		}
	}
	c.mu.Lock()
	c.cfg.ClusterKeys = slices.Clone(keys) // for processes that start later
	c.mu.Unlock()
	var errs []error
	for _, p := range c.all() {
		if err := p.SetClusterKeys(keys); !errors.Is(err, host.ErrStopped) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Wait waits until all processes have ended, by Stop or by themselves, and returns the errors of
// those that ended by themselves: ErrUnsaved is among them if the world was stopped and not all was
// written. A program that ends with success although Wait has returned an error hides that.
func (c *Cluster) Wait() error { return c.host.Wait() }

// Err returns the errors of processes that have ended by themselves so far.
func (c *Cluster) Err() error {
	var errs []error
	for _, p := range c.all() {
		errs = append(errs, p.Err())
	}
	return errors.Join(errs...)
}

func (c *Cluster) all() []*host.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*host.Process
	for _, list := range [][]*host.Process{{c.loginApp}, c.baseApps, c.cellApps, {c.dbApp, c.baseAppMgr, c.cellAppMgr}} {
		for _, p := range list {
			if p != nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// Stop is for one OS process of a world, and leaves the others alone; Shutdown stops the whole world. It
// ends the sessions of Connect, has the BaseApps here write all that a store keeps, tells their clients
// protocol.ServerClosing, and then ends the processes, in order, and waits for them. The writing may take
// SaveTime. It returns the errors of processes that had ended by themselves, and ErrUnsaved if not all was
// written. A second Stop waits for the first.
//
// The bases of a BaseApp that is stopped alone go on at others, as after a death, from a copy that Stop
// makes; what comes in the moment after that is undone, and its players have to log in again. So let
// what ends processes call RetireBaseApp first, or RetireCellApp, if the world goes on.
//
// All OS processes of a world may be stopped at once, as when a machine goes down. So the one with
// the managers and the store goes on serving until the BaseApps elsewhere have written all and
// left, or are declared dead, for SaveTime at most. If they stay, since the managers alone are to
// be replaced, Stop takes that long. Of several managers (Config.Managers) it is the one that leads
// that waits. It needs a majority for that: so those that stand by wait for it, if they are stopped
// less than a second before it, or after it.
func (c *Cluster) Stop() error {
	c.stop.Do(func() {
		if c.detach != nil {
			c.detach()
		}
		until := time.Now().Add(SaveTime)
		if n := c.writersElsewhere(); n > 0 {
			c.cfg.Log.Info("the store stays until the BaseApps elsewhere have left", "baseapps", n, "at most", SaveTime)
		}
		c.stopping.Store(true)
		c.leave()
		c.places.stop()
		if c.lead != nil {
			c.lead.stop()
		}
		c.mu.Lock()
		sessions := c.sessions
		c.mu.Unlock()
		for _, s := range sessions {
			_ = s.Close()
		}
		if c.loginApp != nil {
			_ = c.loginApp.Stop() // Close reports the error
		}
		saved := c.save()
		c.awaitWriters(until)
		c.awaitLeader(until.Add(cellappmgr.LeaseTime))
		c.turnAway()
		start := c.startToEnd()
		for _, p := range c.all() {
			_ = p.Stop()
		}
		if c.err = errors.Join(c.host.Close(), saved); start != 0 {
			c.release(start)
		}
	})
	return c.err
}

// turnAway tells the clients of the BaseApps here that the server is closing.
func (c *Cluster) turnAway() {
	for _, p := range c.ownBaseApps() {
		_ = p.Do(func(a host.App) { a.(*baseapp.BaseApp).TurnAway("") }) // one that has ended has no clients
	}
}

func (c *Cluster) ownBaseApps() []*host.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.baseApps)
}
