package mercury_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// A copy rides in the next packet that goes anyway, so a message that was lost is late by the time
// between two messages, and by twice that when its copy is lost as well. Whoever speaks seldom does not
// wait for the next message: the first copy goes by itself, and the second with that message.
func TestCopiesDoNotWait(t *testing.T) {
	const delay, alone, slack = 25 * time.Millisecond, 16 * time.Millisecond, 2 * time.Millisecond
	for _, every := range []time.Duration{16 * time.Millisecond, 33 * time.Millisecond, 100 * time.Millisecond} {
		for _, test := range []struct {
			loss float64
			wait time.Duration
		}{{0.05, min(every, alone)}, {0.10, max(every, 2*alone)}} {
			t.Run(fmt.Sprintf("a message every %v, %v lost", every, test.loss), func(t *testing.T) {
				up := chaosFlow{size: 50, every: every, burst: 1}
				g := newChaosGame(t, 1, mercury.Config{}, mercurytest.Link{Delay: delay, Loss: test.loss}, chaosDown, up)
				g.play(30 * time.Second)
				g.measure()
				g.play(2 * time.Minute)
				g.drain()
				p99 := percentile(g.sides[1].figures().delays, 99)
				if most := delay + test.wait + slack; p99 > most {
					t.Errorf("p99 is %v, want at most %v", p99, most)
				}
				t.Logf("p99 %v", p99)
			})
		}
	}
}
