package cellappmgr

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
)

// maxEntities is the most that a cell can be said to hold of one kind: so many of even the smallest
// would take gigabytes.
const maxEntities = 1 << 24

// movedLine tells by how many metres the last balance moved a line.
type movedLine struct {
	node bsp.NodeID
	by   float64
}

// cellsReport takes what a CellApp says of itself and its cells. A load that cannot be true is left
// out, like that of a cell which the app does not have, and is named once.
func (m *CellAppMgr) cellsReport(now time.Duration, a *member, msg *wire.CellsReport) {
	switch {
	case msg.Further:
	case msg.Load < 0 || msg.Load > load.Max:
		m.implausible(a, "load of the app")
	default:
		a.load.Report(msg.Load, m.cfg.Balance.Smoothing)
		if m.placer != nil {
			m.placer.Heard(a.number, a.load)
		}
		m.warnOfLoad(a)
	}
	a.savingStep, a.saves = int(msg.SavingStep), msg.Saves
	m.compareTime(now, a, msg.Time)
	for i := range msg.Cells {
		r := &msg.Cells[i]
		s := m.space(r.Space)
		if s == nil {
			m.unknownCell(a, r, m.mayHaveBeen(r.Space))
			continue
		}
		c := s.find(r.Cell)
		if c == nil || c.app != a {
			m.unknownCell(a, r, c == nil && m.mayHaveHad(r.Cell))
			continue
		}
		if max(r.Reals, r.Ghosts, r.Handoffs) > maxEntities {
			m.implausible(a, "number of entities")
			r.Reals, r.Ghosts, r.Handoffs = c.report.Reals, c.report.Ghosts, c.report.Handoffs
		}
		c.report, c.reported = *r, true
		c.hear(m.awake.total)
		m.watchEmpty(now, s, r)
		m.watchFull(s)
		m.hearLoaded(s, c)
		m.catchUp(now, s, c)
		m.remindRate(now, s, c)
		m.pace(s, r.Rate)
	}
}

// unknownCell counts the report of a cell that is not the sender's. A cell that was the sender's
// before a verdict or its removal is not worth telling of: the two messages have crossed.
func (m *CellAppMgr) unknownCell(a *member, r *wire.CellReport, hasBeen bool) {
	m.counts.UnknownCells++
	if !hasBeen && !a.nonsenseLogged {
		m.nameNonsense(a, fmt.Sprintf("cell %v of space %d, which it was never given", r.Cell, r.Space))
	}
}

// implausible counts a figure that was left out.
func (m *CellAppMgr) implausible(a *member, what string) {
	m.counts.Implausible++
	m.nameNonsense(a, what)
}

// nameNonsense logs a member once: one that reports nonsense does so several times a second.
func (m *CellAppMgr) nameNonsense(a *member, what string) {
	if !a.nonsenseLogged {
		a.nonsenseLogged = true
		m.log.Warn("a CellApp reports what cannot be true; it is left out, and further cases are only counted, in the status", "app", a.String(), "what", what)
	}
}

// warnOfLoad logs when a CellApp comes over the warning level, and when it is well below it again.
func (m *CellAppMgr) warnOfLoad(a *member) {
	level := int64(m.cfg.Balance.WarningLevel * float64(load.Core))
	switch {
	case !a.hot && a.load.Smoothed > level:
		a.hot = true
		m.log.Warn("a CellApp is heavily loaded", "app", a.String(), "load", fraction(a.load.Smoothed), "warning_level", m.cfg.Balance.WarningLevel)
	case a.hot && a.load.Smoothed < level-level/10:
		a.hot = false
		m.log.Info("a CellApp has room again", "app", a.String(), "load", fraction(a.load.Smoothed))
	}
}

// balance moves lines, adds cells and retires cells, as far as that is due. Nothing is due before
// the world has started, or while it stands still.
func (m *CellAppMgr) balance(now time.Duration) {
	lines, meta := now >= m.balanceAt, now >= m.metaAt
	if lines {
		m.balanceAt = now + m.cfg.Balance.Period
	}
	if meta {
		m.metaAt = now + m.cfg.Balance.MetaPeriod
	}
	if m.frozen || !m.started {
		return
	}
	if lines {
		for _, s := range m.spaces {
			s.moved = s.moved[:0]
		}
		m.watchSilence()
		o := m.observe(now)
		p := m.policy.Balance(&o)
		m.carryOut(now, p)
		m.blocked = m.news(m.blocked, p.Blocked, "a retirement waits: the neighbours are over their bound")
		m.watchLoading(now, p.Unloaded)
		m.loadsDue()
	}
	if meta {
		o := m.observe(now)
		p := m.policy.Meta(&o)
		m.carryOut(now, p)
		m.tellTroubles(&p)
	}
}

// observed is the memory of an Observation, which its policy does not keep. To make it anew would
// cost megabytes a second for thousands of rooms.
type observed struct {
	spaces []balance.Space
	cells  []balance.Cell
}

