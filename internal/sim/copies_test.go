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

// TestBasesDie lets BaseApps crash. What a copy was known to have is kept, and everyone and everything goes on
// in the next lives of the bases. In these seeds bases outlived two deaths, holders came back, and clients came
// back to a base that has forgotten what they know.
func TestBasesDie(t *testing.T) {
	for _, seed := range []uint64{1, 12, 19, 48} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runSeed(t, Options{
				Seed: 7000 + seed, CellApps: 2, BaseApps: 3 + int(seed%2), Players: 4, Rovers: 6, Faults: 30 * time.Second,
				CrashBase: true, Replicas: 1 + int(seed%2),
			}, "")
		})
	}
}
