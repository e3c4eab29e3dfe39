package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/space/cellapp"
)

// When a CellApp dies, the game is told of all the land that its cell had, once, and of no other: in
// one piece or in several.
func TestLostArea(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			play(t, Options{Seed: seed, Balance: still(4)}, func(r *rig) { loseOne(t, r, r.cellApps[seed]) })
		})
	}
}

func loseOne(t *testing.T, r *rig, victim *Process) {
	r.wait(4 * time.Second)
	var land bsp.Rect
	for cell := range theCell(victim.app.(*cellapp.CellApp)) {
		land = cell.Area()
	}
	if len(r.world.inherited) > 0 || land.Empty() {
		t.Fatalf("there are %v before the death of %v", r.world.inherited, land)
	}
	victim.crash()
	within := func(area bsp.Rect) (sum float64) {
		bounds := land.Intersect(bsp.Around(0, 0, 1000))
		a := area.Intersect(bounds)
		return max(0, a.MaxX-a.MinX) * max(0, a.MaxZ-a.MinZ)
	}
	told := func() (sum float64) {
		for _, area := range r.world.inherited {
			sum += within(area)
		}
		return sum
	}
	r.until("all is told", 10*time.Second, func() bool { return told() >= within(land) })
	r.wait(5 * time.Second)
	for i, area := range r.world.inherited {
		if area.Intersect(land) != area {
			t.Errorf("%v is not of %v", area, land)
		}
		for _, other := range r.world.inherited[:i] {
			if area.Overlaps(other) {
				t.Errorf("%v and %v overlap", area, other)
			}
		}
	}
	for p, a := range r.liveCellApps() {
		for cell := range theCell(a) {
			if e := dataOf(cell, spacekey.LostArea); len(e.entries) > 0 {
				t.Errorf("%s still has the lost areas %v", p.Name, e.entries)
			}
		}
	}
	if told() != within(land) {
		t.Errorf("told of %v, the cell had %v", r.world.inherited, land)
	}
}
