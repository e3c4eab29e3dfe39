package space

import (
	"time"

	"github.com/cellscape/cellscape/internal/gametime"
)

// pace is the game time of one cell, from tick to tick.
//
// A cell that hears of a slower rate too late has run ahead of the others. Its game
// time neither goes back nor stands still then: it goes at half the rate until the
// others have caught up. A cell that was late by d is ahead by at most d times the difference of
// the rates, and each second the others make good half their rate of it. A cell that hears of a
// faster rate too late is behind, and jumps to where the others are at once.
type pace struct {
	clock, next gametime.Clock // next counts from its At on; it has no number if there is none
	begun       bool
	cluster     time.Duration // at the last advance
	game        time.Duration
	rate        uint16 // of the last advance
}

// set takes a Clock that is newer than all before. cluster is the time now.
func (p *pace) set(k gametime.Clock, cluster time.Duration) {
	switch {
	case !p.begun:
		// A new cell has no older one: from the first it is where the others will be.
		p.clock = k
		p.advance(cluster)
	case k.Number > p.number():
		p.next = k
	}
}

// number is that of the newest Clock.
func (p *pace) number() uint64 { return max(p.clock.Number, p.next.Number) }

// advance goes on to a cluster time, and returns the game time.
func (p *pace) advance(cluster time.Duration) time.Duration {
	if !p.begun {
		p.begun, p.cluster, p.game = true, cluster, p.clock.GameAt(cluster)
	}
	if p.next.Number > 0 && p.next.At <= cluster {
		if p.next.At > p.cluster {
			p.to(p.next.At)
		}
		p.clock, p.next = p.next, gametime.Clock{}
	}
	p.to(cluster)
	return p.game
}

// to goes on by the present Clock, or at half its rate if the cell is ahead of it.
func (p *pace) to(cluster time.Duration) {
	p.rate = p.clock.Runs()
	game := p.clock.GameAt(cluster)
	if slow := p.game + gametime.AtRate(max(0, cluster-p.cluster), p.rate/2); game < slow {
		game, p.rate = slow, p.rate/2
	}
	p.cluster, p.game = cluster, game
}

// SetClock gives the cell the Clock of its space; one that is not newer than its own
// is ignored. It counts from the first tick after its At. cluster is the time now:
// a new cell has its game time from this call on, before its first tick, so that
// timers of entities that come to it at once are not taken as due.
func (c Hosted) SetClock(k gametime.Clock, cluster time.Duration) {
	c.pace.set(k, cluster)
	c.game = c.pace.game
}

// Clock is the newest Clock that the cell was given.
func (c Hosted) Clock() gametime.Clock {
	if c.pace.next.Number > c.pace.clock.Number {
		return c.pace.next
	}
	return c.pace.clock
}

// Game is the game time of the cell's last tick. It never goes back.
func (c *Cell) Game() time.Duration { return c.game }

// Rate is by how many thousandths of a second game time went on in each millisecond
// before the last tick.
func (c *Cell) Rate() uint16 { return c.pace.rate }

// Rate is how fast the game time of the space runs, as a fraction of normal: below 1
// while its CellApps have more to do than they can do. Timers and controllers follow
// it by themselves; what a script reckons by Now does, too.
func (r *Real) Rate() float64 { return float64(r.cell.pace.rate) / gametime.NormalRate }
