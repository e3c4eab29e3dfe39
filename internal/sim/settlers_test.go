package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/cellapp"
)

// settleDown runs a world with settlers, and wants every outcome that it must have.
func settleDown(t *testing.T, o Options) {
	t.Helper()
	o.Wild.Settlers = 5
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, replay(t, ""))
	}
	for _, code := range []placement.Code{0, placement.NotFound} {
		if c.world.settled[code] == 0 {
			t.Errorf("no cell part was answered with %v: %v", code, c.world.settled)
		}
	}
	for _, code := range []placement.Code{0, placement.NotFound} {
		if c.world.sown[code] == 0 {
			t.Errorf("no seedling was answered with %v: %v", code, c.world.sown)
		}
	}
	turned := uint64(0)
	for _, p := range c.cellApps {
		if p.alive {
			turned += p.app.(*cellapp.CellApp).Counters().TurnedAway
		}
	}
	if c.opts.Wild.Travellers > 2 && (turned == 0 || c.world.outcomes[placement.Full] == 0) {
		t.Errorf("%d were turned away; teleports: %v", turned, c.world.outcomes)
	}
	t.Logf("cell parts: %v, seedlings: %v", c.world.settled, c.world.sown)
}

// Settlers are told once of all that they ask for, over a sound network.
func TestSettlers(t *testing.T) {
	t.Parallel()
	settleDown(t, Options{Seed: 5, Wild: Wild{Travellers: 3}, Link: mercurytest.Link{Delay: 5 * time.Millisecond}})
}

// The same with all that can go wrong: losses, broken channels, the deaths of those whom they want to be
// near to, of bases and managers.
func TestSettlersInBadTimes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		settleDown(t, Options{Seed: 200 + seed, Crash: true, CrashBase: seed%2 == 1, CrashManager: seed%2 == 0, Pause: true, Retire: seed == 3,
			Lodgers: 1, Wild: Wild{Travellers: 2, Hold: true, Breaks: true, Dooms: true}})
	}
}
