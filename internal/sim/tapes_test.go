package sim

import (
	"fmt"
	"testing"
	"time"
)

// The space is recorded while CellApps, BaseApps and the manager die, cells retire, and carriages take their
// passengers over the lines. What is played back was so.
func TestTapes(t *testing.T) {
	for _, seed := range andFurther(1, 2, 3, 4, 5, 6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			o := Options{Seed: seed, Recorded: true, Crash: true, CrashBase: seed%2 == 0, CrashManager: seed%3 == 0, Pause: seed%4 == 1, Retire: seed%3 == 1,
				Lookout: true, Replicas: 1, BaseApps: 3, Faults: 25 * time.Second, Wild: Wild{Carriages: 4, Stones: 2, Views: seed%2 == 1, Travellers: 2 * int(seed%2)}}
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Run(); err != nil {
				t.Fatalf("%v\n%s", err, replay(t, ""))
			}
			t.Logf("%d logs, %d chunks refused; %d times it is shown as it was by then, %d times as it was before", len(c.tapes.logs), c.tapes.refused, c.tapes.matched, c.tapes.late)
		})
	}
}
