package balance

import (
	"cmp"
	"math"
	"slices"
)

// group is a set of CellApps whose loads ordinary balancing can even out, since they run cells of
// the same spaces. An app that shares no space with another is a group of its own.
type group struct {
	apps   []int32 // by ID, until another group joins
	spaces []int32
	total  int64 // of smoothed loads
	// staying is how many of the apps have cells that do not retire, or no cells.
	staying int
	// joined means that the apps now belong to another group.
	joined bool
}

// average is the mean smoothed load that the group's apps would have with fewer apps less. Apps
// with only retiring cells count with their load but not in the number, since others will get the
// load. If no app would be left it is above any load.
func (g *group) average(fewer int) int64 {
	n := g.staying - fewer
	if n <= 0 {
		return math.MaxInt64
	}
	return g.total / int64(n)
}

// groups divides the apps into groups, in the order of their first apps.
func (v *view) groups() []group {
	parent := make([]int32, len(v.apps))
	for i := range parent {
		parent[i] = int32(i)
	}
	for i := range v.spaces {
		first := int32(-1)
		for j := range v.spaces[i].leaves {
			switch app := v.spaces[i].leaves[j].app; {
			case app < 0:
			case first < 0:
				first = app
			default:
				unite(parent, first, app)
			}
		}
	}
	gs := make([]group, 0, len(v.apps))
	for i := range v.apps {
		a := &v.apps[i]
		// The root of a set is its lowest index, so that its group has been made.
		if root := rootOf(parent, int32(i)); root == int32(i) {
			a.group = int32(len(gs))
			gs = append(gs, group{})
		} else {
			a.group = v.apps[root].group
		}
		g := &gs[a.group]
		g.apps = append(g.apps, int32(i))
		g.total += a.Smoothed
		if !a.onlyRetiring() {
			g.staying++
		}
	}
	for i := range v.spaces {
		if g := v.groupOf(int32(i)); g >= 0 {
			gs[g].spaces = append(gs[g].spaces, int32(i))
		}
	}
	return gs
}

// groupOf returns the group that a space's apps belong to, -1 if none of them is known.
func (v *view) groupOf(space int32) int32 {
	for i := range v.spaces[space].leaves {
		if app := v.spaces[space].leaves[i].app; app >= 0 {
			return v.apps[app].group
		}
	}
	return -1
}

func rootOf(parent []int32, i int32) int32 {
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// unite makes the lower root the root of both.
func unite(parent []int32, a, b int32) {
	a, b = rootOf(parent, a), rootOf(parent, b)
	parent[max(a, b)] = min(a, b)
}

// join puts the apps of the second group into the first.
func (m *pass) join(into, from int32) {
	if into == from || into < 0 || from < 0 {
		return
	}
	g, h := &m.groups[into], &m.groups[from]
	for _, i := range h.apps {
		m.v.apps[i].group = into
	}
	g.apps, g.spaces = append(g.apps, h.apps...), append(g.spaces, h.spaces...)
	g.total += h.total
	g.staying += h.staying
	*h = group{joined: true}
}

// worstFirst returns the groups by their average, the highest first.
func worstFirst(gs []group) []int32 {
	order := make([]int32, len(gs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(gs[b].average(0), gs[a].average(0)) })
	return order
}

// clusterAverage is the mean smoothed load of all apps.
func (v *view) clusterAverage() int64 {
	sum := int64(0)
	for i := range v.apps {
		sum += v.apps[i].Smoothed
	}
	return sum / int64(max(1, len(v.apps)))
}
