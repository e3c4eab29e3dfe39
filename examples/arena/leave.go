package main

import (
	"fmt"
	"os"
	"time"

	"github.com/cellscape/cellscape/entity/client/bots"
	"github.com/cellscape/cellscape/space/cluster/status"
)

const (
	// wellFor is how many status lines in a row have to be well before the world counts as well.
	wellFor = 3
	// wellLimit is how long that may take after half of the bots have left: what was queued is told
	// within seconds, or the overload never ends by itself.
	wellLimit = 10 * time.Second
)

// ebb lets a share of the bots leave at half time, and sees how long the world takes to be well
// again: no tick is late, and no queue fills.
type ebb struct {
	share float64
	at    time.Time // when the bots are to leave
	left  time.Time // when they did
	well  time.Time // since when the lines have been well
	lines int       // well ones in a row
	last  uint64    // late ticks until the last line
	most  float64   // the fullest queue before they left
}

func newEbb(f *flags) *ebb {
	return &ebb{share: f.leave, at: time.Now().Add(f.duration / 2)}
}

// hear takes a status line.
func (e *ebb) hear(st *status.World, c *crowd) {
	if e.share == 0 {
		return
	}
	fullest := 0.0
	for i := range st.Apps {
		fullest = max(fullest, st.Apps[i].Full)
	}
	late := st.Late - e.last
	e.last = st.Late
	switch now := time.Now(); {
	case e.left.IsZero() && now.Before(e.at):
		e.most = max(e.most, fullest)
	case e.left.IsZero():
		n := c.dismiss(e.share)
		e.left = now
		fmt.Fprintf(os.Stderr, "%d bots leave; %d ticks were late so far, the fullest queue was at %.0f %%\n", n, st.Late, 100*e.most)
	case e.lines >= wellFor:
	case late > 0 || fullest > 0:
		e.lines = 0
	default:
		if e.lines++; e.lines == 1 {
			e.well = now
		}
		if e.lines == wellFor {
			fmt.Fprintf(os.Stderr, "well again %v after\n", e.recovery().Round(100*time.Millisecond))
		}
	}
}

// recovery is how long it took until the world was well; wellLimit and more if it is not.
func (e *ebb) recovery() time.Duration {
	switch {
	case e.left.IsZero():
		return 0
	case e.lines < wellFor:
		return max(wellLimit+time.Second, time.Since(e.left))
	}
	return e.well.Sub(e.left)
}

// dismiss lets the last bots log out, and returns how many. They are not asked for audits any more.
func (c *crowd) dismiss(share float64) int {
	n := int(share * float64(len(c.dancers)))
	c.stay = len(c.dancers) - n
	c.each(func(b *bots.Bot, _ *dancer) {
		if b.Number >= c.stay {
			b.LeaveFor(0)
		}
	})
	return n
}
