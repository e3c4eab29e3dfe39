package cellappmgr

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// What silence proves. A process that lives is silent, too, while it is stopped, or while others have
// the processor that it wants. Then its kernel still takes connections at its port. So the looks of an
// inquiry excuse silence, for a time:
//
//	                silent for AppTimeout, without an excuse within that time
//	(heard) ───────────────────────────────────────────────────────────────────▶ dead
//	  ▲  │ silent for AppTimeout, and excused                                     ▲
//	  │  ▼                                                                        │
//	spared ───────────────────────────────────────────────────────────────────────┘
//	          silent for HangTimeout, or the last excuse is AppTimeout old
//
// An excuse is a look of the manager that has found the port open, or has found nothing out: then the
// manager is kept from looking itself, as by a machine that starves it, too, and its silence of others
// is its own deafness.
//
// Invariants: of a place that has taken a line, silence alone decides only after HangTimeout. A place that
// was looked at in vain for AppTimeout is dead then, whatever was there before. No verdict about a BaseApp
// is told without its rule while somebody may still come back who has it (awaitsRule).

// judgeSilence declares dead whoever has not been heard for too long.
func (m *CellAppMgr) judgeSilence(now time.Duration) {
	if m.stopping.step >= wire.StopSaved {
		return
	}
	for _, a := range m.members {
		silent := m.awake.total - a.heard
		switch {
		case !a.reports() || silent < m.cfg.AppTimeout && !a.replaced || m.awaitsRule(a):
		case a.replaced:
			m.declareDead(now, a, whyReplaced)
		case !m.overdue(a):
			m.spare(a, silent)
		default:
			m.declareDead(now, a, fmt.Sprintf("silent for %v", silent))
		}
	}
}

// overdue reports whether a member is dead by its silence.
func (m *CellAppMgr) overdue(a *member) bool {
	silent := m.awake.total - a.heard
	return silent >= m.cfg.AppTimeout && (silent >= m.cfg.HangTimeout || !m.excused(a))
}

// awaitsRule reports whether a BaseApp that an earlier manager knew has not come back, and others may
// still do so who know by what rule its copies are held. (A verdict without the rule was told as soon as
// another process had started at the address. CellApps gave up all calls to the bases, and the next
// manager heard of the rule, and had them go on.)
func (m *CellAppMgr) awaitsRule(a *member) bool {
	if a.role != wire.BaseApp || !a.missing {
		return false
	}
	if _, known := m.backups.rules[a.address]; known {
		return false
	}
	return slices.ContainsFunc(m.members, func(b *member) bool {
		return b != a && b.role == wire.BaseApp && b.missing && !b.replaced && !m.overdue(b)
	})
}

// excused reports whether there is an excuse for the silence of a member.
func (m *CellAppMgr) excused(a *member) bool {
	return a != nil && a.excuse.is && m.awake.total-a.excuse.at < m.cfg.AppTimeout
}

// excuse is when a look has last found a member's port open, or nothing out.
type excuse struct {
	is bool
	at time.Duration // of the time that the manager was awake
}

// spare says once that a process hangs, and may still go on.
func (m *CellAppMgr) spare(a *member, silent time.Duration) {
	if a.spared {
		return
	}
	a.spared = true
	m.counts.Spared++
	m.log.Warn("a process is silent, but its port is open: it is stopped, or lacks a processor; it has time",
		"member", a.String(), "address", a.address.String(), "silent", silent, "time", m.cfg.HangTimeout)
}

// hears notes that there was a message of a member. Its cells could not be heard while it was silent: what
// they did not say meanwhile is no lack of theirs.
func (m *CellAppMgr) hears(a *member) {
	silent := m.awake.total - a.heard
	a.heard = m.awake.total
	if silent >= m.cfg.AppTimeout && a.role == wire.CellApp {
		for _, s := range m.spaces {
			for _, c := range s.cells {
				if c.app == a {
					c.heard = min(c.heard+silent, m.awake.total)
				}
			}
		}
	}
	if a.spared {
		a.spared = false
		m.log.Info("the process is heard again", "member", a.String(), "silent", silent)
	}
}
