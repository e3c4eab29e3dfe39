package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cellscape/cellscape/entity/baseappmgr"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// pollPeriod is how often a start checks whether it is done: several times a tick, so that it adds
// nothing to the time of joining.
const pollPeriod = 20 * time.Millisecond

// lookPeriod is how often a wait for a status checks whether it is in vain, because the managers
// refuse the observer or a process of the start.
const lookPeriod = 50 * time.Millisecond

// ready waits until the processes have joined and, for a whole world, until players can log in.
func (c *Cluster) ready(ctx context.Context) error {
	limit, cancel := context.WithTimeoutCause(ctx, c.cfg.StartTimeout, errSlow)
	defer cancel()
	var missing []string
	var err error
	switch {
	case c.lead != nil:
		return nil // another may lead, or nobody yet
	case c.cellAppMgr != nil:
		missing, err = c.pollManagers(limit)
	default:
		missing, err = c.watchManagers(limit)
	}
	switch {
	case errors.Is(err, errSlow):
		err = fmt.Errorf("cluster: not ready after %v: %s", c.cfg.StartTimeout, strings.Join(missing, ", "))
		return errors.Join(err, c.Trouble())
	case errors.Is(err, host.ErrStopped) && c.Err() == nil: // by itself, and without a fault
		return fmt.Errorf("cluster: start: the world was stopped meanwhile: %w", err)
	case err != nil:
		return fmt.Errorf("cluster: start: %w", err)
	}
	return nil
}

var (
	errSlow = errors.New("too slow")
	errLook = errors.New("time to look")
)

