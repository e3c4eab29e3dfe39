package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
)

// uncopied has one lodger of a BaseApp go without copies, and waits until nobody has one. It
// returns that and another.
func (r *rig) uncopied(app *Process) (without, with entity.ID) {
	r.t.Helper()
	for b, l := range basesOf[*lodgerBase](r.Cluster) {
		switch {
		case b.p != app:
		case without == 0:
			without = b.ID
			l.SetAutoBackup(false)
		default:
			with = b.ID
		}
	}
	if with == 0 {
		r.t.Fatal("it has too few lodgers")
	}
	r.until("nobody has a copy", 10*backupPeriod, func() bool { return r.copiesOf(without) == 0 })
	r.wait(3 * backupPeriod)
	if n := r.copiesOf(without); n > 0 || r.copiesOf(with) == 0 {
		r.t.Errorf("%d copies of the one, %d of the other", n, r.copiesOf(with))
	}
	return without, with
}

func (r *rig) copiesOf(id entity.ID) (n int) {
	for _, p := range r.baseApps {
		if !p.alive {
			continue
		}
		for _, c := range p.app.(*baseapp.BaseApp).Copies() {
			if c.ID == id {
				n++
			}
		}
	}
	return n
}

func (r *rig) baseOf(id entity.ID) (on *Process) {
	for b := range r.bases() {
		if b.ID == id {
			on = b.p
		}
	}
	return on
}

// TestDiesWithItsApp: a base that wants no copies dies with its BaseApp, and its cell part with it.
// Others do not.
func TestDiesWithItsApp(t *testing.T) {
	play(t, Options{Seed: 8310, CellApps: 2, BaseApps: 3, Replicas: 1, Lodgers: 6, Players: 2, Rovers: 2, Balance: still(2)}, func(r *rig) {
		r.wait(5 * time.Second)
		dead := r.baseApps[0]
		without, with := r.uncopied(dead)
		dead.crash()
		dead.restartAt = r.now + 5*time.Second
		r.wait(10 * time.Second)
		if on := r.baseOf(without); on != nil {
			t.Errorf("it lives on %s", on.Name)
		}
		if on := r.baseOf(with); on == nil {
			t.Error("the other has died, too")
		}
		for v := range r.views() {
			if v.ID() == without {
				t.Errorf("%s has its cell part", v.p.Name)
			}
		}
	})
}

// TestLeavesWithItsApp: where a BaseApp retires, a base that wants no copies goes with the others.
func TestLeavesWithItsApp(t *testing.T) {
	play(t, Options{Seed: 8311, CellApps: 2, BaseApps: 3, Replicas: 1, Lodgers: 6, Players: 2, Rovers: 2, Balance: still(2)}, func(r *rig) {
		r.wait(5 * time.Second)
		origin := r.baseApps[0]
		without, with := r.uncopied(origin)
		r.leave(origin)
		r.left(origin, 60*time.Second)
		for _, id := range [...]entity.ID{without, with} {
			if on := r.baseOf(id); on == nil || on == origin {
				t.Errorf("%v is on %v", id, on)
			}
		}
		r.until("nobody has a copy again", 10*backupPeriod, func() bool { return r.copiesOf(without) == 0 })
	})
}
