package main

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

const (
	term  = 1 // of the only manager
	space = 1 // the only space
)

// manager is the part of a CellAppMgr that balances: it keeps reports, asks the policy, changes its
// tree and publishes it.
type manager struct {
	policy    balance.Policy
	clock     func() time.Duration
	world     bsp.Rect
	tree      *bsp.Tree
	publisher *bsp.Publisher
	cells     uint32 // made so far
	apps      []balance.AppLoad
	reports   []balance.Cell // of the last period
	samples   [][]load.Sample
	builder   load.Builder

	took  []time.Duration // by each plan
	tally tally
}

// tally is what the manager did in one second.
type tally struct {
	moves, adds, retires, cancels, removals, bytes int
	crowded, wanting, blocked, ignored             int
}

func newManager(cfg *config, policy balance.Policy, clock func() time.Duration) manager {
	half := cfg.size / 2
	return manager{
		policy: policy, clock: clock,
		world:     bsp.Rect{MinX: -half, MinZ: -half, MaxX: half, MaxZ: half},
		publisher: bsp.NewPublisher(term, keptVersions),
		apps:      make([]balance.AppLoad, cfg.cellApps),
		samples:   make([][]load.Sample, cfg.cellApps),
	}
}

// first makes the space with its first cell, on the first app.
func (m *manager) first() bsp.CellID {
	leaf := m.newLeaf(0)
	leaf.Created = true
	m.tree = bsp.New(bsp.Version{Term: term}, leaf)
	return leaf.Cell
}

func (m *manager) newLeaf(app int) bsp.Leaf {
	m.cells++
	return bsp.Leaf{Cell: bsp.CellID{Term: term, N: m.cells}, App: address(app), Salt: 1}
}

// created notes that a CellApp has confirmed a cell. It returns false for a cell that is gone
// again.
func (m *manager) created(c bsp.CellID) bool {
	leaf, _, ok := m.tree.Leaf(c)
	if ok {
		leaf.Created = true
	}
	return ok
}

// sample makes the full reports of all cells, which tell where their load lies.
func (l *lab) sample() {
	m := &l.manager
	for i := range m.samples {
		m.samples[i] = m.samples[i][:0]
	}
	for i := range l.apps {
		a := &l.apps[i]
		// This is a real's share of what no real was charged with.
		a.share = load.Share(a.smoothed+a.remainder.Load(), a.smoothed, a.reals)
	}
	for i := range l.present() {
		e := &l.present()[i]
		s := load.Sample{X: float32(e.at.x), Z: float32(e.at.z), Load: e.meter.Load() + l.apps[e.app].share}
		m.samples[e.app] = append(m.samples[e.app], s)
	}
	m.reports = m.reports[:0]
	for i := range l.apps {
		a := &l.apps[i]
		if !a.ready {
			continue
		}
		c := balance.Cell{
			ID: a.cell, App: uint32(i + 1), Load: a.reported, Reals: a.reals, Gained: a.gained, Ghosts: a.ghosts, Created: true,
			Profile: m.builder.Build(m.samples[i]),
		}
		if l.cfg.policyName == classicName {
			c.Edges = m.builder.Edges(m.samples[i], l.cfg.border.Slice())
		}
		m.reports = append(m.reports, c)
	}
}

// balance lets the policy move lines and, when that is due, add and retire cells.
func (l *lab) balance() error {
	m := &l.manager
	plan := m.timed(m.policy.Balance, l.observe())
	if err := l.apply(&plan); err != nil {
		return err
	}
	if (l.now-figureAge)%l.cfg.balance.MetaPeriod == 0 {
		plan := m.timed(m.policy.Meta, l.observe())
		if err := l.apply(&plan); err != nil {
			return err
		}
	}
	l.publish()
	return nil
}

func (m *manager) timed(plan func(*balance.Observation) balance.Plan, o *balance.Observation) balance.Plan {
	if m.clock == nil {
		return plan(o)
	}
	began := m.clock()
	p := plan(o)
	m.took = append(m.took, m.clock()-began)
	return p
}

// observe is what the manager knows now.
func (l *lab) observe() *balance.Observation {
	m := &l.manager
	apps := make([]balance.App, len(m.apps))
	for i := range apps {
		apps[i] = balance.App{ID: uint32(i + 1), Addr: address(i), Salt: 1, AppLoad: m.apps[i]}
	}
	cells := make([]balance.Cell, 0, len(m.reports))
	for _, c := range m.reports {
		if _, _, ok := m.tree.Leaf(c.ID); ok {
			cells = append(cells, c)
		}
	}
	return &balance.Observation{Now: l.now, Apps: apps, Spaces: []balance.Space{{ID: space, Tree: m.tree, Cells: cells, Bounds: m.world}}}
}

// apply does what a plan says. A plan that does not fit the tree for which it was made is a fault
// of the policy.
func (l *lab) apply(p *balance.Plan) error {
	m := &l.manager
	t := &m.tally
	t.moves += len(p.Moves)
	t.adds += len(p.Adds)
	t.retires += len(p.Retires)
	t.cancels += len(p.Cancels)
	t.removals += len(p.Removals)
	t.crowded += len(p.Crowded)
	t.wanting += len(p.Wanting)
	t.blocked += len(p.Blocked)
	t.ignored += p.Ignored
	for _, a := range p.Adds {
		if a.App < 1 || int(a.App) > len(l.apps) {
			return fmt.Errorf("a cell is added on CellApp %d of %d", a.App, len(l.apps))
		}
		if other := l.apps[a.App-1].cell; !other.IsZero() {
			return fmt.Errorf("a cell is added on CellApp %d, which has cell %v of the space", a.App, other)
		}
	}
	err := p.Apply(
		func(uint32) *bsp.Tree { return m.tree },
		func(a *balance.Add) bsp.Leaf {
			leaf := m.newLeaf(int(a.App) - 1)
			l.apps[a.App-1].hold(leaf.Cell)
			m.apps[a.App-1].Given(l.cfg.balance.InitialCellLoad)
			l.making = append(l.making, creation{l.now + creationDelay, leaf.Cell})
			return leaf
		})
	if err != nil {
		return err
	}
	for _, r := range p.Removals {
		if err := l.vacate(r.Cell); err != nil {
			return err
		}
	}
	return nil
}

// publish tells the geometry to all CellApps with a cell, if there is something new to tell, and
// counts the bytes.
func (l *lab) publish() {
	m := &l.manager
	for i := range m.reports {
		if leaf, _, ok := m.tree.Leaf(m.reports[i].ID); ok {
			leaf.Load = m.reports[i].Load
		}
	}
	told, changed, err := m.publisher.Publish(m.tree)
	if err != nil {
		panic(err) // the tree has only been changed by its own methods
	}
	if !changed {
		return
	}
	for i := range l.apps {
		if a := &l.apps[i]; !a.cell.IsZero() {
			m.tally.bytes += len(m.publisher.Message(a.told))
			a.told = told.Version()
		}
	}
	l.coming = append(l.coming, geometry{l.now + geometryDelay, told})
}
