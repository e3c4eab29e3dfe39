package baseapp

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A base restores its real as soon as all who mourn have done so, in whatever order the messages
// come, and not before: within offerGrace one of them may still have the real.
func TestMourning(t *testing.T) {
	died := func(mourners ...mercury.Address) *wire.AppDead {
		return &wire.AppDead{Role: wire.CellApp, App: appX, Mourners: mourners}
	}
	for _, c := range []struct {
		name string
		say  func(r *rig)
		asks bool
	}{
		{"all have mourned", func(r *rig) {
			r.say(r.managers, died(appY, appZ))
			r.tell(appY, &wire.Mourned{App: appX})
			if len(told[wire.Locate](r, cellAppMgr)) != 0 {
				t.Error("it did not wait for the second")
			}
			r.tell(appZ, &wire.Mourned{App: appX})
		}, true},
		{"before the verdict", func(r *rig) {
			r.tell(appZ, &wire.Mourned{App: appX})
			r.tell(appZ, &wire.Mourned{App: appX})
			r.tell(appY, &wire.Mourned{App: appX})
			r.say(r.managers, died(appY, appZ))
		}, true},
		{"one dies as well", func(r *rig) {
			r.say(r.managers, died(appY, appZ))
			r.tell(appZ, &wire.Mourned{App: appX})
			r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appY, Mourners: []mercury.Address{appZ}})
		}, true},
		{"one twice", func(r *rig) {
			r.say(r.managers, died(appY, appZ))
			r.tell(appZ, &wire.Mourned{App: appX})
			r.tell(appZ, &wire.Mourned{App: appX})
		}, false},
		{"of another", func(r *rig) {
			r.say(r.managers, died(appY))
			r.tell(appY, &wire.Mourned{App: appZ})
		}, false},
		{"nobody is said to mourn", func(r *rig) {
			r.say(r.managers, died())
			r.tell(appY, &wire.Mourned{App: appX})
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := joinedRig(t)
			r.live()
			r.take(cellAppMgr)
			c.say(r)
			if n := len(told[wire.Locate](r, cellAppMgr)); n > 1 || n == 1 != c.asks {
				t.Errorf("asked %d times", n)
			}
			r.pass(2 * offerGrace)
			if n := len(told[wire.Locate](r, cellAppMgr)); !c.asks && n == 0 {
				t.Error("the grace did not end")
			}
			r.pass(earlyLease)
			if len(r.a.mournings) != 0 {
				t.Errorf("%d deaths are mourned for ever", len(r.a.mournings))
			}
		})
	}
}

// What a mourner offers comes before its word that it has mourned, and is restored.
func TestOfferOfAMourner(t *testing.T) {
	r := joinedRig(t)
	id, _ := r.live()
	r.say(r.managers, &wire.AppDead{Role: wire.CellApp, App: appX, Mourners: []mercury.Address{appY}})
	r.take(cellAppMgr)
	r.tell(appY, &migrate.Offer{ID: id, Order: entity.Order{Incarnation: 1, Hop: 1}, Space: 1, Parts: []byte("offer")})
	r.tell(appY, &wire.Mourned{App: appX})
	if c := r.located(id, appZ); string(c.Parts) != "offer" {
		t.Errorf("restored by %q", c.Parts)
	}
}

// Words about deaths that nobody confirms are bounded.
func TestMourningsAreBounded(t *testing.T) {
	r := joinedRig(t)
	for i := range 2 * maxMournings {
		r.tell(appY, &wire.Mourned{App: address(9, uint32(i+1))})
	}
	if n := len(r.a.mournings); n != maxMournings {
		t.Errorf("%d", n)
	}
	if !slices.ContainsFunc(r.a.mournings, func(m mourning) bool { return m.dead == address(9, 2*maxMournings) }) {
		t.Error("the newest was dropped")
	}
}

// While a space has no cell the base asks soon again, and less and less often.
func TestLocateSoonAgain(t *testing.T) {
	l := linkAt(t, linkLocating)
	now, asked := time.Duration(0), 1
	for ; now < 4*locateRetry; now += locateFirst {
		l.Located(now, nowhere)
		if l.Step(now + locateFirst) {
			asked++
		}
	}
	if asked < 5 || asked > 10 {
		t.Errorf("asked %d times in four seconds", asked)
	}
}