// pollManagers asks the managers of this process.
func (c *Cluster) pollManagers(ctx context.Context) (missing []string, err error) {
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	for {
		if ctx.Err() != nil { // only now, since the check may have found everything there
			return missing, context.Cause(ctx)
		}
		if missing, err = c.missing(); err != nil || len(missing) == 0 {
			return missing, err
		}
		if err := c.Trouble(); hopeless(err) {
			return missing, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// missing lists what a world with these processes still lacks.
func (c *Cluster) missing() (missing []string, err error) {
	s, err := c.Status()
	if err != nil {
		return nil, errors.Join(err, c.Err())
	}
	for _, p := range c.all() {
		if p != c.cellAppMgr && !joined(&s, p.Address().At) {
			missing = append(missing, p.Name()+" has not joined")
		}
	}
	missing = append(missing, whyNoneJoins(&s, missing)...)
	if len(c.cellApps) > 0 {
		missing = append(missing, spacesWithoutCell(&s)...)
	}
	var counts baseappmgr.Counts
	if err := c.baseAppMgr.Do(func(a host.App) { counts = a.(*baseappmgr.BaseAppMgr).Counts() }); err != nil {
		return nil, errors.Join(err, c.Err())
	}
	if n := len(c.baseApps); counts.BaseApps < n {
		missing = append(missing, fmt.Sprintf("%d BaseApps have not joined the BaseAppMgr", n-counts.BaseApps))
	}
	if c.loginApp != nil && counts.LoginApps == 0 {
		missing = append(missing, "the LoginApp has not joined the BaseAppMgr")
	}
	return missing, nil
}

// Trouble says what keeps processes here from their work: why they have ended, why the managers
// refuse them (ErrRefused), that no manager can be reached, or that Config.Log takes nothing. It is
// nil if no trouble is known. One that has retired has done its work, and is left out.
func (c *Cluster) Trouble() error {
	all := []error{c.lines.trouble()}
	for _, p := range c.all() {
		if !c.hasRetired(p) {
			all = append(all, p.Trouble())
		}
	}
	return errors.Join(all...)
}

// ErrRefused is wrapped by the error of a start whose process the managers refuse. The text says
// why: other definitions, a manager of an old term.
var ErrRefused = app.ErrRefused

// hopeless reports whether waiting will not help. A process that has ended joins no more: one that
// comes into a world that is being stopped ends with it, before the managers tell of it.
func hopeless(err error) bool {
	return errors.Is(err, ErrRefused) || errors.Is(err, mercury.ErrKey) || errors.Is(err, host.ErrStopped)
}

// watchManagers asks managers elsewhere, as an observer.
func (c *Cluster) watchManagers(ctx context.Context) (missing []string, err error) {
	o, err := Observe(ctx, ObserverConfig{Manager: c.manager, Managers: c.places.now(), ServerKey: c.cfg.publicKey(), Access: c.cfg.observerKey(), Listen: c.cfg.Listen, Log: c.cfg.Log})
	if err != nil {
		return nil, err
	}
	defer func() { _ = o.Close() }()
	var foreign error
	lacks := func(s *status.World) (missing []string) {
		for _, p := range c.all() {
			if !joined(s, p.Address().At) {
				missing = append(missing, p.Name()+" has not joined")
			}
		}
		foreign = c.foreignInner(s)
		return append(missing, whyNoneJoins(s, missing)...)
	}
	missing, err = o.until(ctx, lacks, func() error { return errors.Join(c.Trouble(), foreign) })
	if err != nil && !errors.Is(err, errSlow) && !hopeless(err) {
		err = errors.Join(err, c.Err())
	}
	return missing, err
}

// whyNoneJoins says what keeps the managers from letting somebody in who is missing.
func whyNoneJoins(s *status.World, missing []string) (why []string) {
	if m, ok := s.App(status.RoleCellAppMgr); ok && m.Store != "" && len(missing) > 0 {
		why = append(why, "of the store the managers say: "+m.Store)
	}
	return why
}

// foreignInner says that the managers talk to other processes over another network than those here, which
// then dial in vain. Observers come over UDP in any case.
func (c *Cluster) foreignInner(s *status.World) error {
	m, ok := s.App(status.RoleCellAppMgr)
	if !ok || len(m.Carriers) == 0 || m.Carriers[0].Network == c.cfg.Inner {
		return nil
	}
	return fmt.Errorf("%w: the managers at %s talk to other processes over %s, and those here would over %s: give them the same Config.Inner",
		ErrRefused, m.AddrPort(), m.Carriers[0].Network, c.cfg.Inner)
}

// Ready waits until players can log in, as far as the managers know: a LoginApp and a BaseApp have
// joined, and every space has a cell. It returns the doors of the first LoginApp, as
// session.Config.LoginApp takes them. If ctx ends first, the error says what is missing. If waiting
// will not help, Ready returns at once with an error that wraps ErrRefused or mercury.ErrKey. A
// LoginApp that the BaseAppMgr does not know yet may still refuse a player with protocol.NotReady;
// session.Config.Retry gets over that.
func (o *Observer) Ready(ctx context.Context) (logins []string, err error) {
	lacks := func(s *status.World) (missing []string) {
		for _, role := range []string{status.RoleLoginApp, status.RoleBaseApp, status.RoleCellApp} {
			if s.AppCount(role) == 0 {
				missing = append(missing, fmt.Sprintf("there is no %s", role))
			}
		}
		app, _ := s.App(status.RoleLoginApp)
		if logins = app.Doors(); len(logins) == 0 && len(missing) == 0 {
			missing = append(missing, "the LoginApp has not told its doors")
		}
		return append(missing, spacesWithoutCell(s)...)
	}
	missing, err := o.until(ctx, lacks, func() error { return nil })
	if err != nil {
		return nil, fmt.Errorf("cluster: the world is not ready: %s: %w", strings.Join(missing, ", "), err)
	}
	return logins, nil
}

func spacesWithoutCell(s *status.World) (missing []string) {
	for i := range s.Spaces {
		if !s.Spaces[i].Ready() {
			missing = append(missing, fmt.Sprintf("space %d has no cell", s.Spaces[i].ID))
		}
	}
	return missing
}

// until waits for a status that lacks nothing. It returns what is still missing if ctx ends, if the
// managers refuse the observer, or if trouble says that waiting will not help.
func (o *Observer) until(ctx context.Context, lacks func(*status.World) []string, trouble func() error) (missing []string, err error) {
	missing = []string{fmt.Sprintf("no managers answer at %s: start them first, or give the address that they print, and the Key that they have", o.where)}
	for heard := false; ; {
		s, err := o.nextWithin(ctx, lookPeriod)
		if trouble := errors.Join(o.Trouble(), trouble()); hopeless(trouble) {
			return missing, trouble
		}
		if heard = heard || err == nil; !heard && errors.Is(o.Trouble(), app.ErrStandsBy) {
			missing = []string{fmt.Sprintf("no manager that leads answers at %s: start them all, since more than half must run to elect one", o.where)}
		}
		switch {
		case errors.Is(err, errLook):
			continue
		case err != nil:
			return missing, err
		}
		if missing = lacks(&s); len(missing) == 0 {
			return nil, nil
		}
	}
}

// nextWithin is Next, but returns errLook when it is time to look for trouble.
func (o *Observer) nextWithin(ctx context.Context, d time.Duration) (status.World, error) {
	short, cancel := context.WithTimeoutCause(ctx, d, errLook)
	defer cancel()
	return o.Next(short)
}
