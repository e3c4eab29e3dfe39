package sim

import (
	"testing"
	"time"
)

// TestKilledAtRest kills a CellApp when its players have just come to rest, so that the verdict
// falls in a frozen world. The restored reals stand where their backups say; what the clients said
// before they were put back is void. (A client that had said where it rests used to be put back,
// and its real was then moved there by the replayed message: 16 of 60 clients ended up somewhere
// else than their reals.)
func TestKilledAtRest(t *testing.T) {
	for seed := range uint64(6) {
		c, err := New(Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.procs {
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
		}
		steps := []func() error{
			func() error { return c.runUntil(20*time.Second, c.allPlaying) },
			func() error { return c.runFor(12 * time.Second) },
			func() error {
				c.cellApps[seed%4].crash()
				for _, pl := range c.players {
					pl.resting = true
				}
				return c.runFor(time.Second)
			},
			func() error { c.observer.freeze(true); return c.runFor(15 * time.Second) },
			c.rest,
		}
		for _, step := range steps {
			if err := step(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}
