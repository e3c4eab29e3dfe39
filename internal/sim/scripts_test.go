package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// playedOut runs a world whose scripts do what the option says, under all that seeds do.
func playedOut(t *testing.T, seed uint64, wild Wild) *Cluster {
	t.Helper()
	c, err := New(Options{Seed: seed, Crash: seed%2 == 0, Pause: true, Retire: seed%3 == 0, Faults: 20 * time.Second, Wild: wild})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Error(err)
	}
	return c
}

// TestIdols: what scripts add and remove by hand is shown, and nothing else.
func TestIdols(t *testing.T) {
	shown := 0
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := playedOut(t, 7100+seed, Wild{Idols: 8})
			shown += c.world.shown
		})
	}
	if shown < 40 {
		t.Errorf("%d idols were shown in the end", shown)
	}
}

// TestTowers: what is big is seen, and has ghosts, from afar.
func TestTowers(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { playedOut(t, 7200+seed, Wild{Towers: 6}) })
	}
}

// TestSentries: traps tell of each who comes and goes by turns, over lines and restores.
func TestSentries(t *testing.T) {
	sprung := 0
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := playedOut(t, 7600+seed, Wild{Sentries: 6})
			sprung += c.world.sprung
		})
	}
	if t.Logf("traps were sprung %d times", sprung); sprung < 1000 {
		t.Errorf("traps were sprung %d times", sprung)
	}
}

// TestRiders: who rides on a vehicle goes where that goes, over lines, restores and teleports, and all see
// it there.
func TestRiders(t *testing.T) {
	boarded, atRest := 0, 0
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := playedOut(t, 7700+seed, Wild{Carriages: 8})
			boarded, atRest = boarded+c.world.boarded, atRest+c.world.ridesAtRest
		})
	}
	if t.Logf("%d rides, %d seats taken at rest", boarded, atRest); boarded < 300 || atRest < 40 {
		t.Errorf("%d rides, %d seats taken at rest", boarded, atRest)
	}
}

// TestKicks: who is kicked is told why, and nobody else is.
func TestKicks(t *testing.T) {
	kicks, told := 0, 0
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := playedOut(t, 7300+seed, Wild{Kicks: true, Twins: 4, Relogins: true})
			kicks += len(c.world.kicked)
			for _, k := range c.world.kicked {
				if k.told {
					told++
				} else {
					t.Logf("%s at %v was not told", k.reason, k.at)
				}
			}
		})
	}
	if t.Logf("%d kicks, %d were told", kicks, told); kicks < 40 || told < kicks*3/4 {
		t.Errorf("of %d kicks %d were told", kicks, told)
	}
}

// TestWalls: nobody is seen where scripts let no client go, whichever way they refuse.
func TestWalls(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := playedOut(t, 7400+seed, Wild{Walls: true})
			for _, how := range []string{"corrected", "stays", "moved by the hook", "refused"} {
				if c.world.walled[how] < 10 {
					t.Errorf("%d times it was %s", c.world.walled[how], how)
				}
			}
			if !slices.ContainsFunc(c.players, func(pl *player) bool { return !pl.sneaks }) {
				t.Error("all sneak")
			}
		})
	}
}

// TestRanges: who asks is told of all who are near, and of nobody else.
func TestRanges(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if c := playedOut(t, 7500+seed, Wild{Ranges: true}); c.world.asked < 500 {
				t.Errorf("%d questions", c.world.asked)
			}
		})
	}
}
