package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance"
)

// withLand returns the options of a run whose space has land that takes time to load. Cells come,
// go and are moved by their load. In every second run others retire as well, and in one of three
// the CellAppMgr crashes.
func withLand(policy balance.PolicyConfig, seed uint64) Options {
	return Options{
		Seed: seed, Geometry: true, CellApps: 5, Players: 10, Rovers: 10,
		Crash: seed%4 != 0, Pause: seed%5 != 0, Retire: seed%2 == 0, CrashManager: seed%3 == 0,
		Balance: Balancing{
			Config: balance.Config{MetaPeriod: time.Second, MinLoadingArea: 60000},
			Border: balance.Border{MaxSlice: 0.1},
			Policy: policy,
		},
	}
}

// landPolicies add and give back cells even for little load.
func landPolicies() []balance.PolicyConfig {
	return []balance.PolicyConfig{balance.ProfileConfig{TargetLoad: 0.1}, balance.ClassicConfig{MetaTolerance: 0.02, LowerBound: 0.02}}
}

// TestLand: in a space with geometry, nobody is made in, restored to or handed over to a cell that
// has not loaded the land there, whatever cells are added, cut, moved and retired, and whoever
// dies. In the end everything is loaded and at rest.
func TestLand(t *testing.T) {
	t.Parallel()
	for _, policy := range landPolicies() {
		t.Run(policy.Name(), func(t *testing.T) {
			t.Parallel()
			for _, seed := range andFurther(0, 1, 2, 3, 4, 5) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					o := withLand(policy, seed)
					r := runSeed(t, o, "")
					if r.Migrations == 0 || !o.CrashManager && (r.Added == 0 || r.LinesMoved == 0) { // a new manager counts anew
						t.Errorf("nothing to see: %+v", r)
					}
				})
			}
		})
	}
}

// TestLandIsGivenBack: a space that loads is given cells to share the work, and gives them back
// when everything is loaded. A CellApp may be shut down in the meantime.
func TestLandIsGivenBack(t *testing.T) {
	for _, policy := range landPolicies() {
		t.Run(policy.Name(), func(t *testing.T) {
			o := withLand(policy, 0)
			o.Load, o.Retire = 1e5, true
			o.Balance.Calm = true
			most := 0
			play(t, o, func(r *rig) {
				cells := func() int {
					n := r.observer.last.Cells
					most = max(most, n)
					return n
				}
				r.until("there are helpers", 20*time.Second, func() bool { return cells() >= 3 })
				for _, p := range r.cellApps {
					if cellIn(p, theSpace) != nil {
						r.retire(p)
						r.until(p.Name+" has retired", 60*time.Second, func() bool { return p.starts > 1 })
						break
					}
				}
				r.until("the helpers are given back", 60*time.Second, func() bool { return cells() == 1 })
			})
			if most < 3 {
				t.Errorf("%d cells at most", most)
			}
		})
	}
}
