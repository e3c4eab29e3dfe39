package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/space"
)

// In a world with ranges the scripts of players ask who is near, in every beat, near and far, and
// compare the answer with all whom their cell has at that moment.

// askAround asks once.
func (w *world) askAround(r *space.Real) {
	if !w.ranges {
		return
	}
	c := r.Chance()
	radius := float32(math.Pow(2, c.Float64()*10)) // 1 to 1024 m
	w.asked++
	var last entity.ID
	found := map[entity.ID]bool{}
	for v := range r.EntitiesInRange(radius) {
		if v.ID() <= last {
			w.expect(fmt.Errorf("%s finds %s after %s", r.ID(), v.ID(), last), nil)
		}
		last = v.ID()
		found[last] = true
	}
	for _, v := range w.around(r) {
		// At the edge of a ghost's place the index may round.
		d := apart(r.Position(), v.Position())
		if near := d <= float64(radius); near != found[v.ID()] && math.Abs(d-float64(radius)) > 0.01 {
			w.expect(fmt.Errorf("%s finds within %g m %t, which is %.2f m away: %s at %v", r.ID(), radius, found[v.ID()], d, v.ID(), v.Position()), nil)
		}
		delete(found, v.ID())
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		w.expect(fmt.Errorf("%s finds %s, which is not on its cell", r.ID(), id), nil)
	}
}

// around returns all others on the cell of a real.
func (c *Cluster) around(r *space.Real) (others []space.View) {
	for own := range c.reals() {
		if own.Script() != r.Script() {
			continue
		}
		for v := range own.cell.Views() {
			if v.ID() != r.ID() {
				others = append(others, v)
			}
		}
	}
	return others
}
