package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cellapp"
)

// TestSmallQueues: queues are small enough to fill in an ordinary bad time. That costs
// time, not messages, and everyone finds back: above the limit channels to live peers
// ended, everyone resent all he had in one tick, and so on for ever.
func TestSmallQueues(t *testing.T) {
	for _, seed := range []uint64{3, 4, 9} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := optionsOf(seed)
			o.MaxQueued = SmallQueue
			runSeed(t, o, "")
		})
	}
}

// slowRun has one process slow down for 20 s, watches queues meanwhile, and demands that all
// converge afterwards as ever.
func slowRun(t *testing.T, o Options, who func(r *rig) *Process) {
	play(t, o, func(r *rig) {
		p := who(r)
		p.slowDown(20 * time.Second)
		var most, held, waiting int
		for range 200 {
			r.wait(100 * time.Millisecond)
			b := r.backlog()
			most, held, waiting = max(most, b.Bytes), max(held, b.Held), max(waiting, len(p.waiting))
		}
		t.Logf("%s: up to %d datagrams waited for it, %d found no room; at most %d bytes were queued for one app, %d of them held", p.Name, waiting, p.overrun, most, held)
		r.until("it has caught up", 10*time.Second, func() bool { return len(p.waiting) == 0 })
		r.until("all play", 10*time.Second, r.allPlaying)
	})
}

// backlog is the fullest way between apps.
func (r *rig) backlog() (worst wire.Backlog) {
	see := func(b wire.Backlog) {
		if b.Bytes > worst.Bytes {
			worst = b
		}
	}
	for _, p := range r.baseApps {
		if p.alive {
			see(p.app.(*baseapp.BaseApp).Backlog())
		}
	}
	r.eachCellApp(func(_ *Process, a *cellapp.CellApp) { see(a.Backlog()) })
	return worst
}

func TestBaseAppWithoutProcessor(t *testing.T) {
	slowRun(t, Options{Seed: 61, MaxQueued: SmallQueue}, func(r *rig) *Process { return r.baseApps[0] })
}

func TestCellAppWithoutProcessor(t *testing.T) {
	slowRun(t, Options{Seed: 62, MaxQueued: SmallQueue}, func(r *rig) *Process { return r.cellApps[0] })
}
