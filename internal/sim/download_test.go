package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// TestDownload: each player downloads four megabytes while it plays, over a network that loses
// packets. All get it whole but one who vanishes in the middle, and the base of each hears how it
// ended. The game goes on beside it as ever.
func TestDownload(t *testing.T) {
	play(t, Options{Seed: 71, Gift: 4 << 20}, func(r *rig) {
		r.net.SetLink(mercurytest.Link{Loss: 0.02, Delay: 30 * time.Millisecond, Jitter: 5 * time.Millisecond})
		r.until("all play", 10*time.Second, r.allPlaying)
		if r.world.taken == len(r.players) {
			t.Fatal("all gifts have come before they could be seen coming")
		}
		pl := r.players[0]
		pl.client.Close()
		pl.again = r.now + time.Second
		r.until("the script hears that the client is gone", 20*time.Second, func() bool { return r.world.lost == 1 })
		r.until("all gifts, and another for who came again", time.Minute, func() bool { return r.world.taken == len(r.players) && r.world.given == r.world.taken })
	})
}
