package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
)

// TestHeirs: a BaseApp dies when all that happened to its bases is in the copies that others hold. They
// go on where they were, and so do their players: nothing is lost, nothing comes twice, and the numbers of
// all calls go on.
func TestHeirs(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(string(rune('0'+seed)), func(t *testing.T) {
			play(t, Options{Seed: 8100 + seed, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 6, Rovers: 9, Balance: still(2)}, func(r *rig) {
				r.wait(3 * backupPeriod)
				r.observer.freeze(true)
				r.wait(3 * backupPeriod)
				dead := r.baseApps[0]
				var bases []entity.ID
				for b := range r.bases() {
					if b.p == dead {
						bases = append(bases, b.ID)
					}
				}
				if len(bases) < 4 {
					t.Fatalf("%d bases die", len(bases))
				}
				var own []*player
				for _, pl := range r.players {
					for _, id := range bases {
						if pl.id() == id {
							own = append(own, pl)
						}
					}
				}
				dead.crash()
				r.until("others have them", 20*time.Second, func() bool {
					n := 0
					for b := range r.bases() {
						for _, id := range bases {
							if b.ID == id && b.Live {
								n++
							}
						}
					}
					return n == len(bases)
				})
				for _, pl := range own {
					r.resumed(pl, 1)
				}
				r.observer.freeze(false)
				r.wait(5 * time.Second)
				dead.restartAt = r.now + time.Second
			})
		})
	}
}
