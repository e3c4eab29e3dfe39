package sim_test

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/sim"
)

// A seed is a whole run: a cluster that starts, suffers, heals and comes to rest.
func Example() {
	c, err := sim.New(sim.Options{Seed: 1, Crash: true, Pause: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Run())
	// Output: <nil>
}
