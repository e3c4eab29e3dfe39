package balance

import "github.com/cellscape/cellscape/bsp"

// loading reports whether a space still loads geometry: a cell that stays has not loaded all of it
// within its leaf, or has not said so. Retiring cells do not count, since others will load what
// they have not.
func (s *spaceView) loading() bool { return s.loadingWith(0) }

// loadingWith is loading for cells that must also have what lies within a distance of their leaves.
func (s *spaceView) loadingWith(halo float64) bool {
	if s.Geometry.Empty() {
		return false
	}
	for i := range s.leaves {
		if x := &s.leaves[i]; !x.leaf.Retiring && !x.has(x.rect.Grow(halo).Intersect(s.Geometry)) {
			return true
		}
	}
	return false
}

func (l *leafView) loaded(geometry bsp.Rect) bool { return l.has(l.rect.Intersect(geometry)) }

// has reports whether the cell has loaded a rectangle.
func (l *leafView) has(need bsp.Rect) bool {
	return need.Empty() || (l.cell != nil && covers(l.cell.Loaded, need))
}

func covers(r, part bsp.Rect) bool {
	return r.MinX <= part.MinX && r.MinZ <= part.MinZ && r.MaxX >= part.MaxX && r.MaxZ >= part.MaxZ
}

// helpLoading gives every loading space one more cell to share the work, on an app outside of its
// group, up to Config.MaxLoadingCells and down to Config.MinLoadingArea. cut says where. A space
// that the plan has already given a cell waits for the next. It reports whether any space is
// loading.
func (m *pass) helpLoading(cut func(m *pass, space int32) (Add, bool)) bool {
	loading := false
	for i := range m.v.spaces {
		s, p := &m.v.spaces[i], &m.spaces[i]
		if !s.loadingWith(m.halo) {
			continue
		}
		loading = true
		n := len(s.leaves)
		if len(p.added) > 0 || n >= m.cfg.MaxLoadingCells || p.staying >= p.most || area(s.Geometry)/float64(n) <= m.cfg.MinLoadingArea {
			continue
		}
		if a, ok := cut(m, int32(i)); ok {
			m.add(int32(i), a, 0, outside(m.v.groupOf(int32(i))))
		}
	}
	return loading
}
