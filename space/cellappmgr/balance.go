package cellappmgr

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// movedLine is by how many metres the last balance moved a line.
type movedLine struct {
	node bsp.NodeID
	by   float64
}

// cellsReport takes what a CellApp says of its cells.
func (m *CellAppMgr) cellsReport(now time.Duration, a *member, msg *wire.CellsReport) {
	a.load = min(max(0, msg.Load), load.Max)
	for i := range msg.Cells {
		r := &msg.Cells[i]
		s := m.space(r.Space)
		if s == nil {
			m.counts.UnknownCells++
			continue
		}
		c := s.find(r.Cell)
		if c == nil || c.app != a {
			m.counts.UnknownCells++ // of a cell that was given to another after a verdict
			continue
		}
		c.report, c.reported = *r, true
		m.catchUp(now, s, c)
	}
}

// catchUp sends the geometry again to an app that was sent it a while ago and
// still does not have it.
func (m *CellAppMgr) catchUp(now time.Duration, s *space, c *cell) {
	current := bsp.Version{Term: m.cfg.Term, N: s.version}
	if s.changed || !c.report.Version.Less(current) || now-c.toldAt <= resend {
		return
	}
	m.log.Warn("a CellApp has an old geometry; it is sent again", "space", s.cfg.ID, "to", c.app.String(),
		"has", c.report.Version.String(), "current", current.String())
	m.send(c.app, &wire.Geometry{Space: s.cfg.ID, Tree: m.encodeTree(s)})
	s.mark(c.app, now)
}

// balance moves lines and adds cells in every space.
func (m *CellAppMgr) balance(now time.Duration) {
	if m.frozen {
		return
	}
	for _, s := range m.spaces {
		if s.tree != nil {
			m.balanceSpace(now, s)
		}
	}
}

func (m *CellAppMgr) balanceSpace(now time.Duration, s *space) {
	plan := s.balancer.Plan(m.observe(now, s))
	m.counts.Implausible += uint64(plan.Ignored)
	m.tellCrowded(s, plan.Crowded)
	s.moved = s.moved[:0]
	if plan.Empty() {
		return
	}
	var added *cell
	var leaf bsp.Leaf
	if plan.Split != nil {
		app := m.cellApp(plan.Split.App)
		if app == nil { // the plan chooses among the apps it was shown
			m.log.Error("the balance chose a CellApp that is not there", "space", s.cfg.ID, "number", plan.Split.App)
			return
		}
		added, leaf = m.newCell(app)
	}
	before := s.tree
	work := before.Clone() // so that a plan that does not fit changes nothing
	if err := plan.Apply(work, leaf); err != nil {
		m.own.Errors++
		m.log.Error("a plan of the balance does not fit its space; it is left out", "space", s.cfg.ID, "error", err)
		return
	}
	s.tree, s.changed = work, true
	m.noteMoves(s, before, plan.Moves)
	if added != nil {
		s.cells = append(s.cells, added)
		m.cellsAdded++
		m.log.Info("cell added", "space", s.cfg.ID, "cell", added.id.String(), "on", added.app.String(), "cut_from", plan.Split.Cell.String(),
			"line", plan.Split.Axis.String(), "at", plan.Split.At, "cells", len(s.cells))
		m.order(now, s, added)
	}
}

// observe gathers what the balance of a space looks at.
func (m *CellAppMgr) observe(now time.Duration, s *space) balance.Observation {
	o := balance.Observation{Now: now, Tree: s.tree}
	for _, c := range s.cells {
		if c.reported {
			o.Cells = append(o.Cells, balance.Cell{
				ID: c.id, App: c.app.number, Load: c.report.Load,
				Reals: int(c.report.Reals), Ghosts: int(c.report.Ghosts), Profile: c.report.Profile, Created: c.created,
			})
		}
	}
	for _, a := range m.members {
		if a.role == wire.CellApp {
			o.Apps = append(o.Apps, balance.App{ID: a.number, Addr: a.address.At, Salt: a.address.Salt, Load: a.load, Cells: m.cellsOf(a)})
		}
	}
	return o
}

func (m *CellAppMgr) cellApp(number uint32) *member {
	for _, a := range m.members {
		if a.role == wire.CellApp && a.number == number {
			return a
		}
	}
	return nil
}

// noteMoves keeps by how much lines moved, for those who watch.
func (m *CellAppMgr) noteMoves(s *space, before *bsp.Tree, moves []balance.Move) {
	for _, mv := range moves {
		old, ok := before.Node(mv.Node)
		if !ok {
			continue
		}
		m.linesMoved++
		s.moved = append(s.moved, movedLine{mv.Node, mv.To - old.Line})
		m.log.Debug("line moved", "space", s.cfg.ID, "axis", old.Axis.String(), "from", old.Line, "to", mv.To)
	}
}

// tellCrowded logs cells that no line can divide, once each time they become so.
func (m *CellAppMgr) tellCrowded(s *space, crowded []bsp.CellID) {
	for _, id := range crowded {
		if !slices.Contains(s.crowded, id) {
			m.log.Warn("a cell is too crowded on one spot to be divided", "space", s.cfg.ID, "cell", id.String())
		}
	}
	s.crowded = append(s.crowded[:0], crowded...)
}
