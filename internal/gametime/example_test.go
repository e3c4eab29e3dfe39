package gametime_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/gametime"
)

// A space has run at 400 thousandths since the cluster's tenth second.
func ExampleClock() {
	k := gametime.Clock{Number: 1, At: 10 * time.Second, Game: 10 * time.Second, Rate: 400}
	fmt.Println(k.GameAt(15 * time.Second))
	// Output: 12s
}
