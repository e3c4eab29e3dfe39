package balance

import (
	"cmp"
	"math"
	"slices"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// pass is one call of Policy.Meta. It applies its decisions at once to copies of the trees, so that
// later ones fit earlier ones and the plan can always be applied.
type pass struct {
	cfg    *Config
	v      *view
	groups []group
	spaces []spacePass // as in v
	apps   appChooser
	halo   float64 // what a cell must have loaded around it, in metres
	plan   Plan
}

// spacePass is what the plan does to a space.
type spacePass struct {
	tree *bsp.Tree // a copy, nil while nothing is changed
	// staying counts the cells that neither retire nor are on an app that is being shut down, and
	// ready those of them that are created.
	staying, ready int
	added          []int32 // apps that are given a cell
	// least and most are how many cells the space is to have.
	least, most int
}

func newPass(cfg *Config, v *view) *pass {
	m := &pass{cfg: cfg, v: v, plan: Plan{Ignored: v.ignored, Faults: v.faults}}
	m.groups = v.groups()
	m.apps = newAppChooser(v.apps, len(cfg.Scorers))
	m.spaces = make([]spacePass, len(v.spaces))
	for i := range v.spaces {
		s, p := &v.spaces[i], &m.spaces[i]
		p.least = leastCells(s.MinCells, s.MaxCells, cfg)
		p.most = min(max(p.least, cmp.Or(s.MaxCells, cfg.MaxCells)), bsp.MaxLeaves)
		for j := range s.leaves {
			if x := &s.leaves[j]; !x.leaf.Retiring {
				m.stays(p, x, 1)
			}
		}
	}
	return m
}

// leastCells is how many cells a space has at least, by its own bounds and those of all. The least
// number of all counts up to the most of its own: a room that takes one cell is not divided.
func leastCells(least, most int, cfg *Config) int {
	return max(1, cmp.Or(least, min(cfg.MinCells, cmp.Or(most, cfg.MaxCells))))
}

// stays counts a cell that stays, or (-1) no longer does.
func (m *pass) stays(p *spacePass, x *leafView, by int) {
	if m.leaving(x) {
		return
	}
	p.staying += by
	if x.created {
		p.ready += by
	}
}

// retires counts a retiring cell of an app, or (-1) one that no longer does.
func (m *pass) retires(app int32, by int) {
	if app < 0 {
		return
	}
	a := &m.v.apps[app]
	before := a.onlyRetiring()
	a.retiring += by
	switch after := a.onlyRetiring(); {
	case before && !after:
		m.groups[a.group].staying++
	case after && !before:
		m.groups[a.group].staying--
	}
}

// leaving reports whether the cell's app is being shut down.
func (m *pass) leaving(x *leafView) bool { return x.app >= 0 && m.v.apps[x.app].Retiring }

// tree returns how a space will be divided by the plan so far. It must not be changed.
func (m *pass) tree(space int32) *bsp.Tree {
	return cmp.Or(m.spaces[space].tree, m.v.spaces[space].Tree)
}

// change returns the copy of a space's tree that the plan is done to.
func (m *pass) change(space int32) *bsp.Tree {
	p := &m.spaces[space]
	if p.tree == nil {
		p.tree = m.v.spaces[space].Tree.Clone()
	}
	return p.tree
}

func (m *pass) ref(space, leaf int32) Ref {
	s := &m.v.spaces[space]
	return Ref{s.ID, s.leaves[leaf].leaf.Cell}
}

// retiring reports whether a cell retires by the plan so far.
func (m *pass) retiring(space, leaf int32) bool {
	l, _, ok := m.tree(space).Leaf(m.v.spaces[space].leaves[leaf].leaf.Cell)
	return ok && l.Retiring
}

// add cuts a leaf for a cell on the best app of the first search that finds one. brings is the load
// that the cell is expected to bring. It reports false if there is no app; the space is then
// wanting.
func (m *pass) add(space int32, a Add, brings int64, among ...search) bool {
	app := int32(-1)
	for i := 0; i < len(among) && app < 0; i++ {
		app = m.bestApp(space, among[i])
	}
	s := &m.v.spaces[space]
	if app < 0 {
		if !slices.Contains(m.plan.Wanting, s.ID) {
			m.plan.Wanting = append(m.plan.Wanting, s.ID)
		}
		return false
	}
	to := &m.v.apps[app]
	t := m.change(space)
	leaf := bsp.Leaf{Cell: unusedCell(t), App: to.Addr, Salt: to.Salt}
	if t.Split(a.Cell, a.Axis, a.At, leaf, a.NewOnHigherSide) != nil {
		return false
	}
	a.Space, a.App = s.ID, to.ID
	m.plan.Adds = append(m.plan.Adds, a)
	m.given(space, app, brings)
	return true
}

// given notes a new cell of a space on an app, whose group joins that of the space.
func (m *pass) given(space, app int32, brings int64) {
	to, p := &m.v.apps[app], &m.spaces[space]
	into := m.v.groupOf(space)
	if to.onlyRetiring() {
		m.groups[to.group].staying++
	}
	to.added++
	to.Given(max(m.cfg.InitialCellLoad, float64(brings)/float64(load.Core)))
	p.added = append(p.added, app)
	p.staying++
	m.join(into, to.group)
}

// unusedCell stands in for the number that the manager will give to a new cell.
func unusedCell(t *bsp.Tree) bsp.CellID {
	c := bsp.CellID{Term: math.MaxUint32, N: math.MaxUint32}
	for {
		if _, _, taken := t.Leaf(c); !taken {
			return c
		}
		c.N--
	}
}

// cancel ends the retirement of a cell. It reports false if the cell's app is being shut down, or
// if the line has already made the cell too narrow: Tree.Unretire refuses that, and to finish the
// retirement is quicker.
func (m *pass) cancel(space, leaf int32) bool {
	x := &m.v.spaces[space].leaves[leaf]
	if m.leaving(x) || !m.retiring(space, leaf) || m.change(space).Unretire(x.leaf.Cell) != nil {
		return false
	}
	m.stays(&m.spaces[space], x, 1)
	m.retires(x.app, -1)
	m.plan.Cancels = append(m.plan.Cancels, m.ref(space, leaf))
	return true
}

// cancelIn cancels up to n retirements in a space and returns how many. It begins with the most
// loaded cells, whose retirement is least advanced.
func (m *pass) cancelIn(space int32, n int) int {
	s := &m.v.spaces[space]
	done := 0
	if s.retiring == 0 || n <= 0 {
		return 0
	}
	for _, i := range byLevel(s, true) {
		if done < n && m.cancel(space, i) {
			done++
		}
	}
	return done
}

// cancelApp cancels all retirements on the first app of a group, by ID, that has some which can be
// cancelled. It reports false if there is none.
func (m *pass) cancelApp(g *group) bool {
	apps := slices.Sorted(slices.Values(g.apps))
	for _, i := range apps {
		a := &m.v.apps[i]
		if a.Retiring || a.retiring == 0 {
			continue
		}
		some := false
		for _, c := range a.cells {
			some = m.cancel(c.space, c.leaf) || some
		}
		if some {
			return true
		}
	}
	return false
}

// retire retires a cell. It reports false if the cell already retires, if no one can take over from
// it (see Tree.Retire), or if no created cell of the space would stay.
func (m *pass) retire(space, leaf int32) bool {
	x, p := &m.v.spaces[space].leaves[leaf], &m.spaces[space]
	others := p.ready
	if x.created && !m.leaving(x) {
		others--
	}
	if others < 1 || m.retiring(space, leaf) || m.change(space).Retire(x.leaf.Cell) != nil {
		return false
	}
	m.stays(p, x, -1)
	m.retires(x.app, 1)
	m.plan.Retires = append(m.plan.Retires, m.ref(space, leaf))
	return true
}

// missing returns how many cells a space lacks to have its least number, after cancelling
// retirements for that. Cells on apps that are being shut down do not count, so the last one of a
// space gets another beside it, to which it can retire.
func (m *pass) missing(space int32) int {
	p := &m.spaces[space]
	m.cancelIn(space, p.least-p.staying)
	return p.least - p.staying
}

// retireLeaving retires the cells of apps that are being shut down, as far as others can take over.
func (m *pass) retireLeaving() {
	for i := range m.v.apps {
		a := &m.v.apps[i]
		if !a.Retiring {
			continue
		}
		for _, c := range a.cells {
			m.retire(c.space, c.leaf)
		}
	}
}

// giveBack retires the cells of the least loaded app of a group, down to the least number of each
// space. An app with some retiring cells goes on first, and no other begins: its group counts it as
// staying until all of its cells retire, so a second app would be one too many. It skips an app of
// which no cell can retire, and one that may not.
func (m *pass) giveBack(g *group, may func(app int32) bool) {
	var begun, others []int32
	for _, i := range g.apps {
		switch a := &m.v.apps[i]; {
		case a.Retiring || a.onlyRetiring() || a.added > 0 || len(a.cells) == 0:
		case a.retiring > 0:
			begun = append(begun, i)
		default:
			others = append(others, i)
		}
	}
	if len(begun) > 0 {
		others = begun
	}
	slices.SortFunc(others, func(a, b int32) int {
		return cmp.Or(cmp.Compare(m.v.apps[a].Smoothed, m.v.apps[b].Smoothed), cmp.Compare(a, b))
	})
	for _, i := range others {
		if may(i) && m.retireAll(i) {
			return
		}
	}
}

// retireAll retires all cells of an app that can retire, and reports false if none can. A cell that
// is not created yet stays, since no load shows what it is good for.
func (m *pass) retireAll(app int32) bool {
	some := false
	for _, c := range m.v.apps[app].cells {
		x := &m.v.spaces[c.space].leaves[c.leaf]
		if p := &m.spaces[c.space]; x.created && p.staying > p.least && len(p.added) == 0 {
			some = m.retire(c.space, c.leaf) || some
		}
	}
	return some
}
