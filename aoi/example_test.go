package aoi_test

import (
	"fmt"

	"github.com/cellscape/cellscape/aoi"
)

// A player sees at 50 metres and loses sight at 55; a wolf walks by.
func ExampleIndex() {
	var space aoi.Index
	player := space.Insert(1, 0, 0)
	space.AddTrigger(player, 50, 55)
	wolf := space.Insert(7, 100, 0)

	for _, x := range []float32{60, 52, 48, 53, 56} {
		space.Move(wolf, x, 0)
		space.Update(func(_ aoi.Trigger, _ aoi.Node, key uint64, enter bool) {
			fmt.Printf("wolf at %v: entity %d enters: %t\n", x, key, enter)
		})
	}
	// Output:
	// wolf at 48: entity 7 enters: true
	// wolf at 56: entity 7 enters: false
}

func ExampleIndex_InRange() {
	var space aoi.Index
	space.Insert(3, 4, 4)
	space.Insert(1, 0, 3)
	space.Insert(2, 9, 0)
	for key := range space.InRange(0, 0, 5) {
		fmt.Println("square", key)
	}
	for key := range space.InCircle(0, 0, 5) {
		fmt.Println("circle", key)
	}
	// Output:
	// square 1
	// square 3
	// circle 1
}
