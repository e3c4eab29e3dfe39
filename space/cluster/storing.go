package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/dbapp"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// SaveTime is how long Stop waits for the store: an operator who stops a world wants it gone in
// seconds, and a store that takes longer is in trouble.
const SaveTime = 10 * time.Second

// ErrUnsaved is what Stop returns if the store has not confirmed all that it keeps within SaveTime,
// and Shutdown if it lacks something. Wait returns it, too, in each OS process that knows of it when the
// world was stopped from elsewhere: that of the managers, and those of BaseApps whose bases it lacks. What
// it had confirmed before is there.
var ErrUnsaved = status.ErrUnsaved

func (c *Config) storeSchema() (*store.Schema, error) {
	types, err := store.NewSchema(c.Schema, c.StoreTypes...)
	if err != nil {
		return nil, fmt.Errorf("cluster: the store: %w", err)
	}
	return types, nil
}

// PlanStore lists what a start with this configuration would change in Store, and changes nothing:
// the dry run before new definitions go live. It is empty if the store fits them. What it would
// forget is marked (store.Plan.Destructive), and refused without StoreForgets. If rows have the same value
// where it is to be unique, the error is store.ErrTaken, beside the plan. With StoreBegun a store
// in which no world has begun is an error, as at the start.
func (c Config) PlanStore(ctx context.Context) (store.Plan, error) {
	c = c.withDefaults()
	if c.Store == nil || c.Schema == nil {
		return nil, errors.New("cluster: PlanStore needs Config.Store, and CellScripts or Schema")
	}
	types, err := c.storeSchema()
	if err != nil {
		return nil, err
	}
	if err := c.begun(ctx); err != nil {
		return nil, err
	}
	plan, err := c.Store.Plan(ctx, types)
	if err != nil {
		err = untaken(err)
	}
	return plan, err
}

// begun refuses a store in which no world has begun, where StoreBegun says that one has.
func (c *Config) begun(ctx context.Context) error {
	if c.Store == nil || !c.StoreBegun {
		return nil
	}
	used, err := dbapp.Used(ctx, c.Store)
	switch {
	case err != nil:
		return fmt.Errorf("cluster: the store: %w", err)
	case !used:
		return fmt.Errorf("cluster: %w, and Config.StoreBegun says that one has: see whether this is the right file or database, and whether its volume is mounted; leave StoreBegun out to begin a world there", store.ErrEmpty)
	}
	return nil
}

// startDBApp starts the process that has the store, if there is one. A fresh one need not ask whether a
// world lives that goes on.
func (c *Cluster) startDBApp(ctx context.Context, fresh bool) error {
	if c.cfg.Store == nil {
		return nil
	}
	r := c.roles()
	if err := c.openStore(ctx, r, fresh); err != nil {
		return err
	}
	p, err := c.start("DBApp", c.cfg.innerCarriers, c.cfg.seal(mercury.Member), func(e host.Env) (host.App, error) {
		env := c.cfg.env(&e, 1)
		env.Holder = c.holder()
		return r.DBApp(env, fresh)
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.dbApp = p
	c.mu.Unlock()
	return nil
}

// holder is how the world names itself in its store.
func (c *Cluster) holder() string {
	name, err := os.Hostname()
	if err != nil {
		name = "a machine without a name"
	}
	s := fmt.Sprintf("that with managers at %v, since %s (process %d on %s)", c.manager, time.Now().UTC().Format(time.RFC3339), os.Getpid(), name)
	return s[:min(len(s), dbapp.MaxHolder)]
}

// openStore brings the store in line with the definitions, for a world that begins. If one may live
// that has other definitions, this waits until the DBApp knows better.
func (c *Cluster) openStore(ctx context.Context, r *Roles, fresh bool) error {
	if fresh {
		if err := c.awaitVacant(ctx); err != nil {
			return err
		}
	}
	limit, cancel := context.WithTimeout(ctx, c.cfg.StartTimeout)
	defer cancel()
	if !fresh {
		later, err := r.changeLater(limit)
		if err != nil || later {
			return err
		}
	}
	return r.OpenStore(limit)
}

// awaitVacant waits until it is known that no other world lives in the store. That takes a moment only
// if the last one has not ended in order.
func (c *Cluster) awaitVacant(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, c.cfg.StartTimeout)
	defer cancel()
	was, err := dbapp.ReadLease(limit, c.cfg.Store)
	if err != nil {
		return fmt.Errorf("cluster: the store: %w", err)
	}
	if was == (dbapp.Lease{}) {
		return nil
	}
	c.cfg.Log.Info("the last world in this store has not ended in order, or lives: waiting to see which", "for", dbapp.LeaseTime, "its start", was.Start)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(dbapp.LeaseTime):
	}
	limit, cancel = context.WithTimeout(ctx, c.cfg.StartTimeout)
	defer cancel()
	is, err := dbapp.ReadLease(limit, c.cfg.Store)
	if err != nil {
		return fmt.Errorf("cluster: the store: %w", err)
	}
	if is != was && is != (dbapp.Lease{}) {
		whose, err := dbapp.ReadHolder(limit, c.cfg.Store)
		if whose != "" {
			whose = ", " + whose
		}
		return errors.Join(fmt.Errorf("cluster: the store: %w (its start %d%s): stop that, or give this one a store of its own", store.ErrInUse, is.Start, whose), err)
	}
	return nil
}

