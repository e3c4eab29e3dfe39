package ghost_test

import (
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
)

// A deleted ghost leaves a tombstone: a late message cannot revive it, a newer one can.
func ExampleTombstones() {
	var graves ghost.Tombstones
	hop := entity.Order{Incarnation: 1, Hop: 3}
	graves.Bury(ghost.Head{ID: 7, Order: hop, Sequence: 20}, 0)
	fmt.Println("late:", graves.Forbids(ghost.Head{ID: 7, Order: hop, Sequence: 12}))
	fmt.Println("next hop:", graves.Forbids(ghost.Head{ID: 7, Order: hop.NextHop(), Sequence: 1}))
	graves.Expire(ghost.TombstoneLease)
	fmt.Println("after the lease:", graves.Forbids(ghost.Head{ID: 7, Order: hop, Sequence: 12}))
	// Output:
	// late: true
	// next hop: false
	// after the lease: false
}
