package balance

import (
	"math"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Meta implements Policy. A space gets at most one cell in a pass. Spaces below their least number
// of cells come first. Then follow, as in the seed, overloaded groups, the worst first, spaces that
// load geometry, and groups that can do with one app less, unless a space is loading.
func (c *Classic) Meta(o *Observation) Plan {
	m := newPass(&c.cfg.Config, look(o))
	m.halo = haloOf(&c.cfg.Border)
	if c.cfg.NoMeta {
		return m.plan
	}
	for i := range m.v.spaces {
		space := int32(i)
		if m.missing(space) <= 0 {
			continue
		}
		if a, ok := cutFarEdge(m, space); ok {
			m.add(space, a, 0, anyApp())
		}
	}
	c.checkForOverloaded(m)
	loading := m.helpLoading(cutFarEdge)
	m.retireLeaving()
	if !loading {
		c.checkForUnderloaded(m)
	}
	return m.plan
}

// checkForOverloaded helps the groups whose average exceeds that of all apps. It skips a group that
// was just connected to an earlier one, whose apps can share the load now.
func (c *Classic) checkForOverloaded(m *pass) {
	bound := m.v.clusterAverage() + int64(nanos(c.cfg.MetaTolerance))
	for _, i := range worstFirst(m.groups) {
		g := &m.groups[i]
		if g.joined || g.average(0) <= bound || m.cancelApp(g) {
			continue
		}
		for _, space := range m.connectionSpaces(g) {
			if p := &m.spaces[space]; len(p.added) > 0 || p.staying >= p.most {
				continue
			}
			if a, ok := cutFarEdge(m, space); ok {
				m.add(space, a, 0, outside(i))
				break
			}
		}
	}
}

// checkForUnderloaded lets every group that would stay below the lower bound without one of its
// apps give that app back.
func (c *Classic) checkForUnderloaded(m *pass) {
	bound := int64(nanos(c.cfg.LowerBound))
	for i := range m.groups {
		if g := &m.groups[i]; !g.joined && g.average(1) < bound {
			m.giveBack(g, func(int32) bool { return true })
		}
	}
}

// cutFarEdge gives a new cell as little as allowed, at the higher edge of the leaf that Tree.Place
// chooses; balancing then moves its line inward. It reports false if no leaf can be cut, if the
// chosen one is not created yet, or if the plan has already given the space a cell.
func cutFarEdge(m *pass, space int32) (Add, bool) {
	s := &m.v.spaces[space]
	if len(m.spaces[space].added) > 0 {
		return Add{}, false
	}
	cell, axis, ok := m.tree(space).Place()
	if !ok {
		return Add{}, false
	}
	for i := range s.leaves {
		if x := &s.leaves[i]; x.leaf.Cell == cell {
			lo, hi, ok := x.rect.SplitLimits(axis)
			at := min(max(farEdge(s, x, axis), lo), hi)
			return Add{Cell: cell, Axis: axis, At: at, NewOnHigherSide: true}, ok && x.created
		}
	}
	return Add{}, false
}

// farEdge is where the line of a new cell at the higher edge of a leaf should lie. The seed puts it
// at the edge even if that is infinity, and the first balance moves it to the last entity. Here it
// starts just beyond that entity. In a leaf without entities it lies where they could be, or where
// there is geometry to load.
func farEdge(s *spaceView, x *leafView, axis bsp.Axis) float64 {
	lo, hi := x.rect.Span(axis)
	if !math.IsInf(hi, 1) {
		return hi - bsp.MinSize
	}
	if x.cell != nil && !x.cell.Profile.Empty() {
		return float64(quantiles(x.cell, axis)[load.Slices])
	}
	for _, r := range []bsp.Rect{s.Bounds, s.Geometry} {
		if _, end := r.Span(axis); !r.Empty() && !math.IsInf(end, 1) {
			return end - bsp.MinSize
		}
	}
	_, end := finiteSpan(lo, hi)
	return end
}
