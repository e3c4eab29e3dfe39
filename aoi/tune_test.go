package aoi

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestQueriesMeetFew: a query meets what is near, not all that there is, whatever triggers there are: a world
// where no player is yet has none, and one with traps has small ones.
func TestQueriesMeetFew(t *testing.T) {
	const nodes, side, reach = 10_000, 1600, 25
	for _, triggers := range []float32{0, 1, 100} {
		for _, first := range []int{0, 1000} { // queries before the grid is first laid out
			t.Run(fmt.Sprintf("triggers=%v/first=%d", triggers, first), func(t *testing.T) {
				var ix Index
				chance := rand.New(rand.NewPCG(1, 2))
				at := func() (x, z float32) { return chance.Float32() * side, chance.Float32() * side }
				list := make([]Node, nodes)
				for i := range list {
					x, z := at()
					list[i] = ix.Insert(uint64(i), x, z)
				}
				for i := 0; triggers > 0 && i < 100; i++ {
					ix.AddTrigger(list[i], triggers, triggers+1)
				}
				met, found, asked := 0, 0, 0
				query := func() {
					x, z := at()
					for range ix.InRange(x, z, reach) {
						found++
					}
					for _, run := range ix.grid.runs {
						met += len(run)
					}
					met += len(ix.strays)
					asked++
				}
				for range first {
					query()
				}
				ix.Update(func(Trigger, Node, uint64, bool) {})
				met, found, asked = 0, 0, 0
				for range 2 * tunePeriod {
					for i, n := range list { // a tenth of a second of a walk
						if i%2 == 0 {
							x, z := ix.Position(n)
							ix.Move(n, x+0.4, z)
						}
					}
					for range 10 {
						query()
					}
					ix.Update(func(Trigger, Node, uint64, bool) {})
				}
				if met > 20*found {
					t.Errorf("%d queries found %d nodes and met %d; cells of %v m", asked, found, met, ix.grid.cell)
				}
			})
		}
	}
}
