package space

import (
	"errors"
	"slices"
)

// ErrEnded is returned by Spawn on a cell whose space has ended.
var ErrEnded = errors.New("space: the space has ended")

// End says that the space has ended. Every real on the cell is destroyed at the next
// tick, as by its own Destroy: its script hears OnDestroy, its base that the cell part
// is gone. So is what still arrives from cells that have not heard yet. The cell is
// Idle when all bases have.
func (c Hosted) End() { c.ended = true }

// Ended reports whether the space has ended, and everything on the cell with it.
func (c *Cell) Ended() bool { return c.ended }

// endReals destroys what there is on a cell that has ended. Scripts may answer the
// end with whatever they like; it does not come back, since nothing is made here.
func (c *Cell) endReals() {
	if !c.ended || len(c.reals) == 0 {
		return
	}
	for _, rec := range slices.Clone(c.reals) {
		if r := rec.real; r != nil {
			r.Destroy()
		}
	}
	c.sweep()
}

// DestroySpace asks the CellAppMgr to end the space, with every entity in it on all
// its cells. It returns at once and cannot be taken back; it is asked for until the
// manager has heard. A space of the cluster's configuration stays.
func (c *Cell) DestroySpace() { c.out.DestroySpace(c.space) }

// DestroySpace ends the space that the entity is in, this entity included; see
// Cell.DestroySpace. The script may run a few ticks longer.
func (r *Real) DestroySpace() {
	if r.gone == staying {
		r.cell.DestroySpace()
	}
}

// HadReal reports whether the cell has had a real at some time.
func (c Hosted) HadReal() bool { return c.held }
