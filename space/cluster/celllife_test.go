package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster"
	"github.com/cellscape/cellscape/space/ending"
)

// A game hears that its cells end, whether a CellApp retires, or the world is stopped with or without an order
// to its processes; but not from a CellApp that is killed.
func TestCellsEnd(t *testing.T) {
	for name, stop := range map[string]func(*cluster.Cluster) error{
		"stop": (*cluster.Cluster).Stop,
		"shutdown": func(c *cluster.Cluster) error {
			_, err := c.Shutdown(context.Background(), "the end of the test")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex // the CellApps have a goroutine each
			made, ends := 0, map[ending.Why]int{}
			cfg := world(t)
			cfg.Balance.MinCells = 2
			cfg.CellScripts.OnNewCell(func(*space.Cell) { mu.Lock(); made++; mu.Unlock() })
			cfg.CellScripts.OnCellEnd(func(_ *space.Cell, why ending.Why) { mu.Lock(); ends[why]++; mu.Unlock() })
			counts := func() []int {
				mu.Lock()
				defer mu.Unlock()
				return []int{made, ends[ending.Removed], ends[ending.Stopped]}
			}
			until := func(want ...int) {
				t.Helper()
				for end := time.Now().Add(patience); !slices.Equal(counts(), want); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("made, removed and stopped: %v, want %v", counts(), want)
					}
				}
			}
			c, err := cluster.Start(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Stop()
			until(2, 0, 0)
			if err := c.KillCellApp(0); err != nil { // what is there is lost with it
				t.Fatal(err)
			}
			if err := c.AddCellApp(); err != nil {
				t.Fatal(err)
			}
			until(3, 0, 0)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := c.RetireCellApp(ctx, 1, "test"); err != nil {
				t.Fatal(err)
			}
			until(3, 1, 0)
			if err := stop(c); err != nil {
				t.Fatal(err)
			}
			until(3, 1, 1)
		})
	}
}
