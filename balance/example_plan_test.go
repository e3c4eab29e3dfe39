package balance_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// Two cells share a row of entities unevenly. Each period the manager observes, lets the policy
// plan, and applies the plan; the line comes to rest where both have about half.
func ExamplePolicy() {
	west, east := bsp.CellID{Term: 1, N: 1}, bsp.CellID{Term: 1, N: 2}
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: west, Created: true})
	if err := tree.Split(west, bsp.AxisX, 800, bsp.Leaf{Cell: east, Created: true}, true); err != nil {
		fmt.Println(err)
	}
	policy, err := balance.ClassicConfig{}.New(balance.Config{}, balance.Border{Band: 0.01}) // handed over at the line
	if err != nil {
		fmt.Println(err)
		return
	}
	var builder load.Builder
	// report is what a cell says of the entities in it: 100 in a row, 10 m apart, 0.004 cores each.
	report := func(cell bsp.CellID) balance.Cell {
		c := balance.Cell{ID: cell}
		var reals []load.Sample
		for i := range 100 {
			x := float32(5 + 10*i)
			if tree.At(float64(x), 0).Cell == cell {
				reals = append(reals, load.Sample{X: x, Load: 4_000_000})
				c.Load += 4_000_000
			}
		}
		c.Reals, c.Profile, c.Edges = len(reals), builder.Build(reals), builder.Edges(reals, load.Core/50)
		return c
	}

	for second := range 20 {
		plan := policy.Balance(&balance.Observation{
			Now:    time.Duration(second) * time.Second,
			Spaces: []balance.Space{{ID: 1, Tree: tree, Cells: []balance.Cell{report(west), report(east)}}},
		})
		err := plan.Apply(func(space uint32) *bsp.Tree { return tree }, nil) // Balance adds no cells
		if err != nil {
			fmt.Println(err)
		}
		if second%4 == 0 {
			line, _ := tree.Parent(west)
			fmt.Printf("after %2d s: line at %.0f, %d and %d entities\n", second+1, line.Line, report(west).Reals, report(east).Reals)
		}
	}
	// Output:
	// after  1 s: line at 740, 74 and 26 entities
	// after  5 s: line at 500, 50 and 50 entities
	// after  9 s: line at 500, 50 and 50 entities
	// after 13 s: line at 500, 50 and 50 entities
	// after 17 s: line at 500, 50 and 50 entities
}

// A CellApp is being shut down. Its only cell in the space first gets another one beside it, and
// retires once that is created.
func ExamplePlan_Apply() {
	first, second := netip.MustParseAddrPort("10.0.0.1:7000"), netip.MustParseAddrPort("10.0.0.2:7000")
	tree := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 1}, App: first, Created: true})
	apps := []balance.App{{ID: 1, Addr: first, Retiring: true}, {ID: 2, Addr: second}}
	policy, err := balance.ProfileConfig{}.New(balance.Config{}, balance.Border{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for pass := range 3 {
		o := balance.Observation{Now: time.Duration(3*pass) * time.Second, Apps: apps, Spaces: []balance.Space{{ID: 1, Tree: tree}}}
		plan := policy.Meta(&o)
		err := plan.Apply(func(space uint32) *bsp.Tree { return tree }, func(a *balance.Add) bsp.Leaf {
			fmt.Printf("pass %d: space %d gets a cell on app %d\n", pass, a.Space, a.App)
			return bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 2}, App: apps[a.App-1].Addr}
		})
		if err != nil {
			fmt.Println(err)
		}
		for _, r := range plan.Retires {
			fmt.Printf("pass %d: cell %v of space %d retires\n", pass, r.Cell, r.Space)
		}
		if pass == 1 { // its app confirms the new cell
			leaf, _, _ := tree.Leaf(bsp.CellID{Term: 1, N: 2})
			leaf.Created = true
		}
	}
	// Output:
	// pass 0: space 1 gets a cell on app 2
	// pass 2: cell 1.1 of space 1 retires
}
