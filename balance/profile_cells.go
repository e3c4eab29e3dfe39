package balance

import (
	"math"
	"slices"
	"time"
)

const (
	// addRatio times TargetLoad is the average at which a cell is added; giveBackRatio times
	// TargetLoad is the average below which the others must stay for one to be given back. The gap
	// between them is what loads fluctuate by from second to second.
	addRatio      = 1.07
	giveBackRatio = 1.055

	// calm is how many MetaPeriods must have passed since a space's last change before it gives a
	// cell back. Until then loads do not show the change.
	calm = 2

	// worthCutting is the load from which a cell is worth cutting. Half of less, an eighth of a per
	// cent of a core, does not pay for the ghosts of a line.
	worthCutting = 0.0025

	// giveBackShare is the share of a space's cells that may begin to retire at once.
	giveBackShare = 8
)

// Meta implements Policy. Spaces below their least number of cells come first. Then come the groups
// of CellApps that share spaces, the most loaded first: it cancels retirements or else adds cells,
// as many at once as the load needs. If a CellApp runs several spaces, the load of the whole group
// counts, since lines can even that out. A group of one space uses its cells' reports, which is
// faster.
func (p *Profile) Meta(o *Observation) Plan {
	v := look(o)
	m := newPass(&p.cfg.Config, v)
	p.settle(o.Now, v)
	if p.cfg.NoMeta {
		return m.plan
	}
	for i := range v.spaces {
		if n := m.missing(int32(i)); n > 0 && v.spaces[i].complete() {
			p.addCells(m, int32(i), n, demand{few: true, among: []search{anyApp()}})
		}
	}
	p.grow(m, o.Now)
	m.helpLoading(cutLoading)
	m.retireLeaving()
	p.shrink(m, o.Now)
	return m.plan
}

// shrink gives back cells that are not needed. A loading space keeps its cells, and so do those
// that share apps with it if it has more than one. Unlike in the seed, the others do not wait, or a
// world in which rooms are made all the time would never give anything back.
func (p *Profile) shrink(m *pass, now time.Duration) {
	wait := calm * p.cfg.MetaPeriod
	for i := range m.groups {
		g := &m.groups[i]
		if g.joined || len(g.spaces) < 2 || grows(m, g) {
			continue
		}
		if p.needed(g.total, giveBackRatio) < useful(m, g) && p.allDivided(g, func(c *spaceCells) bool { return now-c.changed >= wait && !c.loading }) {
			m.giveBack(g, func(app int32) bool { return p.roomFor(m, app) })
		}
	}
	for i := range m.v.spaces {
		at := int32(i)
		if g := m.v.groupOf(at); g >= 0 && len(m.groups[g].spaces) > 1 {
			continue
		}
		s, c := &m.v.spaces[i], &m.spaces[i]
		keep := min(max(p.needed(p.total(s), giveBackRatio), c.least), c.most)
		if n := c.staying; keep < n && s.complete() && now-p.cells[i].changed >= wait && !p.cells[i].loading {
			giveBackCells(m, at, min(n-keep, max(1, n/giveBackShare)))
		}
	}
}

// roomFor reports whether the cells beside those of an app could take them over without a load
// above the target. If they could not, the space would get another cell at once, and so on for
// ever. It does not count on further lines to relieve them.
func (p *Profile) roomFor(m *pass, app int32) bool {
	bound := int64(nanos(p.cfg.TargetLoad * giveBackRatio))
	taken := make(map[int32]int64) // by app
	for _, c := range m.v.apps[app].cells {
		s := &m.v.spaces[c.space]
		if s.leaves[c.leaf].cell == nil || len(s.leaves) == 1 {
			continue
		}
		rest := s.leaves[c.leaf].cell.Load
		for i := range s.leaves {
			x := &s.leaves[i]
			if rest <= 0 {
				break
			}
			if x.app >= 0 && x.app != app && !x.leaf.Retiring && !m.leaving(x) {
				some := min(rest, max(0, bound-m.v.apps[x.app].Smoothed-taken[x.app]))
				taken[x.app] += some
				rest -= some
			}
		}
		if rest > 0 {
			return false
		}
	}
	return true
}

// grows reports whether the plan has a new cell for a space of the group.
func grows(m *pass, g *group) bool {
	return slices.ContainsFunc(g.spaces, func(i int32) bool { return len(m.spaces[i].added) > 0 })
}

// giveBackCells retires the least loaded cells of a space.
func giveBackCells(m *pass, space int32, n int) {
	s := &m.v.spaces[space]
	for _, i := range byLevel(s, false) {
		if n == 0 {
			return
		}
		if !m.leaving(&s.leaves[i]) && m.retire(space, i) {
			n--
		}
	}
}

