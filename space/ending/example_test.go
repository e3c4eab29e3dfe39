package ending_test

import (
	"fmt"

	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/ending"
)

// What a CellApp has of a match is kept if the match is over, and not if it goes on elsewhere.
func ExampleWhy() {
	ended := func(_ *space.Cell, why ending.Why) {
		if why == ending.SpaceEnded {
			fmt.Println("the match is over:", why)
		}
	}
	ended(nil, ending.Removed)
	ended(nil, ending.SpaceEnded)
	// Output: the match is over: space ended
}
