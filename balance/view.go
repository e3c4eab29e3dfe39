package balance

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// view is an Observation without impossible figures, in a fixed order, with its parts connected.
type view struct {
	apps    []appView   // by ID
	spaces  []spaceView // by ID
	faults  []Fault
	ignored int
}

type appView struct {
	App
	cells    []place // in the order of spaces
	retiring int     // of those, by the plan so far
	group    int32   // filled in by groups
	// added is how many cells the plan gives it.
	added int
	// doubtful means that it reported something impossible, so its load is unknown.
	doubtful bool
}

// place is a leaf of a space, both by index.
type place struct{ space, leaf int32 }

// onlyRetiring reports whether the app has cells and all of them are about to go.
func (a *appView) onlyRetiring() bool {
	return len(a.cells) > 0 && a.retiring == len(a.cells) && a.added == 0
}

type spaceView struct {
	*Space
	leaves   []leafView // in the order of the tree: those below a line are a range
	lines    []lineView // each before those below it
	retiring int        // leaves
}

// leafView is a leaf with what is known of it.
type leafView struct {
	leaf    *bsp.Leaf
	rect    bsp.Rect
	cell    *Cell // nil if there is no usable report
	app     int32 // index of its app, -1 if that is not known
	created bool
	// level is what is compared between cells. An app with no other cell counts with its cell's
	// load, which reflects a handover at once. The other load of an app with further cells is
	// added.
	level int64
}

// known reports whether lines beside the leaf may move: its app has made it, and has said what it
// holds.
func (l *leafView) known() bool { return l.created && l.cell != nil }

// lineView is a line over a range of leaves: from first up to mid on its lower side, from mid up to
// last on its upper.
type lineView struct {
	id               bsp.NodeID
	axis             bsp.Axis
	at               float64
	rect             bsp.Rect
	first, mid, last int32
	// left and right are indices of lines, or the complement of a leaf's.
	left, right int32
}

// average is the mean level of the leaves that do not retire. Retiring leaves only count with their
// load, which others will get.
func (s *spaceView) average() int64 {
	sum := int64(0)
	for i := range s.leaves {
		sum += s.leaves[i].level
	}
	return sum / int64(max(1, len(s.leaves)-s.retiring))
}

type appKey struct {
	at   netip.AddrPort
	salt uint32
}

func look(o *Observation) *view {
	v := &view{}
	v.takeApps(o.Apps)
	byKey := v.index()
	v.takeSpaces(o.Spaces)
	for i := range v.spaces {
		v.join(int32(i), byKey)
	}
	v.levels()
	return v
}

func (v *view) takeApps(apps []App) {
	v.apps = make([]appView, 0, len(apps))
	for _, a := range apps {
		x := appView{App: a}
		if implausibleLoad(a.Load) || implausibleLoad(a.Smoothed) || implausibleLoad(a.Estimated) {
			v.fault(Fault{App: a.ID, What: "load of the app"})
			x.AppLoad, x.doubtful = AppLoad{}, true
		}
		v.apps = append(v.apps, x)
	}
	slices.SortStableFunc(v.apps, func(a, b appView) int { return cmp.Compare(a.ID, b.ID) })
	kept := v.apps[:0]
	for _, a := range v.apps {
		if n := len(kept); n > 0 && kept[n-1].ID == a.ID {
			v.fault(Fault{App: a.ID, What: "second entry of the app"})
			continue
		}
		kept = append(kept, a)
	}
	v.apps = kept
}

func (v *view) takeSpaces(spaces []Space) {
	v.spaces = make([]spaceView, 0, len(spaces))
	for i := range spaces {
		v.spaces = append(v.spaces, spaceView{Space: &spaces[i]})
	}
	slices.SortStableFunc(v.spaces, func(a, b spaceView) int { return cmp.Compare(a.ID, b.ID) })
	v.spaces = slices.CompactFunc(v.spaces, func(a, b spaceView) bool {
		if a.ID == b.ID {
			v.fault(Fault{Space: a.ID, What: "second entry of the space"})
		}
		return a.ID == b.ID
	})
	v.spaces = slices.DeleteFunc(v.spaces, func(s spaceView) bool {
		if s.Tree == nil {
			v.fault(Fault{Space: s.ID, What: "no tree"})
		}
		return s.Tree == nil
	})
	for i := range v.spaces {
		v.spaces[i].Space = v.plausible(v.spaces[i].Space)
	}
}

// index finds the apps by address. Of two with the same address the tree only knows the first, and
// the second must not get a cell, which the tree would refuse.
func (v *view) index() map[appKey]int32 {
	byKey := make(map[appKey]int32, len(v.apps))
	for i := range v.apps {
		a := &v.apps[i]
		if !a.Addr.IsValid() {
			continue
		}
		key := appKey{a.Addr, a.Salt}
		if _, ok := byKey[key]; ok {
			v.fault(Fault{App: a.ID, What: "address of another app"})
			a.doubtful = true
			continue
		}
		byKey[key] = int32(i)
	}
	return byKey
}