// needed is how many cells or apps a load needs at a ratio of the target.
func (p *Profile) needed(total int64, ratio float64) int {
	return int(math.Ceil(float64(total) / (nanos(p.cfg.TargetLoad) * ratio)))
}

// useful is how many apps of a group are not being shut down and do not have only retiring cells.
func useful(m *pass, g *group) int {
	n := 0
	for _, i := range g.apps {
		if a := &m.v.apps[i]; !a.Retiring && !a.onlyRetiring() {
			n++
		}
	}
	return n
}

// allDivided reports whether all divided spaces of a group are in a state. Spaces that always had
// one cell do not count, since rooms come all the time and change nothing that the group has to
// wait for.
func (p *Profile) allDivided(g *group, state func(*spaceCells) bool) bool {
	for _, i := range g.spaces {
		if c := &p.cells[i]; !c.room && !state(c) {
			return false
		}
	}
	return true
}

// total is the sum of the leaves' levels as Balance follows them. Single reports fluctuate by more
// than the gap between the two ratios, so a space would get a cell and give it back in turn. A leaf
// that Balance has not seen yet counts with its report.
func (p *Profile) total(s *spaceView) int64 {
	followed := p.levelsOf(s.ID).cells
	sum := int64(0)
	for i := range s.leaves {
		x := &s.leaves[i]
		if c := findLevel(followed, x.leaf.Cell); c != nil {
			sum += int64(c.level)
		} else {
			sum += x.level
		}
	}
	return sum
}

// complete reports whether all cells are created.
func (s *spaceView) complete() bool {
	return !slices.ContainsFunc(s.leaves, func(x leafView) bool { return !x.created })
}

// demand says what cells are added for.
type demand struct {
	few bool // there are fewer than there must be, whatever the load
	// among says which apps help, the first choice first.
	among []search
	// brings is the load that each cell is expected to bring its app, 0 if nothing tells.
	brings int64
	// least is the smoothed load of an app from which dividing its cells helps.
	least int64
}

// addCells cuts up to n of the heaviest leaves, each once, and returns how many.
func (p *Profile) addCells(m *pass, at int32, n int, d demand) int {
	s := &m.v.spaces[at]
	done := 0
	for _, i := range byLevel(s, true) {
		x := &s.leaves[i]
		if done == n {
			break
		}
		if m.tree(at).CanSplit(x.leaf.Cell) != nil || (!d.few && (!p.heavy(m, x, d.least) || p.unsettled(s, x))) {
			continue
		}
		a, ok := Add{}, false
		if x.cell != nil && !x.cell.Profile.Empty() {
			a, ok = cutLoad(s.Tree, x)
			if !ok && float64(x.level) > nanos(p.cfg.TargetLoad*addRatio) {
				crowded(m, m.ref(at, i))
			}
		}
		if !ok && d.few {
			a, ok = cutRoom(s.Tree, x, s.Bounds)
		}
		if !ok {
			continue
		}
		if !m.add(at, a, d.brings, d.among...) {
			break
		}
		done++
	}
	return done
}

// unsettled reports whether a cell, or one beside it, has not loaded its land. Entities are then
// not where their cells are, so loads do not show where to cut.
func (p *Profile) unsettled(s *spaceView, x *leafView) bool {
	if p.cfg.IgnoreGeometry || s.Geometry.Empty() {
		return false
	}
	near := x.rect.Grow(1)
	return slices.ContainsFunc(s.leaves, func(y leafView) bool { return y.rect.Overlaps(near) && s.lacks(&y) })
}

func crowded(m *pass, c Ref) {
	if !slices.Contains(m.plan.Crowded, c) {
		m.plan.Crowded = append(m.plan.Crowded, c)
	}
}

// heavy reports whether a cell is worth dividing: its app needs help, and half of the cell's load
// there is worth moving.
func (p *Profile) heavy(m *pass, x *leafView, least int64) bool {
	return x.cell != nil && float64(x.cell.Load) >= nanos(worthCutting) && (x.app < 0 || m.v.apps[x.app].Smoothed >= least)
}

// cutLoading halves the geometry of the created leaf that has most of it, among those that have not
// loaded theirs.
func cutLoading(m *pass, space int32) (Add, bool) {
	s := &m.v.spaces[space]
	var best Add
	found, most := false, 0.0
	for i := range s.leaves {
		x := &s.leaves[i]
		size := area(x.rect.Intersect(s.Geometry))
		if !x.created || x.loaded(s.Geometry) || size <= most || m.tree(space).CanSplit(x.leaf.Cell) != nil {
			continue
		}
		if a, ok := cutRoom(s.Tree, x, s.Geometry); ok {
			best, found, most = a, true, size
		}
	}
	return best, found
}
