package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// travel runs a world in which all are teleported, and wants every outcome that it must have.
func travel(t *testing.T, o Options) {
	t.Helper()
	o.Wild.Travellers = 6
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	for _, code := range []entity.TeleportCode{0, entity.TeleportVetoed, entity.TeleportForbidden, entity.TeleportNoSpace} {
		if c.world.outcomes[code] == 0 {
			t.Errorf("no teleport ended with %v: %v", code, c.world.outcomes)
		}
	}
	t.Logf("outcomes: %v", c.world.outcomes)
}

// All are teleported in every way, over a sound network, and each teleport ends once.
func TestTravellers(t *testing.T) {
	t.Parallel()
	travel(t, Options{Seed: 3, Link: mercurytest.Link{Delay: 5 * time.Millisecond}})
}

// The same with all that can go wrong: losses, broken channels, the deaths of origins, destinations,
// bases and managers.
func TestTravellersInBadTimes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		travel(t, Options{Seed: 100 + seed, Crash: true, CrashBase: seed%2 == 1, CrashManager: seed%2 == 0, Pause: true, Retire: seed == 3,
			Lodgers: 2, Wild: Wild{Clocks: 1, Stones: 2, Hold: true, Breaks: true, Dooms: true}})
	}
}
