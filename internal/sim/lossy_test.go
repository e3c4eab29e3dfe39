package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
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
