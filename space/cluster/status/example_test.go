package status_test

import (
	"fmt"

	"github.com/cellscape/cellscape/space/cluster/status"
)

// Metrics are published with one loop: a counter that is new needs no line.
func ExampleCounters_All() {
	w := status.World{Counters: status.Counters{Migrations: 3, Refused: 1}}
	for name, n := range w.Counters.All() {
		if *n > 0 {
			fmt.Printf("cellscape_total{of=%q} %d\n", name, *n)
		}
	}
	// Output:
	// cellscape_total{of="Migrations"} 3
	// cellscape_total{of="Refused"} 1
}
