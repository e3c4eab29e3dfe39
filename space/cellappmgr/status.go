package cellappmgr

import (
	"slices"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// Status is the present state of the world, as observers are told it. The sums include the reports
// of processes that are gone; the tick times are those of the other processes, not the manager's
// own. Of very many spaces only the oldest are described.
func (m *CellAppMgr) Status() status.World {
	st := status.World{
		GameTime:   m.clusterTime(m.awake.at).Seconds(),
		CellsAdded: m.cellsAdded, CellsRemoved: m.cellsRemoved,
		LinesMoved: m.linesMoved,
		Deaths:     m.deaths,

		LoginsRefused: m.refusesLogins(),
	}
	st.SpaceCount = len(m.spaces)
	for i, s := range m.spaces {
		if i < status.MaxSpaces {
			st.Spaces = append(st.Spaces, m.describe(s))
		}
		s.addTo(&st)
	}
	m.own.Measure(&m.cfg.Meters) // which describes each carrier, and so is not done in each tick
	m.routes.Describe(&m.own)
	st.Apps = append(st.Apps, status.App{
		Role: wire.CellAppMgr.String(), Number: 1, Address: m.cfg.Transport.Self().String(), CPU: m.own.CPU.Seconds(),
		PID: m.own.PID, ProcessCPU: m.own.ProcessCPU.Seconds(), Carriers: m.own.Carriers, Store: m.numbersState(), Counts: m.counted(),
	})
	sum := m.gone
	sum.Unsent = slices.Clone(sum.Unsent) // it will be added to
	for _, a := range m.members {
		if a.role == wire.Observer {
			continue
		}
		st.Apps = append(st.Apps, describeApp(a))
		st.Clients += int(a.report.Clients)
		st.Pending += a.report.Pending
		st.Unprotected += int(a.report.Unprotected)
		addTotals(&sum, &a.report)
	}
	st.RulesPending = m.rulesPending()
	st.Ticks, st.Late, st.TickTimes, st.Counters = sum.Ticks, sum.Late, sum.TickTimes, sum.Counters
	st.Counters.Add(&m.own.Counters)
	st.Told = sum.Told
	sum.Unsent.AddAll(m.links.Errors)
	st.Unsent = describeUnsent(sum.Unsent)
	sum.Received.Add(&m.own.Received)
	st.Received = describeReceived(&sum.Received)
	st.CPU = (sum.CPU + m.own.CPU).Seconds()
	st.ReportsSinceFreeze = m.reportsSinceFreeze()
	return st
}

// counted is what the manager, and the Seat that it leads at, have counted.
func (m *CellAppMgr) counted() status.Counts {
	counts := app.Counted(&m.links)
	counts.Take("cellappmgr", m.counts)
	if m.seatCounts != nil {
		counts.Take("seat", *m.seatCounts)
	}
	return counts
}

func describeApp(a *member) status.App {
	out := status.App{
		Role: a.role.String(), Number: a.number, Address: a.address.String(), Load: fraction(a.load.Load), CPU: a.report.CPU.Seconds(), PID: a.report.PID, ProcessCPU: a.report.ProcessCPU.Seconds(), SavingStep: a.savingStep,
		Unsent: describeUnsent(a.report.Unsent), Carriers: a.report.Carriers, Traffic: a.report.Traffic, Store: a.report.Store, Counts: a.report.Counts,
	}
	if a.savingStep > 0 {
		share := func(i int) float64 { return float64(a.saves[i]) / 1000 }
		out.Saving = &status.Saving{Budget: share(0), Detail: share(1), Rate: share(2)}
	}
	if a.role == wire.CellApp {
		told := a.report.Told
		out.Told = &told
		for _, t := range a.report.Types {
			out.Types = append(out.Types, status.TypeLoad{Type: t.Type, Reals: uint64(t.Reals), Load: fraction(t.Load)})
		}
	}
	if b := a.report.Backlog; b.Level() != mercury.Free {
		out.Backlog, out.Full = b.To.String(), float64(b.Bytes)/float64(b.Limit)
	}
	return out
}

func describeUnsent(s wire.SendErrors) (out []status.Unsent) {
	for _, e := range s {
		out = append(out, status.Unsent{Reason: e.Reason.String(), Message: e.ID.String(), Count: e.Count, Fault: !e.Reason.Expected()})
	}
	return out
}

func describeReceived(c *wire.Tally) map[string]uint64 {
	out := make(map[string]uint64)
	for id, n := range c {
		if n > 0 {
			out[wire.ID(id).String()] = n
		}
	}
	return out
}

// reportsSinceFreeze is the count of the CellApp or BaseApp that has reported least.
func (m *CellAppMgr) reportsSinceFreeze() int {
	least := -1
	for _, a := range m.members {
		if a.reports() && (least < 0 || a.sinceFreeze < least) {
			least = a.sinceFreeze
		}
	}
	return max(0, least)
}

// tellObservers sends the status to those who watch.
func (m *CellAppMgr) tellObservers() {
	if m.count(wire.Observer) == 0 {
		return
	}
	st := wire.Status{World: m.Status()}
	// A status that cannot be read whole shows nothing. What is left out first is the apps' detail, then
	// the youngest spaces, then the youngest apps; the sums are of all.
	if len(m.encode(&st)) > wire.MaxStatus {
		for i := range st.Apps {
			leaveOutDetail(&st.Apps[i])
		}
	}
	for len(m.encode(&st)) > wire.MaxStatus && len(st.Spaces)+len(st.Apps) > 0 {
		if n := len(st.Spaces); n > 0 {
			st.Spaces = st.Spaces[:n/2]
		} else {
			st.Apps = st.Apps[:len(st.Apps)/2]
		}
	}
	m.tell(&st, wire.Observer)
}

// leaveOutDetail leaves out what only one app tells. The manager keeps the carriers as they were reported.
func leaveOutDetail(a *status.App) {
	a.Types, a.Traffic, a.Counts = nil, nil, nil
	a.Carriers = slices.Clone(a.Carriers)
	for i := range a.Carriers {
		a.Carriers[i].Counts = nil
	}
}

// Removing is Status().Removing alone, for who asks often.
func (m *CellAppMgr) Removing() (n int) {
	for _, s := range m.spaces {
		n += len(s.removals)
	}
	return n
}

// Deaths is Status().Deaths alone, for who asks often.
func (m *CellAppMgr) Deaths() int { return m.deaths }

// addTo adds the cells of a space to the sums of st.
func (s *space) addTo(st *status.World) {
	st.Cells += len(s.cells)
	if s.tree != nil {
		for _, c := range s.cells {
			if leaf, _, ok := s.tree.Leaf(c.id); ok && leaf.Retiring {
				st.Retiring++
			}
		}
	}
	st.Removing += len(s.removals)
	for _, c := range s.cells {
		st.Reals += int(c.report.Reals)
		st.Ghosts += int(c.report.Ghosts)
	}
}

// describe is a space as observers are told it.
func (m *CellAppMgr) describe(s *space) status.Space {
	k := s.rates.clock
	out := status.Space{
		ID: uint32(s.cfg.ID), GameTime: k.GameAt(m.clusterTime(m.awake.at)).Seconds(), Rate: float64(k.Runs()) / gametime.NormalRate,
	}
	if s.tree == nil {
		return out
	}
	out.Version = s.version()
	cells := make(map[bsp.CellID]*cell, len(s.cells))
	for _, c := range s.cells {
		cells[c.id] = c
	}
	for rect, leaf := range s.tree.Leaves() {
		if c := cells[leaf.Cell]; c != nil {
			out.Cells = append(out.Cells, m.describeCell(s, c, leaf, rect))
		}
	}
	root := s.tree.Root()
	m.describeLines(s, root, 0, &out)
	return out
}

func (m *CellAppMgr) describeCell(s *space, c *cell, leaf *bsp.Leaf, rect bsp.Rect) status.Cell {
	out := status.Cell{
		Cell: c.id.String(), App: c.app.number, Rect: edges(cut(rect, s.cfg.Bounds)),
		Load: fraction(c.load()), Reals: c.report.Reals, Ghosts: c.report.Ghosts, Created: c.created,
		Loading: c.created && m.loading(s, c, rect), Retiring: leaf.Retiring, Overloaded: leaf.Overloaded,
	}
	if p := &c.report.Profile; !p.Empty() {
		crowd := edges(bsp.Rect{MinX: float64(p.X[0]), MinZ: float64(p.Z[0]), MaxX: float64(p.X[load.Slices]), MaxZ: float64(p.Z[load.Slices])})
		out.Crowd = &crowd
	}
	if finite(c.report.Loaded) && !c.report.Loaded.Empty() {
		loaded := edges(c.report.Loaded)
		out.Loaded = &loaded
	}
	return out
}

func edges(r bsp.Rect) [4]float64 { return [4]float64{r.MinX, r.MinZ, r.MaxX, r.MaxZ} }

// describeLines appends the lines under a child, each before those below it, and returns the sum of
// the loads there and the number of cells.
func (m *CellAppMgr) describeLines(s *space, c bsp.Child, depth int, out *status.Space) (sum float64, cells int) {
	if c.Leaf != nil {
		return fraction(c.Leaf.Load), 1
	}
	n, _ := s.tree.Node(c.Node)
	r := cut(n.Rect, s.cfg.Bounds)
	l := status.Line{Vertical: n.Axis == bsp.AxisX, At: n.Line, Depth: depth}
	l.From, l.To = r.Span(n.Axis.Other())
	for _, mv := range s.moved {
		if mv.node == n.ID {
			l.Moved = mv.by
		}
	}
	if state, ok := m.policy.Line(uint32(s.cfg.ID), n.ID); ok {
		l.Aggression, l.Direction = state.Aggression, state.Direction
	}
	at := len(out.Lines)
	out.Lines = append(out.Lines, l)
	left, nl := m.describeLines(s, n.Left, depth+1, out)
	right, nr := m.describeLines(s, n.Right, depth+1, out)
	out.Lines[at].Average = (left + right) / float64(nl+nr)
	return left + right, nl + nr
}

// cut moves every edge of r into the bounds. What lies outside then has no area, at the nearest
// edge; everything is finite.
func cut(r, bounds bsp.Rect) bsp.Rect {
	x := func(v float64) float64 { return min(max(v, bounds.MinX), bounds.MaxX) }
	z := func(v float64) float64 { return min(max(v, bounds.MinZ), bounds.MaxZ) }
	return bsp.Rect{MinX: x(r.MinX), MinZ: z(r.MinZ), MaxX: x(r.MaxX), MaxZ: z(r.MaxZ)}
}

func fraction(ns int64) float64 { return float64(ns) / float64(load.Core) }

// addTotals adds what counts from the start of an app. Clients, bases and what is pending are
// states, not totals.
func addTotals(sum, r *wire.Report) {
	sum.CPU += r.CPU
	sum.Ticks += r.Ticks
	sum.Late += r.Late
	sum.TickTimes.Add(&r.TickTimes)
	sum.Told.Add(&r.Told)
	sum.Counters.Add(&r.Counters)
	sum.Unsent.AddAll(r.Unsent)
	sum.Received.Add(&r.Received)
}
