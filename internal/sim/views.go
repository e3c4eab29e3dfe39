package sim

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space"
)

// In a world with views the scripts of players change all the time how far and how much their clients
// see, and whom they do not see. Once the world is calm, all see as the configuration says, so the
// checks of what clients hold are those of any other world: whatever was set on the way, on whichever
// cell, and was lost or kept with an incarnation, must have left nothing behind.

// view changes something about what a player sees, or how it is seen.
func (w *world) view(r *space.Real) {
	if !w.views {
		return
	}
	if w.calm || w.hush {
		plainly(r)
		return
	}
	c := r.Chance()
	switch c.IntN(7) {
	case 0:
		_ = r.SetAoI(aoiRadius*(0.2+c.Float32()*0.8), aoiHysteresis)
	case 1:
		_ = r.SetAoI(0, 0)
	case 2:
		r.SetDetailFactor(0.1 + c.Float32()*0.9)
	case 3, 4:
		if ids := neighbours(r); len(ids) > 0 {
			id := ids[c.IntN(len(ids))]
			_ = r.SetHidden(id, !r.Hidden(id))
		}
	case 5:
		r.SetWithheld(c.IntN(2) == 0)
	case 6:
		r.SetAlwaysDetailed(c.IntN(2) == 0)
	}
}

// plainly undoes all of that.
func plainly(r *space.Real) {
	_ = r.SetAoI(0, 0)
	r.SetDetailFactor(1)
	r.SetWithheld(false)
	r.SetAlwaysDetailed(false)
	for _, id := range neighbours(r) {
		_ = r.SetHidden(id, false)
	}
}

// neighbours returns whom there is on the cell.
func neighbours(r *space.Real) (ids []entity.ID) {
	for v := range r.EntitiesInRange(10 * aoiRadius) {
		ids = append(ids, v.ID())
	}
	return ids
}
