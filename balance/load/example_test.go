package load_test

import (
	"fmt"

	"github.com/cellscape/cellscape/balance/load"
)

// Three reals have equal loads, and a fourth costs as much as the three together.
func Example() {
	profile := load.Build([]load.Sample{
		{X: 0, Load: 1e6}, {X: 10, Load: 1e6}, {X: 20, Load: 1e6}, {X: 100, Load: 3e6},
	})
	fmt.Println("half of the load lies below x =", profile.X[load.Slices/2])
	least, most := profile.X.Below(5)
	fmt.Printf("below x = 5: %g to %g of %d parts\n", least, most, load.Slices)
	// Output:
	// half of the load lies below x = 60
	// below x = 5: 5 to 5 of 32 parts
}
