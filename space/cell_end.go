package space

import (
	"errors"
	"slices"
)

// ErrEnded is returned by Spawn on a cell whose space has ended.
var ErrEnded = errors.New("space: the space has ended")

// End tells the cell that the space has ended. The next tick destroys all its reals, as their own
// Destroy would: the script gets OnDestroy, and the base hears that the cell part is gone. Only who is
// teleported out of it (SpaceLeaver) stays until that has ended. Reals
// that arrive later from cells that have not heard are destroyed, too. The cell is Idle when all
// bases have acknowledged.
func (c Hosted) End() { c.ended = true }

// Ended reports whether the space, and everything on the cell, has ended.
func (c *Cell) Ended() bool { return c.ended }

// endReals destroys the reals on a cell that has ended. Whatever scripts do then, nothing comes
// back, since nothing can be made here any more.
func (c *Cell) endReals() {
	if !c.ended || len(c.reals) == 0 {
		return
	}
	for _, rec := range slices.Clone(c.reals) {
		if r := rec.real; r != nil && !r.leavesSpace() {
			r.Destroy()
		}
	}
	c.sweep()
}

// leavesSpace tells the script once that the space has ended, and reports whether the real is on its
// way out of it. TeleportPatience bounds that.
func (r *Real) leavesSpace() bool {
	if !r.toldEnd && r.gone == staying {
		r.toldEnd = true
		callback(r, "OnSpaceEnd", func(s SpaceLeaver) { s.OnSpaceEnd() })
	}
	return r.gone == staying && r.teleport != nil
}

// DestroySpace asks the CellAppMgr to end the space, with every entity on all its cells. It returns
// at once and cannot be cancelled; the request is repeated until the manager has it. A space from
// the cluster's configuration stays.
func (c *Cell) DestroySpace() { c.out.DestroySpace(c.space) }

// DestroySpace ends the space that the entity is in, this entity included; see Cell.DestroySpace.
// The script may run a few ticks longer.
func (r *Real) DestroySpace() {
	if r.gone == staying {
		r.cell.DestroySpace()
	}
}

// HadBased reports whether the cell has ever had a real with a base, and Occupied whether it has one
// now, or one is on its way from here to another cell. Those without a base are the space's own, and
// do not keep it: they were spawned there, by OnFirstCell or by each other, and end with it.
func (c Hosted) HadBased() bool { return c.hadBased }
func (c Hosted) Occupied() bool { return c.based > 0 || c.population.handoffs.BasedFrom(c.space) }