// join reads the tree of a space, and connects its leaves with their reports and apps.
func (v *view) join(space int32, byKey map[appKey]int32) {
	s := &v.spaces[space]
	n := s.Tree.Len()
	s.leaves, s.lines = make([]leafView, 0, n), make([]lineView, 0, n-1)
	rects := make([]bsp.Rect, 0, n)
	for r, leaf := range s.Tree.Leaves() {
		rects = append(rects, r)
		s.leaves = append(s.leaves, leafView{leaf: leaf, rect: r, app: -1, created: leaf.Created})
	}
	s.walk(s.Tree.Root(), 0)
	byCell := make(map[bsp.CellID]int32, n)
	for i := range s.leaves {
		x := &s.leaves[i]
		byCell[x.leaf.Cell] = int32(i)
		if a, ok := byKey[appKey{x.leaf.App, x.leaf.Salt}]; ok {
			x.app = a
		}
		if x.leaf.Retiring {
			s.retiring++
		}
	}
	for i := range s.Cells {
		c := &s.Cells[i]
		at, ok := byCell[c.ID]
		switch what := implausible(c); {
		case !ok:
			v.fault(Fault{Space: s.ID, Cell: c.ID, App: c.App, What: "cell that the space does not have"})
		case s.leaves[at].cell != nil:
			v.fault(Fault{Space: s.ID, Cell: c.ID, App: c.App, What: "second report of the cell"})
		case what != "":
			v.fault(Fault{Space: s.ID, Cell: c.ID, App: c.App, What: what})
		default:
			x := &s.leaves[at]
			x.cell = c
			x.created = x.created || c.Created
			if x.app < 0 {
				x.app = v.appByID(c.App)
			}
		}
	}
	for i := range s.leaves {
		if x := &s.leaves[i]; x.app >= 0 {
			a := &v.apps[x.app]
			a.cells = append(a.cells, place{space, int32(i)})
			if x.leaf.Retiring {
				a.retiring++
			}
		}
	}
}

// walk lists the lines under a child whose first leaf has the given index. It returns the index of
// the leaf after its last, and how the child is referred to.
func (s *spaceView) walk(c bsp.Child, first int32) (last, ref int32) {
	if c.Leaf != nil {
		return first + 1, ^first
	}
	n, _ := s.Tree.Node(c.Node)
	at := int32(len(s.lines))
	s.lines = append(s.lines, lineView{id: n.ID, axis: n.Axis, at: n.Line, rect: n.Rect, first: first})
	mid, left := s.walk(n.Left, first)
	last, right := s.walk(n.Right, mid)
	l := &s.lines[at]
	l.mid, l.last, l.left, l.right = mid, last, left, right
	return last, at
}

// levels gives every leaf the load that it is compared by.
func (v *view) levels() {
	v.reserve()
	for i := range v.spaces {
		s := &v.spaces[i]
		least := s.least()
		for j := range s.leaves {
			x := &s.leaves[j]
			if x.cell != nil {
				x.level = x.cell.Load
				if x.app >= 0 && len(v.apps[x.app].cells) > 1 {
					x.level = max(v.apps[x.app].Load, x.cell.Load)
				}
			}
			x.level = load.Clamp(max(x.level, least))
		}
	}
}

// least is a cell's part of the artificial load of its space.
func (s *spaceView) least() int64 { return s.MinLoad / int64(len(s.leaves)) }

// reserve adds to the load of each app what its cells lack of the artificial loads of their spaces.
// Otherwise what a studio keeps free for a space would seem idle, and be given to others.
func (v *view) reserve() {
	for i := range v.spaces {
		s := &v.spaces[i]
		for j := range s.leaves {
			x, lacks := &s.leaves[j], s.least()
			if x.cell != nil {
				lacks -= x.cell.Load
			}
			if x.app >= 0 && lacks > 0 {
				a := &v.apps[x.app]
				a.Load, a.Smoothed, a.Estimated = load.Clamp(a.Load+lacks), load.Clamp(a.Smoothed+lacks), load.Clamp(a.Estimated+lacks)
			}
		}
	}
}

func (v *view) appByID(id uint32) int32 {
	i, ok := slices.BinarySearchFunc(v.apps, id, func(a appView, id uint32) int { return cmp.Compare(a.ID, id) })
	if !ok {
		return -1
	}
	return int32(i)
}

func (v *view) fault(f Fault) {
	v.ignored++
	if len(v.faults) < maxFaults {
		v.faults = append(v.faults, f)
	}
}

func quantiles(c *Cell, a bsp.Axis) *load.Quantiles {
	if a == bsp.AxisX {
		return &c.Profile.X
	}
	return &c.Profile.Z
}

// byLevel returns the leaves, the most or the least loaded first.
func byLevel(s *spaceView, heaviest bool) []int32 {
	order := make([]int32, len(s.leaves))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if heaviest {
			a, b = b, a
		}
		return cmp.Compare(s.leaves[a].level, s.leaves[b].level)
	})
	return order
}

// removals are the retiring cells that are swept and empty.
func removals(s *spaceView) []Ref {
	var refs []Ref
	for i := range s.leaves {
		x := &s.leaves[i]
		if x.leaf.Retiring && x.empty() && s.Tree.Swept(x.leaf.Cell) {
			refs = append(refs, Ref{s.ID, x.leaf.Cell})
		}
	}
	return refs
}

// empty reports whether the cell has said that nobody is in it.
func (l *leafView) empty() bool {
	return l.cell != nil && l.cell.Reals == 0 && l.cell.Ghosts == 0 && l.cell.Handoffs == 0
}
