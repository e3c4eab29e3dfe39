package balance_test

import (
	"fmt"

	"github.com/cellscape/cellscape/balance"
)

// A studio's own scorer stands beside the built-in ones: here the machines of a certain rack come
// first.
func ExampleScorersByName() {
	scorers, err := balance.ScorersByName("limitedSpaces=8", "cellAppLoad")
	if err != nil {
		fmt.Println(err)
		return
	}
	rack := balance.Scorer{Name: "rack", Rank: func(c *balance.Candidate) (rank float64, ok bool) {
		if c.App.Addr.Addr().As4()[2] == 7 {
			return 0, true
		}
		return 1, true
	}}
	policy, err := balance.ProfileConfig{}.New(balance.Config{Scorers: append([]balance.Scorer{rack}, scorers...)}, balance.Border{})
	fmt.Println(policy != nil, err)

	_, err = balance.ScorersByName("cellLoad", "limitedSpaces")
	fmt.Println(err)
	// Output:
	// true <nil>
	// balance: scorer 1, "cellLoad": there is none of this name: set limitedSpaces=N, cellAppLoad, groupLoad, cellCellTraffic or baseCellTraffic
	// balance: scorer 2, "limitedSpaces": give the most cells of one app, at least 1, for example limitedSpaces=3
}
