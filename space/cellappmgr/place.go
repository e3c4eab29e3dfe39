package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/balance"
)

// choose returns the CellApp for the one cell of a space: its first cell, or the next after all
// were lost. It goes by the scorers of the configuration, like all cells that the balance adds. It
// returns nil if there is no CellApp or the scorers refuse all; then the space waits, and is tried
// again once a balance period and when a CellApp comes, goes or retires.
func (m *CellAppMgr) choose(now time.Duration, s *space) *member {
	if m.placer == nil || now-m.placerAt >= m.cfg.Balance.Period {
		o := m.observe(now)
		m.placer, m.placerAt = balance.NewPlacer(m.cfg.Balance, &o), now
	}
	if s.refusedBy == m.placer {
		return nil
	}
	out := s.observed()
	number, ok, faults := m.placer.Place(&out)
	for _, f := range faults {
		if a := m.cellApp(f.App); a != nil {
			m.implausible(a, f.String())
		}
	}
	if ok {
		s.refusedBy = nil
		return m.cellApp(number)
	}
	s.refusedBy = m.placer
	if !s.unplaced && m.cellApps() > 0 {
		s.unplaced = true
		m.counts.UnplacedSpaces++
	}
	return nil
}

// tellHomeless logs when spaces wait although there are CellApps, and when none does any more. Of
// thousands of rooms that wait for the same reason, the first is named.
func (m *CellAppMgr) tellHomeless() {
	switch n := m.cellApps(); {
	case m.refused && len(m.homeless) == 0:
		m.refused = false
		m.log.Info("every space has a CellApp again")
	case !m.refused && len(m.homeless) > 0 && n > 0:
		m.refused = true
		m.log.Warn("a space waits for a CellApp: the scorers of the balance refuse all; start more, or let them refuse less",
			"space", m.homeless[0].cfg.ID, "waiting", len(m.homeless), "CellApps", n)
	}
}
