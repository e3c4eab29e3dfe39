package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellapp"
)

// retirePoll is how often a retiring CellApp is asked whether it has finished.
const retirePoll = 100 * time.Millisecond

// RetireCellApp shuts CellApp i down without loss, so that its machine can be taken out of a
// running world. The manager retires its cells, their entities move to the neighbours, and when
// nothing is left the CellApp ends. That takes some seconds for each cell, and then half a minute
// in which others may still ask for entities that have left. If ctx ends before, the CellApp goes
// on retiring.
//
// The only cell of a space can move only to a CellApp without a cell of that space. Rooms that may
// have only one cell (SpaceConfig.MaxCells) keep the CellApp until they end. If all CellApps of the
// cluster retire, spaces without a cell still get one on them. Start another CellApp first, or the
// last ones never end.
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