// observe gathers what the balance looks at.
func (m *CellAppMgr) observe(now time.Duration) balance.Observation {
	o := balance.Observation{Now: now, Spaces: m.observed.spaces[:0]}
	cells := m.observed.cells[:0]
	for _, s := range m.spaces {
		if s.tree == nil {
			continue
		}
		out := s.observed()
		from := len(cells)
		for _, c := range s.cells {
			if c.reported && !c.silent {
				cells = append(cells, balance.Cell{
					ID: c.id, App: c.app.number, Load: c.report.Load,
					Reals: int(c.report.Reals), Ghosts: int(c.report.Ghosts), Handoffs: int(c.report.Handoffs), Gained: c.report.Gained,
					Profile: c.report.Profile, Edges: c.report.Edges, Loaded: c.report.Loaded, Created: c.created,
				})
			}
		}
		out.Cells = cells[from:len(cells):len(cells)]
		o.Spaces = append(o.Spaces, out)
	}
	m.observed = observed{o.Spaces, cells}
	for _, a := range m.members {
		if a.role == wire.CellApp {
			o.Apps = append(o.Apps, balance.App{ID: a.number, Addr: a.address.At, Salt: a.address.Salt, AppLoad: a.load, Retiring: a.retiring})
		}
	}
	return o
}

// observed is the space without its cells.
func (s *space) observed() balance.Space {
	return balance.Space{
		ID: uint32(s.cfg.ID), Tree: s.tree, Bounds: s.cfg.Bounds, Geometry: s.cfg.Geometry,
		MinCells: s.cfg.MinCells, MaxCells: s.cfg.MaxCells, MinLoad: int64(s.cfg.MinLoad * float64(load.Core)),
		Preferred: s.origin.owner.At.Addr(),
	}
}

// carryOut does what a plan says, space by space: what does not fit one space is left out for that
// space only.
func (m *CellAppMgr) carryOut(now time.Duration, p balance.Plan) {
	for _, f := range p.Faults {
		if a := m.cellApp(f.App); a != nil {
			m.implausible(a, f.String())
			p.Ignored--
		}
	}
	m.counts.Implausible += uint64(p.Ignored)
	for _, id := range p.Spaces() {
		if s := m.space(entity.SpaceID(id)); s != nil && s.tree != nil {
			m.carryOutIn(now, s, &p)
		}
	}
}

func (m *CellAppMgr) carryOutIn(now time.Duration, s *space, p *balance.Plan) {
	var added []*cell
	var from []bsp.CellID // the leaves that the new ones were cut from
	before := s.tree
	work := before.Clone() // so that a plan that does not fit changes nothing
	err := p.ApplyTo(uint32(s.cfg.ID), work, func(a *balance.Add) bsp.Leaf {
		app := m.cellApp(a.App)
		if app == nil { // Split refuses it: there is no zero cell
			return bsp.Leaf{}
		}
		c, leaf := m.newCell(app)
		added, from = append(added, c), append(from, a.Cell)
		return leaf
	})
	if err != nil {
		m.own.Errors++
		m.log.Error("a plan of the balance does not fit its space; it is left out", "space", s.cfg.ID, "error", err)
		return
	}
	s.tree = work
	m.touch(s)
	m.noteMoves(s, before, p)
	m.noteRetirements(s, p)
	var removed []bsp.CellID
	for _, r := range p.Removals {
		if r.Space == uint32(s.cfg.ID) {
			removed = append(removed, r.Cell)
		}
	}
	m.removeCells(now, s, removed...)
	for i, c := range added {
		s.adopt(c)
		c.app.load.Given(m.cfg.Balance.InitialCellLoad)
		m.cellsAdded++
		_, rect, _ := s.tree.Leaf(c.id)
		m.log.Info("cell added", "space", s.cfg.ID, "cell", c.id.String(), "on", c.app.String(), "cut_from", from[i].String(),
			"area", rect.String(), "cells", len(s.cells))
		m.order(now, s, c)
	}
}

func (m *CellAppMgr) cellApp(number uint32) *member {
	for _, a := range m.members {
		if a.role == wire.CellApp && a.number == number {
			return a
		}
	}
	return nil
}

// noteMoves records by how much lines moved, for those who watch.
func (m *CellAppMgr) noteMoves(s *space, before *bsp.Tree, p *balance.Plan) {
	for _, mv := range p.Moves {
		old, ok := before.Node(mv.Node)
		if mv.Space != uint32(s.cfg.ID) || !ok {
			continue
		}
		m.linesMoved++
		s.moved = append(s.moved, movedLine{mv.Node, mv.To - old.Line})
		m.log.Debug("line moved", "space", s.cfg.ID, "axis", old.Axis.String(), "from", old.Line, "to", mv.To)
	}
}

func (m *CellAppMgr) noteRetirements(s *space, p *balance.Plan) {
	for _, r := range p.Retires {
		if c := s.find(r.Cell); r.Space == uint32(s.cfg.ID) && c != nil {
			m.log.Info("cell retires", "space", r.Space, "cell", r.Cell.String(), "on", c.app.String())
		}
	}
	for _, r := range p.Cancels {
		if r.Space == uint32(s.cfg.ID) {
			m.log.Info("retirement cancelled", "space", r.Space, "cell", r.Cell.String())
		}
	}
}

// tellTroubles logs what adding cells cannot cure.
func (m *CellAppMgr) tellTroubles(p *balance.Plan) {
	m.crowded = m.news(m.crowded, p.Crowded, "a cell is too crowded on one spot to be divided")
	wanting := make([]balance.Ref, len(p.Wanting))
	for i, s := range p.Wanting {
		wanting[i].Space = s
	}
	m.wanting = m.news(m.wanting, wanting, "a space needs a cell, and there is no CellApp for it; start more of them")
}

// news logs what is new since the last time, and returns what holds now.
func (m *CellAppMgr) news(was, is []balance.Ref, what string) []balance.Ref {
	for _, r := range is {
		if !slices.Contains(was, r) {
			m.log.Warn(what, "space", r.Space, "cell", r.Cell.String())
		}
	}
	return append(was[:0], is...)
}
