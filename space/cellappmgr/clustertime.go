package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// The time of the cluster is the manager's, and the game time of all spaces follows it.
// CellApps know it from their Welcomes, a manager that starts anew from the Rejoins of
// CellApps. What says the time is under way for a while, a second or more over a bad link,
// and who hears it is behind by that; nor do the clocks of two machines run equally
// fast. So each CellsReport says what time its CellApp has:
//
//	behind by more than timeApart    it is welcomed again, which says the time
//	ahead                            the manager goes on to that time, and so do the others
//
// A delay only makes a time older. So the newest is nearest to the truth, everyone
// comes to have it, and for no one the time goes back. (CellApps had theirs from the
// first Welcome alone. One that was 3 s under way left all cells of its CellApp 3 s behind,
// as long as that lived.)

const (
	// timeApart is by how much a CellApp may be behind: a tick, by which the game times of
	// two cells differ anyway, and far more than a report is under way in a data centre. One
	// that is late makes its CellApp seem behind; the Welcome then changes nothing there.
	timeApart = 100 * time.Millisecond
	// aheadAtMost is by how much one may be ahead of the manager in all, if it has not gone
	// mad: a Rejoin is under way for as long as a channel takes to break, 10 s, at most.
	aheadAtMost = 15 * time.Second
	// differentClocks is what one clock may gain on another: one part in so many, far more
	// than real ones do. By so much is forgotten how far a CellApp was ahead. (When each
	// report was judged for itself, one CellApp whose clock ran twice as fast took the
	// time of the whole cluster along.)
	differentClocks = 200
)

// clusterTime is the game time of spaces that were never slowed down.
func (m *CellAppMgr) clusterTime(now time.Duration) time.Duration { return max(0, now+m.gameShift) }

// compareTime takes what time a CellApp says it has.
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

// learnTime takes the game time of a CellApp. If no other was heard in the window, that
// of the first that comes late is the world's: the manager began at 0, and an app that is
// ahead of it by more than a little is taken for mad later (compareTime). Otherwise the
// reports of one that comes late say if it is ahead.
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
