package balance_test

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// A single cell is too busy, and an app is free: the leaf is cut where half of its load lies on either side.
func Example() {
	cell := bsp.CellID{Term: 1, N: 1}
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: cell, Created: true})
	var reals []load.Sample
	for i := range 100 {
		reals = append(reals, load.Sample{X: float32(10 * i), Z: float32(i % 10), Load: 4_000_000})
	}

	b, err := balance.New(balance.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for now := range 2 {
		plan := b.Plan(balance.Observation{
			Now:  time.Duration(now) * time.Second,
			Tree: tree,
			Cells: []balance.Cell{
				{ID: cell, App: 1, Load: 400_000_000, Reals: 100, Profile: load.Build(reals)},
			},
			Apps: []balance.App{{ID: 1, Load: 400_000_000, Cells: 1}, {ID: 2}},
		})
		fmt.Println("empty:", plan.Empty())
		if err := plan.Apply(tree, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 2}}); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Print(tree)
	// Output:
	// empty: true
	// empty: false
	// version 1.1
	// x 495
	//   cell 1.1 - 0 created
	//   cell 1.2 - 0
}
