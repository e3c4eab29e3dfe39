package cellappmgr

import (
	"fmt"
	"time"
)

// silentFor is for how many times AppTimeout a cell may be silent while its CellApp is not: a cell
// is reported at least once a second, over a channel that keeps the order.
const silentFor = 2

// watchSilence looks for cells that have been made, but of which their CellApps say nothing
// although they are heard. The balance does not go by the last report of such a cell: lines beside
// it rest until there is a new one. The cell is named, because otherwise its space would stay as it
// is and nobody would know why.
func (m *CellAppMgr) watchSilence() {
	limit := silentFor * m.cfg.AppTimeout
	for _, s := range m.spaces {
		for _, c := range s.cells {
			if c.created && !c.silent && m.awake.total-c.heard > limit && m.awake.total-c.app.heard < limit {
				c.silent = true
				m.implausible(c.app, fmt.Sprintf("nothing of cell %v of space %d, for %v", c.id, s.cfg.ID, limit.Round(time.Second)))
			}
		}
	}
}

// hear takes a report of the cell, at a time counted while the manager was awake.
func (c *cell) hear(awake time.Duration) { c.heard, c.silent = awake, false }
