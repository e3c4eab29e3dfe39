package sim

import (
	"fmt"
	"testing"
	"time"
)

// TestBeacons: every BaseApp ensures the same entities, over a network that loses messages, while BaseApps,
// the BaseAppMgr and the managers die one after the other, and two BaseApps at once. There is never a
// second one of any, and in the end there is one of each.
func TestBeacons(t *testing.T) {
	for _, stores := range []bool{false, true} {
		t.Run(fmt.Sprint("with a store ", stores), func(t *testing.T) {
			o := Options{Seed: 64, Players: 1, Rovers: 1, BaseApps: 3, Replicas: 1, Wild: Wild{Beacons: 4}}
			if stores {
				o.Wild.Ledgers = 2
			}
			play(t, o, func(r *rig) {
				r.wait(8 * time.Second)
				for _, list := range [][]*Process{{r.baseApps[0]}, {r.logins[0]}, {r.baseApps[1], r.baseApps[2]}, {r.manager}, {r.baseApps[2], r.logins[0]}, r.baseApps} {
					for _, p := range list {
						p.crash()
						p.restartAt = r.now + 3*time.Second
					}
					r.wait(15 * time.Second)
				}
				if n := r.world.beacons; n < 8 {
					t.Errorf("%d were ever lit", n)
				}
			})
		})
	}
}

// TestBeaconsInBadTimes lets them be ensured under all that seeds do.
func TestBeaconsInBadTimes(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			o := Options{Seed: 6400 + seed, Players: 2, Rovers: 2, BaseApps: 3, Replicas: 1, CrashBase: true, Crash: true, CrashManager: seed%2 == 1, Faults: 40 * time.Second, Wild: Wild{Beacons: 3, Breaks: true}}
			if seed%3 == 0 {
				o.Wild.Ledgers, o.Wild.Loans = 3, true
			}
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Run(); err != nil {
				t.Error(err)
			}
		})
	}
}
