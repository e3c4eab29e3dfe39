package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/entity/loginapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// Roles makes the processes of a world one by one, as state machines, for who runs them in another
// way than Start does. Package spacetest does, in virtual time. A Cluster makes its own by the
// same.
type Roles struct {
	cfg      *Config
	manager  netip.AddrPort
	managers []netip.AddrPort            // of Config.Managers
	types    *store.Schema               // of the store, once it fits the definitions
	change   func(context.Context) error // applies them; nil if that was done
}

// Env is what one process is given by whoever runs it.
type Env struct {
	// Transport carries its channels. Required.
	Transport mercury.Transport
	// Chance is what a CellApp's scripts draw from, and Secrets what nobody may guess. Required
	// where they are used.
	Chance  *rand.Rand
	Secrets func([]byte)
	// Jobs performs what blocks: a login's check, the store, what cells load. Required.
	Jobs loginapp.Jobs
	// Lookout looks whether other processes are there; nil for none, and then a death is known only
	// by its silence.
	Lookout cellappmgr.Lines
	// Work is the clock by which a CellApp's load is measured; nil for that of Meters.
	Work func() time.Duration
	// Meters are what the process measures itself with.
	Meters status.Meters
	// Doors are further ways in that players are told of. Outside tells a BaseApp whether a channel
	// came in by a door, and Network a LoginApp by which network; nil for one way for all.
	Doors   []protocol.Door
	Outside func(mercury.ChannelID) bool
	Network func(mercury.ChannelID) string
	// Tickets are what a LoginApp gives players for their BaseApp; nil for none.
	Tickets loginapp.Tickets
	// Holder is how a DBApp names itself in the store; "" for not at all.
	Holder string
	// Past is what a CellAppMgr that starts anew by itself (Seat.Dismissed) keeps from its former
	// start; nil for nothing.
	Past *cellappmgr.Past
	// Log is the process's own. Required.
	Log *slog.Logger
}

// Roles checks c and fills in its defaults, as Start does. The CellAppMgr of the world will be at
// manager. What c says of addresses, doors, seals and times of the start is left to who runs the
// processes.
func (c Config) Roles(manager netip.AddrPort) (*Roles, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	notices := c.notices()
	c = c.withDefaults()
	for _, n := range notices {
		c.Log.Warn("notice", "notice", n)
	}
	return &Roles{cfg: &c, manager: manager}, nil
}

// roles are those of a Cluster, which knows by now where the managers are.
func (c *Cluster) roles() *Roles {
	return &Roles{cfg: &c.cfg, manager: c.manager, managers: c.places.now()}
}

// Config is the configuration, with its defaults.
func (r *Roles) Config() Config { return *r.cfg }

// OpenStore brings the store, if there is one, in line with the definitions. Call it before DBApp.
func (r *Roles) OpenStore(ctx context.Context) error {
	if r.cfg.Store == nil {
		return nil
	}
	if err := r.cfg.begun(ctx); err != nil {
		return err
	}
	types, err := r.cfg.storeSchema()
	if err != nil {
		return err
	}
	r.takeTypes(types)
	return r.applyTypes(ctx)
}

func (r *Roles) takeTypes(types *store.Schema) {
	for _, n := range types.Notices {
		r.cfg.Log.Warn("notice", "notice", n)
	}
	r.types = types
}

func (r *Roles) applyTypes(ctx context.Context) error {
	plan, err := r.cfg.Store.Apply(ctx, r.types, r.cfg.StoreForgets)
	if err != nil {
		return untaken(err)
	}
	for i := range plan {
		r.cfg.Log.Info("the store was changed", "step", plan[i])
	}
	return nil
}

// untaken says why a store does not take definitions, with the remedy.
func untaken(err error) error {
	switch {
	case errors.Is(err, store.ErrDestructive):
		return fmt.Errorf("cluster: the store does not take the definitions; bring back what they lack, or start once with Config.StoreForgets: %w", err)
	case errors.Is(err, store.ErrTaken):
		return fmt.Errorf("cluster: the store does not take the definitions; rows have the same value where it is to be unique: make them differ under the old definitions, or leave Unique out: %w", err)
	}
	return fmt.Errorf("cluster: the store does not take the definitions: %w", err)
}

