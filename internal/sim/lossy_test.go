package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// TestLossyConverges: where a third of all packets is lost and others overtake each other, clients hold
// in the end what is true of properties that nobody sends again, and hear calls in order.
func TestLossyConverges(t *testing.T) {
	long(t)
	play(t, Options{Seed: 68, CellApps: 3, Players: 12, Rovers: 6, Lossy: true}, func(r *rig) {
		r.net.SetLink(mercurytest.Link{Delay: 20 * time.Millisecond, Jitter: 150 * time.Millisecond, Loss: 0.33})
		r.wait(20 * time.Second)
		r.net.SetLink(cleanLink())
		stale, used := uint64(0), uint64(0)
		for _, pl := range r.players {
			s := pl.client.Stats()
			stale, used = stale+s.StaleNews, used+s.News
		}
		if used < 500 || stale == 0 {
			t.Errorf("%d pieces of news were used, %d were out of date", used, stale)
		}
	})
}

// TestLossyRests: of what went with a packet that was lost, clients are told for sure once it rests, without
// another change, and without a freeze, in which everything is told for sure.
func TestLossyRests(t *testing.T) {
	play(t, Options{Seed: 69, CellApps: 1, Players: 2, Rovers: -1, Lossy: true}, func(r *rig) {
		for _, pl := range r.players {
			pl.quiet = true
		}
		watcher, actor := r.players[0], r.players[1]
		r.place(watcher, property.Vector3{X: 20})
		r.place(actor, property.Vector3{X: 30})
		r.until("they meet", 5*time.Second, func() bool { return watcher.client.Entity(actor.id()) != nil })
		lost := 0
		r.lose = func(p *Process) bool {
			if p == watcher.p {
				lost++
			}
			return p == watcher.p
		}
		if err := actor.wear(); err != nil {
			t.Fatal(err)
		}
		seen := watcher.client.Entity(actor.id())
		hat := seen.Def.Property("hat").Index
		r.until("the change is seen", 2*time.Second, func() bool { return seen.Props.Get(hat).Int() == int64(actor.worn) })
		if lost == 0 {
			t.Error("no packet was lost")
		}
	})
}