// startToEnd is the start of the world that ends with the processes here, as far as the store is
// concerned: 0 while BaseApps elsewhere go on, and after an end in order, at which the DBApp itself
// has said so.
func (c *Cluster) startToEnd() (start uint64) {
	c.mu.Lock()
	db := c.dbApp
	c.mu.Unlock()
	if db == nil || c.writersElsewhere() > 0 {
		return 0
	}
	_ = db.Do(func(a host.App) { start = a.(*dbapp.DBApp).Counts().Start }) // one that has ended has none to end
	return start
}

// release says in the store that the world has ended. If it cannot, the next start waits for a moment.
func (c *Cluster) release(start uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), dbapp.JobTime)
	defer cancel()
	if err := dbapp.Release(ctx, c.cfg.Store, start); err != nil && !errors.Is(err, store.ErrClosed) {
		c.cfg.Log.Warn("cannot say in the store that the world has ended: the next one waits before it begins", "for", dbapp.LeaseTime, "error", err)
	}
}

// validateBringBack reports types that cannot come back.
func (c *Config) validateBringBack() error {
	var faults []error
	types := c.stored()
	for _, name := range c.BringBack {
		switch t := c.typeOf(name); {
		case t == nil || types == nil || types.Type(name) == nil || !t.HasBase:
			faults = append(faults, fmt.Errorf("cluster: Config.BringBack has %q, which no store keeps: let its definition have a base and say Persistent", name))
		case name == c.PlayerType:
			faults = append(faults, fmt.Errorf("cluster: Config.BringBack has the PlayerType %q: leave it out, since players come back by logging in", name))
		}
	}
	return errors.Join(faults...)
}

func (c *Config) typeOf(name string) *property.Definition {
	if c.Schema == nil {
		return nil
	}
	return c.Schema.Type(name)
}

// stored returns the types that a store keeps; nil if there are none. What is wrong with them is reported
// where the store is.
func (c *Config) stored() *store.Schema {
	if c.Schema == nil {
		return nil
	}
	types, err := store.NewSchema(c.Schema)
	if err != nil || len(types.Types) == 0 {
		return nil
	}
	return types
}

// save has the BaseApps here write everything, and waits for that.
func (c *Cluster) save() error {
	if c.cfg.Schema == nil || c.cfg.stored() == nil {
		return nil
	}
	bases := c.ownBaseApps()
	for _, p := range bases {
		_ = p.Do(func(a host.App) { a.(*baseapp.BaseApp).SaveAll() }) // one that has ended has nothing to save
	}
	until := time.Now().Add(SaveTime)
	for {
		left := 0
		var why error
		for _, p := range bases {
			_ = p.Do(func(a host.App) {
				b := a.(*baseapp.BaseApp)
				if n := b.Unsaved(); n > 0 {
					left += n
					why = b.StoreTrouble()
				}
			})
		}
		switch {
		case left == 0:
			return nil
		case time.Now().After(until):
			err := fmt.Errorf("%w: %d entities wait after %v", ErrUnsaved, left, SaveTime)
			if why != nil {
				err = fmt.Errorf("%w: %w", err, why)
			}
			return err
		}
		time.Sleep(pollPeriod)
	}
}

// writersElsewhere counts the BaseApps of other OS processes that need the store of this one.
func (c *Cluster) writersElsewhere() (n int) {
	c.mu.Lock()
	db, own := c.dbApp, slices.Clone(c.baseApps)
	c.mu.Unlock()
	if db == nil || c.cfg.stored() == nil {
		return 0
	}
	select {
	case <-db.Done():
		return 0
	default:
	}
	w, err := c.Status()
	if err != nil {
		return 0 // another leads, and has a DBApp, or the managers have ended
	}
	for i := range w.Apps {
		a := &w.Apps[i]
		here := func(p *host.Process) bool { return p.Address().At == a.AddrPort() }
		if a.Role == status.RoleBaseApp && !slices.ContainsFunc(own, here) {
			n++
		}
	}
	return n
}

// awaitWriters keeps the managers and the DBApp until no BaseApp elsewhere needs them any more, but
// not for longer than until: one that is not to stop must not keep them for ever.
func (c *Cluster) awaitWriters(until time.Time) {
	for time.Now().Before(until) && c.writersElsewhere() > 0 {
		time.Sleep(pollPeriod)
	}
}
