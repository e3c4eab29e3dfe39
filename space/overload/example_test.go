package overload_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/space/overload"
)

// A crowd is too dense: for a minute each tick is as much work as there is time.
func Example() {
	throttle := overload.New(overload.Config{Patience: 10 * time.Second}.WithDefaults())
	for now := time.Duration(0); now < time.Minute; now += 100 * time.Millisecond {
		if throttle.Tick(now, load.Core, load.Core, false) && throttle.Step() < 4 {
			fmt.Printf("after %v clients have %d thousandths of their budgets\n", now, throttle.Degradation().Budget)
		}
	}
	// Output:
	// after 10s clients have 800 thousandths of their budgets
	// after 12s clients have 640 thousandths of their budgets
	// after 14s clients have 512 thousandths of their budgets
}
