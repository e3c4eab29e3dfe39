package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
)

// leave has a BaseApp retire, and returns its bases, and the players of those.
func (r *rig) leave(p *Process) (bases []entity.ID, own []*player) {
	r.eachBase(func(on *Process, _ *baseapp.BaseApp, b baseapp.BaseView) {
		if on == p {
			bases = append(bases, b.ID)
		}
	})
	for _, pl := range r.players {
		for _, id := range bases {
			if pl.id() == id {
				own = append(own, pl)
			}
		}
	}
	p.app.(*baseapp.BaseApp).Retire("maintenance")
	return bases, own
}

// gone waits until a BaseApp has left.
func (r *rig) gone2(p *Process, d time.Duration) {
	r.t.Helper()
	app := p.app.(*baseapp.BaseApp)
	r.until("the BaseApp has left", d, func() bool { return app.Retired() })
}

// TestLeave: a BaseApp retires while everyone plays. Its bases go on elsewhere, and its players hardly notice:
// all checkers run, and no connection counts as lost.
func TestLeave(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		t.Run(string(rune('0'+seed)), func(t *testing.T) {
			play(t, Options{Seed: 8200 + seed, CellApps: 2, BaseApps: 3, Replicas: 1, Players: 6, Rovers: 9, Balance: still(2)}, func(r *rig) {
				r.wait(2 * backupPeriod)
				bases, own := r.leave(r.baseApps[0])
				if len(bases) < 4 || len(own) == 0 {
					t.Fatalf("%d bases leave, %d of them players'", len(bases), len(own))
				}
				r.gone2(r.baseApps[0], 60*time.Second)
				for _, pl := range own {
					if s := pl.client.Stats(); s.Switched != 1 || s.Interrupted != 0 {
						t.Errorf("%s: switched %d times, interrupted %d times", pl.name, s.Switched, s.Interrupted)
					}
				}
				r.wait(5 * time.Second)
				r.baseApps[0].crash()
				r.baseApps[0].restartAt = r.now + time.Second
			})
		})
	}
}
