package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space/cellapp"
)

// outcomes are how often what settlers asked for ended in each way.
type outcomes struct{ settled, sown map[placement.Code]int }

// settleDown runs a world with settlers, and adds what became of what they asked for.
func settleDown(t *testing.T, o Options, sum *outcomes) *Cluster {
	t.Helper()
	o.Wild.Settlers = 5
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, replay(t, ""))
	}
	t.Logf("cell parts: %v, seedlings: %v", c.world.settled, c.world.sown)
	if sum.settled == nil {
		*sum = outcomes{make(map[placement.Code]int), make(map[placement.Code]int)}
	}
	for code, n := range c.world.settled {
		sum.settled[code] += n
	}
	for code, n := range c.world.sown {
		sum.sown[code] += n
	}
	return c
}

// check wants both outcomes that there must be.
func (o *outcomes) check(t *testing.T) {
	t.Helper()
	for _, code := range []placement.Code{0, placement.NotFound} {
		if o.settled[code] == 0 {
			t.Errorf("no cell part was answered with %v: %v", code, o.settled)
		}
		if o.sown[code] == 0 {
			t.Errorf("no seedling was answered with %v: %v", code, o.sown)
		}
	}
}

// Settlers are told once of all that they ask for, over a sound network.
func TestSettlers(t *testing.T) {
	t.Parallel()
	var sum outcomes
	c := settleDown(t, Options{Seed: 5, Wild: Wild{Travellers: 3}, Link: mercurytest.Link{Delay: 5 * time.Millisecond}}, &sum)
	sum.check(t)
	turned := uint64(0)
	for _, p := range c.cellApps {
		if p.alive {
			turned += p.app.(*cellapp.CellApp).Counters().TurnedAway
		}
	}
	if turned == 0 || c.world.outcomes[placement.Full] == 0 {
		t.Errorf("%d were turned away; teleports: %v", turned, c.world.outcomes)
	}
}

// The same with all that can go wrong: losses, broken channels, the deaths of those whom they want to be
// near to, of bases and managers.
func TestSettlersInBadTimes(t *testing.T) {
	t.Parallel()
	var sum outcomes
	for seed := range uint64(4) {
		settleDown(t, Options{Seed: 200 + seed, Crash: true, CrashBase: seed%2 == 1, CrashManager: seed%2 == 0, Pause: true, Retire: seed == 3,
			Lodgers: 1, Wild: Wild{Travellers: 2, Hold: true, Breaks: true, Dooms: true}}, &sum)
	}
	sum.check(t)
}
