package space

import (
	"github.com/cellscape/cellscape/bsp"
)

// OnArea is how the game loads the geometry of a space: f is called for every cell, the first as well as each that is
// added later, in its first tick and after each change of its area: a line was moved, a cell was cut off, a neighbour
// retired or died. f compares Cell.ToLoad with Cell.GeometryLoaded, has what is missing loaded as a job (Cell.Do), and says so
// with Cell.SetGeometryLoaded when it is there.
//
// f runs on the goroutine of the CellApp, and several CellApps share it: what it keeps for a cell belongs into
// Cell.SetLocal. A panic of it is contained and logged.
func (s *Scripts) OnArea(f func(c *Cell)) {
	if s.area != nil {
		s.registry.Fault("space: OnArea was given a function twice; let one call the other")
	}
	s.area = f
}

// HasOnArea reports whether OnArea was given a function. Without one nobody is ever let into a space with geometry.
func (s *Scripts) HasOnArea() bool { return s.area != nil }

// SetGeometryLoaded says what part of the space's geometry (terrain, collision meshes, whatever the game cannot run without) the
// cell has loaded. The zero Rect is none. The game loads; it calls this on the goroutine of the CellApp whenever
// another part is there. What has been said may be taken back only for land beyond ToLoad.
//
// If the space is configured with Geometry, no entity is made in, restored to or handed over to a cell where that has
// not loaded the land, and the balance does not let the cell outgrow it; see the package doc.
func (c *Cell) SetGeometryLoaded(r bsp.Rect) { c.loaded = r }

// GeometryLoaded is what SetGeometryLoaded was told last.
func (c *Cell) GeometryLoaded() bsp.Rect { return c.loaded }

// HasLoaded reports whether the cell has loaded the land at a position. An entity that walks or is
// set to a place within the geometry where this is false stands on nothing.
func (c *Cell) HasLoaded(x, z float64) bool { return !c.loaded.Empty() && c.loaded.Distance(x, z) == 0 }

// Area is the part of the plane that is the cell's now, empty if it has none. Its outer edges are infinite.
func (c *Cell) Area() bsp.Rect {
	_, r, _ := c.tree.Leaf(c.id)
	return r
}

// ToLoad is what the cell is to have loaded: its area, around it as far as ghosts stand (Border.GhostDistance), and
// Config.LoadAhead more, into which lines may move before the next part has come. The game cuts it to the geometry that
// there is. It is empty if the cell has no area.
func (c *Cell) ToLoad() bsp.Rect {
	r := c.Area()
	if r.Empty() {
		return bsp.Rect{}
	}
	return r.Grow(c.cfg.Border.GhostDistance + float64(c.cfg.LoadAhead))
}

// SetLocal keeps something of the game with the cell, on this CellApp and as long as the cell is here. Local is what
// was kept last.
func (c *Cell) SetLocal(v any) { c.local = v }

// Local is what SetLocal was given last, nil at first.
func (c *Cell) Local() any { return c.local }

// tellArea calls the game's hook if the area is another than it was called for last.
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

// noteUnloadable tells, once, that nobody will be let into the cell: the space has geometry, and no script loads it.
func (c *Cell) noteUnloadable() {
	if leaf, _, ok := c.tree.Leaf(c.id); ok && leaf.Created && leaf.Loading && !c.unloadable {
		c.unloadable = true
		c.count.Errors++
		c.log.Error("the space has geometry, and the scripts do not load it: nobody is let in; see space.Scripts.OnArea", "space", c.space, "cell", c.id.String())
	}
}
