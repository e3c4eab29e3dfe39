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

// A manager tells the geometry, and a CellApp follows it. The delta that follows from a lost one is
// held until the repair.
func ExampleFollower() {
	tree := bsp.New(bsp.Version{}, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 1}, Created: true})
	manager := bsp.NewPublisher(1, 8)
	var app bsp.Follower

	publish := func() (before bsp.Version) {
		if last := manager.Tree(); last != nil {
			before = last.Version()
		}
		if _, _, err := manager.Publish(tree); err != nil {
			fmt.Println(err)
		}
		return before
	}
	take := func(msg []byte) {
		head, _ := bsp.ParseHead(msg)
		changed, err := app.Take(msg)
		fmt.Println(head, "changed:", changed, "error:", err)
	}

	take(manager.Message(publish())) // the zero version asks for a whole tree
	east := bsp.CellID{Term: 1, N: 2}
	if err := tree.Split(tree.At(0, 0).Cell, bsp.AxisX, 100, bsp.Leaf{Cell: east}, true); err != nil {
		fmt.Println(err)
	}
	manager.Message(publish()) // lost on its way
	if err := tree.Retire(east); err != nil {
		fmt.Println(err)
	}
	take(manager.Message(publish()))

	from, now := app.Lacks()
	fmt.Println("lacks something after", from, now)
	take(manager.Message(from))
	fmt.Print(app.Tree())
	// Output:
	// tree 1.1 changed: true error: <nil>
	// delta 1.2 to 1.3 changed: false error: <nil>
	// lacks something after 1.1 true
	// delta 1.1 to 1.3 changed: true error: <nil>
	// version 1.3
	// x 100
	//   cell 1.1 - 0 created
	//   cell 1.2 - 0 retiring
}
