package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
)

// A cell part whose script panics is restored, and gets all messages again that its copy does not
// contain. A script that panics over one of them each time would do so for ever, and one that
// panics in a timer or when it is restored, too. So the base counts the panics: over which
// messages, and how many there were lately. A message over which flow.MaxPanics incarnations were
// lost is passed over by the next. If a cell part is still lost again and again, the base waits
// longer each time.
//
// The counts are of this life of the base on this app: after a death, or a move, they begin anew.

const (
	// faultMemory is how long a real must live before the next panic counts as the first. A timer
	// of a minute is as long as those of most games.
	faultMemory = time.Minute
	// faultWait is how long a base waits before it restores its cell part after one panic more than
	// are needed to know a message, and maxFaultWait the longest that doubling makes of it: a
	// player with a broken entity costs two stacks in the log a minute, and comes back soon after
	// the cause has gone.
	faultWait    = time.Second
	maxFaultWait = 30 * time.Second
)

// faults are the panics of a cell part. The zero value has none.
type faults struct {
	over   []suspect
	recent int           // since there was none for faultMemory
	last   time.Duration // when the last one was told
}

// suspect is a message over which the script has panicked.
type suspect struct {
	flow.Culprit
	panics int
}

// note counts a fault, over a message or over none, and returns how much longer than otherwise to
// wait before the real is restored.
func (f *faults) note(now time.Duration, over flow.Culprit) time.Duration {
	if now-f.last > faultMemory {
		f.recent = 0
	}
	f.recent++
	f.last = now
	if !over.IsZero() {
		f.suspect(over)
	}
	if f.recent <= flow.MaxPanics {
		return 0
	}
	return min(faultWait<<min(f.recent-flow.MaxPanics-1, 5), maxFaultWait)
}

// suspect counts a panic over a message. The newest are kept: the sender of an old one has gone on.
func (f *faults) suspect(over flow.Culprit) {
	i := slices.IndexFunc(f.over, func(s suspect) bool { return s.Culprit == over })
	if i < 0 {
		if len(f.over) == flow.MaxCulprits {
			f.over = slices.Delete(f.over, 0, 1)
		}
		f.over = append(f.over, suspect{over, 0})
		i = len(f.over) - 1
	}
	f.over[i].panics++
}

// pass is what the next real is to pass over.
func (f *faults) pass() (list []flow.Culprit) {
	for _, s := range f.over {
		if s.panics >= flow.MaxPanics {
			list = append(list, s.Culprit)
		}
	}
	return list
}
