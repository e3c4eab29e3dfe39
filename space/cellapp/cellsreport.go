package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/wire"
)

const (
	// sameAgain is how long reports leave out a cell that has nothing new. The manager needs no
	// more to see which geometry an empty room has, and a thousand empty rooms are not reported
	// four times a second.
	sameAgain = time.Second

	// sameLoad is the largest change of a cell's load that is not news: half a percent of a core,
	// which no policy acts on.
	sameLoad = load.Core / 200
)

// said is what the last report told the manager about a cell.
type said struct {
	at     time.Duration
	report wire.CellReport
	ever   bool
}

// again reports whether the next report has to include the cell.
func (s *said) again(now time.Duration, r *wire.CellReport) bool {
	if !s.ever || now-s.at >= sameAgain {
		return true
	}
	last := s.report
	if d := r.Load - last.Load; d > sameLoad || d < -sameLoad {
		return true
	}
	last.Load = r.Load
	return last != *r
}

// reportCells tells the manager the load of the app and what is new in its cells, in as many
// messages as needed.
func (a *CellApp) reportCells(now time.Duration) {
	m := &a.cellsReport
	m.Further, m.Load, m.Cells, m.SavingStep = false, a.ownLoad(), m.Cells[:0], uint8(a.throttle.Step())
	save := a.throttle.Degradation()
	m.Saves = [3]uint16{save.Budget, save.Detail, save.Rate}
	m.Time = max(0, a.clusterTime(a.ticks.Now())) // now, at the end of a tick that may have been long
	average := a.averageWork()
	for _, c := range a.cells {
		l := c.Cost()
		m.Load += l.Total
		if c.removing {
			continue // the manager has finished with it
		}
		has, _ := c.geometry.Lacks()
		r := wire.CellReport{
			Space: c.Space(), Cell: c.ID(), Version: has, Load: l.Total, Gained: l.Gained,
			Reals: uint32(c.Reals()), Ghosts: uint32(c.Ghosts()), Handoffs: uint32(c.Handoffs()), Held: c.HadBased(), Occupied: c.Occupied(), Profile: l.Profile, Edges: l.Edges,
			Loaded: c.GeometryLoaded(), Rate: a.wantedRate(c, average), Clock: c.Clock().Number,
		}
		if c.said.again(now, &r) {
			c.said = said{now, r, true}
			m.Cells = append(m.Cells, r)
		}
	}
	m.Load = load.Clamp(m.Load)
	cells := m.Cells
	for {
		m.Cells = cells[:min(len(cells), wire.MaxCells)]
		a.manager.Send(m)
		cells = cells[len(m.Cells):]
		if len(cells) == 0 {
			break
		}
		m.Further = true
	}
}

// sayAll makes the next report include all cells, since the manager may have missed the last one.
func (a *CellApp) sayAll() {
	for _, c := range a.cells {
		c.said.ever = false
	}
}
