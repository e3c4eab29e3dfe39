package space

import (
	"github.com/cellscape/cellscape/bsp"
)

// OnArea sets the function with which the game loads the geometry of a space. f is called for every
// cell, in its first tick and after each change of its area: when a line was moved, a cell was cut
// off, or a neighbour retired or died. f compares Cell.ToLoad with Cell.GeometryLoaded, loads what
// is missing in a job (Cell.Do), and calls Cell.SetGeometryLoaded when it is there.
//
// f runs on the goroutine of the CellApp. Several CellApps share it, so keep data about a cell with
// Cell.SetLocal. A panic is contained and logged.
func (s *Scripts) OnArea(f func(c *Cell)) {
	if s.area != nil {
		s.registry.Fault("space: OnArea was given a function twice; let one call the other")
	}
	s.area = f
}

// HasOnArea reports whether OnArea was given a function. Without one nobody is ever let into a
// space with geometry.
func (s *Scripts) HasOnArea() bool { return s.area != nil }

// SetGeometryLoaded tells the cell which part of the space's geometry (terrain, collision meshes,
// whatever the game cannot run without) is loaded; the zero Rect means none. The game does the
// loading, and calls this on the goroutine of the CellApp whenever the loaded part has changed. It
// may unload only land beyond ToLoad.
//
// If the space is configured with Geometry, no entity is made, restored or handed over where the
// cell has not loaded the land, and the balance does not let the cell outgrow it; see the package
// doc.
func (c *Cell) SetGeometryLoaded(r bsp.Rect) { c.loaded = r }

// GeometryLoaded is the last argument of SetGeometryLoaded.
func (c *Cell) GeometryLoaded() bsp.Rect { return c.loaded }

// HasLoaded reports whether the cell has loaded the land at a position. Where it is false, within
// the geometry, an entity that walks or is placed there stands on nothing.
func (c *Cell) HasLoaded(x, z float64) bool { return !c.loaded.Empty() && c.loaded.Distance(x, z) == 0 }

// Area is the cell's present part of the plane, empty if it has none. At the edge of the space it
// reaches to infinity.
func (c *Cell) Area() bsp.Rect {
	_, r, _ := c.tree.Leaf(c.id)
	return r
}

// ToLoad is the land that the cell should have loaded: its area, the land around it as far as
// ghosts stand (Border.GhostDistance), and Config.LoadAhead more, into which lines may move before
// the next part is loaded. The game cuts it to the geometry that there is. It is empty if the cell
// has no area.
func (c *Cell) ToLoad() bsp.Rect {
	r := c.Area()
	if r.Empty() {
		return bsp.Rect{}
	}
	return r.Grow(c.cfg.Border.GhostDistance + float64(c.cfg.LoadAhead))
}

// SetLocal keeps a value of the game's with the cell, on this CellApp only and as long as the cell
// is here: best from Scripts.OnNewCell on, and until Scripts.OnCellEnd. Entities have it as
// Real.CellLocal.
func (c *Cell) SetLocal(v any) { c.local = v }

// Local is the last argument of SetLocal; nil at first.
func (c *Cell) Local() any { return c.local }

// tellArea calls the game's hook if the area has changed since its last call.
func (c *Cell) tellArea() {
	if c.ended || c.tree == c.areaOf {
		return
	}
	if c.scripts.area == nil {
		c.noteUnloadable()
		return
	}
	first := c.areaOf == nil
	c.areaOf = c.tree
	if r := c.Area(); first || r != c.areaTold {
		c.areaTold = r
		c.hook("OnArea", func() { c.scripts.area(c) })
	}
}

// noteUnloadable logs once that nobody can enter the cell, because the space has geometry and no
// script loads it.
func (c *Cell) noteUnloadable() {
	if leaf, _, ok := c.tree.Leaf(c.id); ok && leaf.Created && leaf.Loading && !c.unloadable {
		c.unloadable = true
		c.count.Errors++
		c.log.Error("nobody can enter the space: it has geometry, and no script loads it; see space.Scripts.OnArea", "space", c.space, "cell", c.id.String())
	}
}