// changeLater reports whether definitions change a store in which a world may live that has others: then the
// DBApp changes it, once it knows. A store of which no start has begun has no such world.
func (r *Roles) changeLater(ctx context.Context) (bool, error) {
	if r.cfg.Store == nil {
		return false, nil
	}
	types, err := r.cfg.storeSchema()
	if err != nil {
		return false, err
	}
	if err := r.cfg.begun(ctx); err != nil { // before anything is said of a change
		return false, err
	}
	plan, err := r.cfg.Store.Plan(ctx, types)
	if err == nil {
		err = plan.Allow(r.cfg.StoreForgets)
	}
	if err != nil {
		return false, untaken(err)
	}
	used, err := dbapp.Used(ctx, r.cfg.Store)
	if err != nil || !used || len(plan) == 0 {
		return false, err
	}
	for i := range plan {
		r.cfg.Log.Info("the store will be changed when the world begins", "step", plan[i])
	}
	r.takeTypes(types)
	r.change = r.applyTypes
	return true, nil
}

// seatConfig says where and how the CellAppMgr leads. A fresh one need not ask whether a world
// lives that goes on.
func (r *Roles) seatConfig(e *Env, fresh bool) cellappmgr.SeatConfig {
	cfg := cellappmgr.SeatConfig{
		Config: cellappmgr.Config{
			Transport: e.Transport, Log: e.Log, Schema: r.cfg.Schema, Spaces: r.cfg.Spaces, Balance: r.cfg.Balance, Border: r.cfg.Space.WithDefaults().Border, Policy: r.cfg.Policy, Logins: r.cfg.Logins, Stores: r.cfg.Store != nil,
			Term: r.cfg.Term, AppTimeout: r.cfg.AppTimeout, HangTimeout: r.cfg.HangTimeout, RecoveryWindow: r.cfg.RecoveryWindow, MinCellApps: r.cfg.MinCellApps, ReportPeriod: r.cfg.StatusPeriod, Tick: r.cfg.Tick, Meters: e.Meters,
			Lookout: e.Lookout, Watch: r.watch(status.RoleCellAppMgr),
		},
		Places: r.managers, Fresh: fresh && len(r.managers) < 2, Past: e.Past,
	}
	if r.cfg.Store != nil {
		cfg.Numbers, cfg.Jobs = r.cfg.Store, e.Jobs
	}
	return cfg
}

// CellAppMgr makes the manager of the CellApps. A fresh one begins a world; another one looks first
// whether one lives, and goes on with that.
func (r *Roles) CellAppMgr(e *Env, fresh bool) (*cellappmgr.Seat, error) {
	return cellappmgr.NewSeat(r.seatConfig(e, fresh))
}

// BaseAppMgr makes the manager of the BaseApps.
func (r *Roles) BaseAppMgr(e *Env) (*baseappmgr.BaseAppMgr, error) {
	return baseappmgr.New(r.baseAppMgrConfig(e))
}

func (r *Roles) baseAppMgrConfig(e *Env) baseappmgr.Config {
	return baseappmgr.Config{
		Transport: e.Transport, Manager: r.manager, Schema: r.cfg.Schema, MaxProxies: r.cfg.maxProxies(), Log: e.Log, Meters: e.Meters,
		Shed: r.cfg.Shed, Watch: r.watch(status.RoleBaseAppMgr),
	}
}

// DBApp makes the process that has the store. fresh is as for CellAppMgr.
func (r *Roles) DBApp(e *Env, fresh bool) (*dbapp.DBApp, error) {
	return dbapp.New(r.dbAppConfig(e, fresh))
}

