package sim

import (
	"testing"
	"time"
)

// TestGossips: scripts call each other while CellApps, a BaseApp and the CellAppMgr die and come back.
func TestGossips(t *testing.T) {
	play(t, Options{Seed: 70, Players: 1, Rovers: 1, Wild: Wild{Gossips: 8}, Balance: still(2)}, func(r *rig) {
		for _, p := range []*Process{r.cellApps[0], r.cellApps[1], r.manager, r.cellApps[0], r.baseApps[0], r.cellApps[1]} {
			r.wait(5 * time.Second)
			p.crash()
			r.wait(2 * time.Second)
			p.restartAt = r.now + time.Second
		}
		r.wait(8 * time.Second)
		t.Logf("%d gossips, answers: %v", len(r.world.gossips), r.world.answers)
		if r.world.answers["results"] < 200 || r.world.answers["game error"] < 20 || r.world.answers["no entity"] < 20 {
			t.Errorf("too few answers: %v", r.world.answers)
		}
	})
}
