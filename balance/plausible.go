package balance

import (
	"math"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

func implausibleLoad(l int64) bool { return l < 0 || l > load.Max }

// plausible returns the space without impossible figures, which count as not given.
func (v *view) plausible(s *Space) *Space {
	observed := s
	leaveOut := func(bad bool, what string, clear func(*Space)) {
		if !bad {
			return
		}
		v.fault(Fault{Space: s.ID, What: what})
		if s == observed { // which must not be changed
			own := *observed
			s = &own
		}
		clear(s)
	}
	leaveOut(implausibleLoad(s.MinLoad), "artificial load of the space", func(s *Space) { s.MinLoad = 0 })
	leaveOut(hasNaN(s.Bounds), "bounds of the space", func(s *Space) { s.Bounds = bsp.Rect{} })
	leaveOut(hasNaN(s.Geometry), "geometry of the space", func(s *Space) { s.Geometry = bsp.Rect{} })
	negative := s.MinCells < 0 || s.MaxCells < 0
	leaveOut(negative, "number of cells of the space", func(s *Space) { s.MinCells, s.MaxCells = 0, 0 })
	return s
}

// implausible says which figure of a report is impossible, "" if none. A profile with a NaN would
// otherwise become a line at NaN.
func implausible(c *Cell) string {
	switch {
	case c.Load < 0 || c.Load > load.Max:
		return "load of the cell"
	case c.Reals < 0 || c.Ghosts < 0 || c.Handoffs < 0:
		return "number of entities"
	case !c.Profile.X.Valid() || !c.Profile.Z.Valid():
		return "load profile"
	case !c.Edges.Valid():
		return "loads of the edges"
	case hasNaN(c.Loaded):
		return "loaded bounds"
	}
	return ""
}

func hasNaN(r bsp.Rect) bool {
	return math.IsNaN(r.MinX) || math.IsNaN(r.MinZ) || math.IsNaN(r.MaxX) || math.IsNaN(r.MaxZ)
}