func (r *Roles) dbAppConfig(e *Env, fresh bool) dbapp.Config {
	return dbapp.Config{
		Transport: e.Transport, Manager: r.manager, Schema: r.cfg.Schema, Store: r.cfg.Store, Types: r.types, Change: r.change, BringBack: r.cfg.BringBack, Fresh: fresh, Holder: e.Holder,
		Limit: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, dbapp.JobTime)
		},
		Jobs: e.Jobs, Secrets: e.Secrets, Log: e.Log, Tick: r.cfg.Tick, Meters: e.Meters, Watch: r.watch(status.RoleDBApp),
	}
}

// LoginApp makes a process that lets players in.
func (r *Roles) LoginApp(e *Env) (*loginapp.LoginApp, error) {
	return loginapp.New(r.loginAppConfig(e))
}

func (r *Roles) loginAppConfig(e *Env) loginapp.Config {
	return loginapp.Config{
		Transport: e.Transport, Manager: r.manager, Managers: r.managers, Schema: r.cfg.Schema, Auth: r.cfg.Auth, Jobs: e.Jobs, Queue: r.cfg.Logins.Queue,
		Log: e.Log, Tick: r.cfg.Tick, Meters: e.Meters,
		Network: e.Network, Tickets: e.Tickets, MaxPending: r.cfg.PendingLogins, Watch: r.watch(status.RoleLoginApp),
	}
}

// BaseApp makes a process for bases.
func (r *Roles) BaseApp(e *Env) (*baseapp.BaseApp, error) {
	return baseapp.New(r.baseAppConfig(e))
}

func (r *Roles) baseAppConfig(e *Env) baseapp.Config {
	return baseapp.Config{
		Transport: e.Transport, Manager: r.manager, Managers: r.managers, Schema: r.cfg.Schema, Scripts: r.cfg.BaseScripts, PlayerType: r.cfg.PlayerType,
		Secrets: e.Secrets, Start: r.cfg.BaseStart, Lookout: e.lookout(), Log: e.Log, Tick: r.cfg.Tick, Meters: e.Meters,
		Doors: e.Doors, Outside: e.Outside, Upload: r.cfg.Upload, ResumeTime: r.cfg.ResumeTime, Relogin: r.cfg.Relogin, DownloadRate: r.cfg.DownloadRate,
		BackupPeriod: r.cfg.BackupPeriod, BackupReplicas: r.cfg.BackupReplicas, MoveBatch: r.cfg.MoveBatch,
		Stored: r.cfg.stored(), ArchivePeriod: r.cfg.ArchivePeriod, BringBack: r.cfg.BringBack, Watch: r.watch(status.RoleBaseApp),
	}
}

// CellApp makes a process for cells.
func (r *Roles) CellApp(e *Env) (*cellapp.CellApp, error) {
	return cellapp.New(r.cellAppConfig(e))
}

func (r *Roles) cellAppConfig(e *Env) cellapp.Config {
	return cellapp.Config{
		Transport: e.Transport, Manager: r.manager, Managers: r.managers, Scripts: r.cfg.CellScripts, Space: r.cfg.Space, Tick: r.cfg.Tick,
		Chance: e.Chance, Jobs: e.Jobs, Lookout: e.lookout(), Work: e.Work, Meters: e.Meters, Log: e.Log,
		Parallel: host.Parallel(r.cfg.Workers), Workers: r.cfg.Workers, Watch: r.watch(status.RoleCellApp),
		Recorder: r.cfg.Recorder,
	}
}

// watch is what the game adds to what the processes of a role show.
func (r *Roles) watch(role string) func(*watch.Tree) {
	if r.cfg.Watch == nil {
		return nil
	}
	return func(t *watch.Tree) { r.cfg.Watch(role, t) }
}

// lookout is the Lookout for who only looks, nil for none.
func (e *Env) lookout() mercury.Lookout {
	if e.Lookout == nil {
		return nil
	}
	return e.Lookout
}

// env is what a Host provides. own is how many of the carriers are not doors.
func (c *Config) env(e *host.Env, own int) *Env {
	return &Env{Transport: e.Transport, Chance: e.Chance, Secrets: e.Secrets, Jobs: e.Jobs, Lookout: e.Lookout, Work: e.Work, Meters: c.meters(e, own), Log: e.Log}
}
