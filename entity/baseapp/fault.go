package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
)

// A cell part whose script panics is restored, and gets all messages again that its copy does not
// contain. A script that panics over one of them each time would do so for ever, and one that
// panics in a timer or when it is restored, too. So the base counts the panics, by the messages
// that they were over. A message over which flow.MaxPanics incarnations were lost is passed over by
// the next; several of them in one queue are gone after some seconds. If a cell part is lost again
// and again over nothing that can be passed over, the base waits longer each time.
//
// The counts are of this life of the base on this app: after a death, or a move, they begin anew.

const (
	// faultMemory is how long a real must live before the next panic counts as the first. A timer
	// of a minute is as long as those of most games.
	faultMemory = time.Minute
	// faultWait is how long a base waits after the first panic above freeFaults, and maxFaultWait
	// the longest that doubling makes of it: a player with a broken entity costs four stacks in the
	// log a minute, and comes back soon after the cause has gone.
	freeFaults   = 3
	faultWait    = time.Second
	maxFaultWait = 15 * time.Second
)

// faults are the panics of a cell part. The zero value has none.
type faults struct {
	over   []suspect
	recent int           // over no message, since there was none for faultMemory
	last   time.Duration // when the last of these was told
}

// suspect is a message over which the script has panicked.
type suspect struct {
	flow.Culprit
	panics int
}

// note counts a panic, over a message or over none, and returns how much longer than otherwise to
// wait before the real is restored.
func (f *faults) note(now time.Duration, over flow.Culprit) time.Duration {
	if !over.IsZero() {
		f.suspect(over)
		return 0
	}
	if now-f.last > faultMemory {
		f.recent = 0
	}
	f.recent++
	f.last = now
	if f.recent <= freeFaults {
		return 0
	}
	return min(faultWait<<min(f.recent-freeFaults-1, 4), maxFaultWait)
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
