package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/space"
)

// TestSmallQueues: queues are small enough to fill in an ordinary bad time. That costs time but no
// messages, and everyone finds back. (Above the limit, channels to live peers used to end, everyone
// then resent all they had in one tick, and so on for ever.)
func TestSmallQueues(t *testing.T) {
	for _, seed := range andFurther(3, 4, 9) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			o := optionsOf(seed)
			o.MaxQueued = SmallQueue
			runSeed(t, o, "")
		})
	}
}

// slowRun slows one process down for 20 s, watches queues in the meantime, and demands that
// everything converges afterwards as always.
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

// backlog is the fullest queue between apps.
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
	for _, a := range r.liveCellApps() {
		see(a.Backlog())
	}
	return worst
}

func TestBaseAppWithoutProcessor(t *testing.T) {
	slowRun(t, Options{Seed: 61, MaxQueued: SmallQueue}, func(r *rig) *Process { return r.baseApps[0] })
}

func TestCellAppWithoutProcessor(t *testing.T) {
	slowRun(t, Options{Seed: 62, MaxQueued: SmallQueue}, func(r *rig) *Process { return r.cellApps[0] })
}

// TestClientWithoutProcessor: a client that cannot take what it is sent is told less, and is as
// good as any other once it can.
func TestClientWithoutProcessor(t *testing.T) {
	play(t, Options{Seed: 63, MaxQueued: SmallQueue}, func(r *rig) {
		pl := r.players[0]
		pl.p.slowDown(20 * time.Second)
		r.wait(20 * time.Second)
		t.Logf("%d datagrams wait for it", len(pl.p.waiting))
		r.until("all play", 20*time.Second, r.allPlaying)
	})
}

// longQueue is the limit of queues and messages of a long overload. A real keeps what its base has
// not acknowledged, and takes it along when it is handed over. With a base that is slow for minutes
// it outgrows SmallQueue, and no channel would ever take it. A real with as much of that as it may
// have is one message, and may be above the limit.
const longQueue = 4 * SmallQueue

// TestLongOverload: for two minutes an app of each kind has a tenth of its processor, on top of a
// bad network. What waits stays bounded all the time, nothing is lost, and ten seconds after the
// end everyone is well. The seeds are those in which offers of frozen copies were piled up (65),
// calls were handled twice because their caller had been forgotten (77), and a late handoff made a
// real anew (81).
func TestLongOverload(t *testing.T) {
	long(t)
	for _, seed := range andFurther(65, 77, 81) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { longOverload(t, seed) })
	}
}

func longOverload(t *testing.T, seed uint64) {
	play(t, Options{Seed: seed, Players: 20, Rovers: 20, MaxQueued: longQueue}, func(r *rig) {
		r.net.SetLink(mercurytest.Link{Loss: 0.03, Delay: 10 * time.Millisecond, Jitter: 20 * time.Millisecond})
		most := 0
		for range 12 {
			r.baseApps[1].slowDown(11 * time.Second)
			r.cellApps[1].slowDown(11 * time.Second)
			for range 50 {
				r.wait(200 * time.Millisecond)
				most = max(most, r.backlog().Bytes)
			}
		}
		t.Logf("at most %d bytes were queued for one app; %d and %d datagrams wait", most, len(r.baseApps[1].waiting), len(r.cellApps[1].waiting))
		if most > longQueue+space.MaxTail {
			t.Errorf("%d bytes were queued for one app; everyone holds back from %d on", most, mercury.HighMark(longQueue))
		}
		r.net.SetLink(cleanLink())
		r.wait(10 * time.Second)
		if b := r.backlog(); b.Bytes > 0 {
			t.Errorf("10 s after the overload %d bytes still wait for %v", b.Bytes, b.To)
		}
		r.until("all play", 10*time.Second, r.allPlaying)
	})
}
