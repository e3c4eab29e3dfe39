package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// travel runs a world in which all are teleported, and adds up how that ended.
func travel(t *testing.T, o Options, outcomes map[entity.TeleportCode]int) {
	t.Helper()
	o.Wild.Travellers = 6
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	// order does not show: each is added by itself
	for code, n := range c.world.outcomes {
		outcomes[code] += n
	}
}

// wantAll wants every outcome that a few such worlds must have.
func wantAll(t *testing.T, outcomes map[entity.TeleportCode]int) {
	t.Helper()
	for _, code := range []entity.TeleportCode{0, entity.TeleportVetoed, entity.TeleportForbidden, entity.TeleportNoSpace} {
		if outcomes[code] == 0 {
			t.Errorf("no teleport ended with %v: %v", code, outcomes)
		}
	}
	t.Logf("outcomes: %v", outcomes)
}

// All are teleported in every way, over a sound network, and each teleport ends once.
func TestTravellers(t *testing.T) {
	t.Parallel()
	outcomes := map[entity.TeleportCode]int{}
	travel(t, Options{Seed: 3, Link: mercurytest.Link{Delay: 5 * time.Millisecond}}, outcomes)
	wantAll(t, outcomes)
}

// The same with all that can go wrong: losses, broken channels, the deaths of origins, destinations,
// bases and managers.
func TestTravellersInBadTimes(t *testing.T) {
	t.Parallel()
	outcomes := map[entity.TeleportCode]int{}
	for seed := range uint64(4) {
		travel(t, Options{Seed: 100 + seed, Crash: true, CrashBase: seed%2 == 1, CrashManager: seed%2 == 0, Pause: true, Retire: seed == 3,
			Lodgers: 2, Wild: Wild{Clocks: 1, Stones: 2, Hold: true, Breaks: true, Dooms: true}}, outcomes)
	}
	wantAll(t, outcomes)
}
