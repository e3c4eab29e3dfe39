package space

import "github.com/cellscape/cellscape/bsp"

// SetLoaded says what part of the space's geometry (terrain, collision meshes,
// whatever the game cannot run without) this CellApp has loaded. The balance does not
// let a cell outgrow it, and gives a space that is still loading more cells to share
// the work, if the space is configured with Geometry. The zero Rect is none. The game
// loads; it calls this on the goroutine of the CellApp when a part has come.
func (c *Cell) SetLoaded(r bsp.Rect) { c.loaded = r }

// Loaded is what SetLoaded was told last.
func (c *Cell) Loaded() bsp.Rect { return c.loaded }

// Area is the part of the plane that is the cell's now, empty if it has none: what it
// has to have loaded, with as much around it as its reals see.
func (c *Cell) Area() bsp.Rect {
	_, r, _ := c.tree.Leaf(c.id)
	return r
}
