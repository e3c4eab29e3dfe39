package balance_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// A single cell is too busy, and an app is free: the leaf is cut where half of its load lies on
// either side.
func Example() {
	cell, app := bsp.CellID{Term: 1, N: 1}, netip.MustParseAddrPort("10.0.0.1:7000")
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: cell, App: app, Created: true})
	var reals []load.Sample
	for i := range 100 {
		reals = append(reals, load.Sample{X: float32(10 * i), Z: float32(i % 10), Load: 4_000_000})
	}
	cfg := balance.Config{}.WithDefaults()
	apps := []balance.App{{ID: 1, Addr: app}, {ID: 2, Addr: netip.MustParseAddrPort("10.0.0.2:7000")}}

	policy, err := balance.ProfileConfig{}.New(cfg, balance.Border{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for pass := range 2 {
		apps[0].Report(400_000_000, cfg.Smoothing)
		plan := policy.Meta(&balance.Observation{
			Now:  time.Duration(pass) * cfg.MetaPeriod,
			Apps: apps,
			Spaces: []balance.Space{{ID: 1, Tree: tree, Cells: []balance.Cell{
				{ID: cell, App: 1, Load: 400_000_000, Reals: 100, Profile: load.Build(reals)},
			}}},
		})
		fmt.Println("empty:", plan.Empty())
		err := plan.Apply(func(uint32) *bsp.Tree { return tree }, func(a *balance.Add) bsp.Leaf {
			return bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 2}, App: apps[a.App-1].Addr}
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Print(tree)
	// Output:
	// empty: true
	// empty: false
	// version 1.1
	// x 495
	//   cell 1.1 10.0.0.1:7000 0 created
	//   cell 1.2 10.0.0.2:7000 0
}
