package bsp_test

import (
	"fmt"

	"github.com/cellscape/cellscape/bsp"
)

func Example() {
	west, east := bsp.CellID{Term: 1, N: 1}, bsp.CellID{Term: 1, N: 2}
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: west, Created: true})
	if err := tree.Split(west, bsp.AxisX, 100, bsp.Leaf{Cell: east}, true); err != nil {
		fmt.Println(err)
	}

	fmt.Println("at 99.9:", tree.At(99.9, 0).Cell)
	fmt.Println("at 100:", tree.At(100, 0).Cell)
	for rect, leaf := range tree.Overlapping(bsp.Around(90, 0, 20)) {
		fmt.Println("near 90:", leaf.Cell, rect)
	}

	line, _ := tree.Parent(east)
	if err := tree.MoveLine(line.ID, 80); err != nil {
		fmt.Println(err)
	}
	fmt.Print(tree)
	// Output:
	// at 99.9: 1.1
	// at 100: 1.2
	// near 90: 1.1 [-Inf,100)x[-Inf,+Inf)
	// near 90: 1.2 [100,+Inf)x[-Inf,+Inf)
	// version 1.1
	// x 80
	//   cell 1.1 - 0 created
	//   cell 1.2 - 0
}
