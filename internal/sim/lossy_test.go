package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/client"
	"github.com/cellscape/cellscape/mercury/mercurytest"
	"github.com/cellscape/cellscape/property"
)

// TestLossyConverges: where a third of all packets is lost and others overtake each other, clients hold
// in the end what is true of properties that nobody sends again, and hear calls in order.
func TestLossyConverges(t *testing.T) {
	long(t)
	play(t, Options{Seed: 68, CellApps: 3, Players: 12, Rovers: 6, Lossy: true}, func(r *rig) {
		r.net.SetLink(mercurytest.Link{Delay: 20 * time.Millisecond, Jitter: 150 * time.Millisecond, Loss: 0.33})
		used, stale := r.news(20 * time.Second)
		r.net.SetLink(cleanLink())
		if used < 500 || stale == 0 {
			t.Errorf("%d pieces of news were used, %d were out of date", used, stale)
		}
	})
}

// news passes time, and counts the news that were used meanwhile, and those that were out of date:
// of all clients, also of those whose session has ended. A BaseApp may be taken for dead, and then
// players have new ones.
func (r *rig) news(d time.Duration) (used, stale uint64) {
	clients := map[*client.Client]bool{}
	for end := r.now + d; r.now < end; {
		r.wait(100 * time.Millisecond)
		for _, pl := range r.players {
			if pl.client != nil {
				clients[pl.client] = true
			}
		}
	}
	for c := range clients {
		s := c.Stats()
		used, stale = used+s.News, stale+s.StaleNews
	}
	return used, stale
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
