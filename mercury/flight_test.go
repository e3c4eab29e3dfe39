package mercury_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// Config.LeastFlight lets a new channel have a server's tick in flight at once, in spite of a round
// trip of which nothing is known but its length. Without it the window has to grow, a round trip at
// a time.
func TestLeastFlight(t *testing.T) {
	const (
		delay = 25 * time.Millisecond
		leave = 10 * time.Millisecond // in which LeastFlight bytes may leave
	)
	tick := chaosFlow{size: 1200, every: 100 * time.Millisecond, burst: 400}
	took := func(leastFlight int) time.Duration {
		cfg := mercury.Config{LeastFlight: leastFlight}
		g := newChaosGame(t, 1, cfg, mercurytest.Link{Delay: delay}, tick, chaosFlow{})
		g.play(tick.every)
		g.drain()
		return percentile(g.sides[0].delays, 100)
	}
	with, without := took(mercury.ServerFlight), took(0)
	t.Logf("a tick of %d bytes takes %v, %v without LeastFlight", tick.burst*tick.size, with, without)
	if most := delay + leave; with > most {
		t.Errorf("a tick takes %v, want at most %v", with, most)
	}
	if least := 2 * delay; without < delay+least {
		t.Errorf("a tick takes %v without LeastFlight: the path shows no difference", without)
	}
}
