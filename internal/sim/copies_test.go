package sim

import (
	"fmt"
	"testing"
	"time"
)

// TestCopies lets CellApps and managers crash. The newest confirmed copy of each base is at its holders all
// the time, and at rest each base has its copies.
func TestCopies(t *testing.T) {
	for seed := uint64(1); seed <= 6; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runSeed(t, Options{
				Seed: 7000 + seed, CellApps: 2, BaseApps: 3 + int(seed%2), Players: 4, Rovers: 6, Lodgers: 3, Churn: true, Faults: 30 * time.Second,
				Crash: true, CrashManager: seed%2 == 0, Replicas: 1 + int(seed%2),
				Wild: Wild{Namers: 4 * int(seed%2), Gossips: 4},
			}, "")
		})
	}
}
