package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellapp"
)

// retirePoll is how often a retiring process is asked whether it has finished.
const retirePoll = 100 * time.Millisecond

// RetireCellApp shuts CellApp i down without loss, so that its machine can be taken out of a
// running world. The manager retires its cells, their entities move to the neighbours, and when
// nothing is left the CellApp ends. That takes some seconds for each cell, and then half a minute
// in which others may still ask for entities that have left. If ctx ends before, the CellApp goes
// on retiring, and ends when it has.
//
// The only cell of a space can move only to a CellApp without a cell of that space. Rooms that may
// have only one cell (SpaceConfig.MaxCells) keep the CellApp until they end. If all CellApps of the
// cluster retire, spaces without a cell still get one on them. Start another CellApp first, or the
// last ones never end.
func (c *Cluster) RetireCellApp(ctx context.Context, i int, reason string) error {
	c.mu.Lock()
	p, err := ofList(c.cellApps, i, "CellApp")
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.retire(ctx, p,
		func(a host.App) { a.(*cellapp.CellApp).Retire(reason) },
		func(a host.App) (bool, string) { return a.(*cellapp.CellApp).Retired(), "" })
}

// RetireBaseApp shuts BaseApp i down without loss, so that its machine can be taken out of a running
// world. Its bases go on on other BaseApps with all that they have, and its clients are sent there and
// play on, if their sessions outlive their channels (Config.ResumeTime). That takes some seconds, until
// others hold copies of all bases; then they go, Config.MoveBatch at a time, and each stands still for some
// hundredths of a second. The error says what is waited for if ctx ends before; the BaseApp goes on
// retiring, and ends when it has.
//
// The last BaseApp of a cluster cannot retire, nor can one whose bases have no copies on others
// (Config.BackupPeriod). Start another BaseApp first; with two that stay, no base is without a
// second holder at any time.
func (c *Cluster) RetireBaseApp(ctx context.Context, i int, reason string) error {
	c.mu.Lock()
	p, err := ofList(c.baseApps, i, "BaseApp")
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.retire(ctx, p,
		func(a host.App) { a.(*baseapp.BaseApp).Retire(reason) },
		func(a host.App) (bool, string) {
			b := a.(*baseapp.BaseApp)
			return b.Retired(), b.RetireWaits()
		})
}

// ofList returns a process of a role.
func ofList(list []*host.Process, i int, role string) (*host.Process, error) {
	if i < 0 || i >= len(list) {
		return nil, fmt.Errorf("cluster: there is no %s %d here; there are %d", role, i, len(list))
	}
	return list[i], nil
}

// retire asks a process to retire, and ends it when it has, even if nobody waits for that any more.
func (c *Cluster) retire(ctx context.Context, p *host.Process, ask func(host.App), done func(host.App) (retired bool, waits string)) error {
	if err := p.Do(ask); err != nil {
		if c.hasRetired(p) {
			return p.Err()
		}
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.endRetired(p, done) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	waits := ""
	_ = p.Do(func(a host.App) { _, waits = done(a) }) // one that ends just now waits for nothing
	if waits != "" {
		waits = "; it waits for " + waits
	}
	return fmt.Errorf("cluster: %s has not retired yet%s: %w", p.Name(), waits, context.Cause(ctx))
}

// endRetired ends a process when it has retired. It returns when the process has ended.
func (c *Cluster) endRetired(p *host.Process, done func(host.App) (retired bool, waits string)) error {
	poll := time.NewTicker(retirePoll)
	defer poll.Stop()
	for {
		retired := false
		if err := p.Do(func(a host.App) { retired, _ = done(a) }); err != nil {
			if c.hasRetired(p) { // it was asked twice
				return p.Err()
			}
			return err
		}
		if retired {
			c.mu.Lock()
			c.retired[p] = true
			c.mu.Unlock()
			return p.Stop()
		}
		select {
		case <-p.Done():
		case <-poll.C:
		}
	}
}

// hasRetired reports whether a process was ended because it had retired.
func (c *Cluster) hasRetired(p *host.Process) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.retired[p]
}
