package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// The time of the cluster is the manager's, and the game time of all spaces follows it. CellApps
// learn it from their Welcomes; a manager that starts anew learns it from the Rejoins of CellApps.
// Over a bad link a message that tells the time may take a second or more, and whoever hears it is
// behind by that much. Nor do the clocks of two machines run equally fast. So each CellsReport says
// what time its CellApp has:
//
//	behind by more than timeApart    it is welcomed again, which tells it the time
//	ahead                            the manager goes on to that time, and so do the others
//
// A delay only makes a time older. So the newest time is nearest to the truth; everyone comes to
// have it, and nobody's time goes back. (CellApps used to have their time from the first Welcome
// alone. One whose Welcome took 3 s left all its cells 3 s behind for as long as it lived.)

const (
	// timeApart is by how much a CellApp may be behind: a tick, by which the game times of two
	// cells differ anyway, and far more than a report takes in a data centre. A late report makes
	// its CellApp seem behind; the Welcome then changes nothing there.
	timeApart = 100 * time.Millisecond
	// aheadAtMost is by how much, in all, a CellApp that has not gone mad may be ahead of the
	// manager: a Rejoin takes at most as long as a channel takes to break, 10 s.
	aheadAtMost = 15 * time.Second
	// differentClocks is what one clock may gain on another: one part in so many, far more than
	// real clocks do. At this rate the manager forgets how far a CellApp was ahead. (When each
	// report was judged by itself, one CellApp whose clock ran twice as fast took the time of the
	// whole cluster along.)
	differentClocks = 200
)

// clusterTime is the game time of spaces that were never slowed down.
func (m *CellAppMgr) clusterTime(now time.Duration) time.Duration { return max(0, now+m.gameShift) }

// compareTime takes the time that a CellApp says it has.
func (m *CellAppMgr) compareTime(now time.Duration, a *member, told time.Duration) {
	switch ahead := told - m.clusterTime(now); {
	case told == 0:
	case ahead > 0:
		led := max(0, a.led-(now-a.ledAt)/differentClocks)
		if ahead > aheadAtMost-led {
			m.implausible(a, "time of the cluster")
			return
		}
		a.led, a.ledAt = led+ahead, now
		m.gameShift = told - now
	case ahead < -timeApart && now-a.welcomedAt >= resend:
		m.welcome(now, a)
	}
}

// learnTime takes the game time of a CellApp. If no other was heard in the window, the time of the
// first late comer is the world's: the manager began at 0, and compareTime would later take an app
// that is far ahead of it for mad. Otherwise the reports of a late comer tell whether it is ahead.
func (m *CellAppMgr) learnTime(now time.Duration, b *returning) {
	r := &m.recovery
	if b.join.Role != wire.CellApp || r.timed && !r.on {
		return
	}
	shift := b.told.GameTime - now
	if r.on && !r.timed || shift > m.gameShift {
		m.gameShift = shift
	}
	r.timed = true
}
