package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellapp"
)

// retirePoll is how often a CellApp that retires is asked whether it has.
const retirePoll = 100 * time.Millisecond

// RetireCellApp shuts CellApp i down without loss: the manager lets its cells retire,
// their entities walk over to the neighbours, and when nothing is left the CellApp
// ends. That takes some seconds for each cell, and half a minute until nobody can ask
// the last of it for an entity that has left. It is for a machine that is to be taken
// out of a running world. If ctx ends before, the CellApp goes on retiring.
//
// The only cell of a space goes to another CellApp only if there is one without a cell
// of that space, and rooms that may have one cell only (SpaceConfig.MaxCells) hold the
// CellApp until they end. While all CellApps of the cluster retire, spaces that have no
// cell still get one on them: start another CellApp first, or the last ones never end.
func (c *Cluster) RetireCellApp(ctx context.Context, i int, reason string) error {
	c.mu.Lock()
	if i < 0 || i >= len(c.cellApps) {
		c.mu.Unlock()
		return fmt.Errorf("cluster: there is no CellApp %d here; there are %d", i, c.CellApps())
	}
	p := c.cellApps[i]
	c.mu.Unlock()
	if err := p.Do(func(a host.App) { a.(*cellapp.CellApp).Retire(reason) }); err != nil {
		return err
	}
	poll := time.NewTicker(retirePoll)
	defer poll.Stop()
	for {
		retired := false
		if err := p.Do(func(a host.App) { retired = a.(*cellapp.CellApp).Retired() }); err != nil {
			return err
		}
		if retired {
			return p.Stop()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cluster: CellApp %d has not retired yet: %w", i, context.Cause(ctx))
		case <-poll.C:
		}
	}
}
