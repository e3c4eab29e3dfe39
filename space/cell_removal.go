package space

import (
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/mercury"
)

// Retiring reports whether the manager is taking the cell's area away. Its reals then leave as soon
// as the line passes them, without band or dwell.
func (c Hosted) Retiring() bool { return c.retiring() }

func (c *Cell) retiring() bool {
	leaf, _, ok := c.tree.Leaf(c.id)
	return !ok || leaf.Retiring
}

// Idle reports whether nothing is left here that anybody may ask for: no entity, no handoff, no
// message of a departed real, and no memory of reals taken over by an app that might still die with
// them.
func (c Hosted) Idle() bool {
	return len(c.reals)+len(c.ghosts)+len(c.departing)+len(c.loopback) == 0 &&
		!c.population.leftBehind(c.space)
}

// DoneWith reports whether this cell will send nothing more to a cell of another CellApp that has
// been taken out of the space: the geometry here no longer has it, nothing is being handed over to
// its app, and no real has a ghost there. If the app has another cell of the space by now, that one
// has taken over and gets what is sent.
func (c Hosted) DoneWith(cell bsp.CellID, app mercury.Address) bool {
	if _, _, there := c.tree.Leaf(cell); there {
		return false
	}
	if _, _, other := c.tree.OfApp(app.At, app.Salt); other {
		return true
	}
	for _, rec := range c.reals {
		if p := rec.e.Position; rec.real.haunts.Has(app) && !c.behindGate(app, float64(p.X), float64(p.Z)) {
			return false
		}
	}
	return !c.population.handoffs.Towards(app, c.space)
}
