package space

import (
	"time"

	"github.com/cellscape/cellscape/internal/gametime"
)

// pace keeps the game time of one cell from tick to tick.
//
// A cell that hears of a slower rate too late has run ahead of the others. Its game time then
// neither goes back nor stands still, but runs at half the rate until the others have caught up. A
// cell that heard late by d is ahead by at most d times the difference of the rates, and each
// second makes good half of the rate. A cell that hears of a faster rate too late is behind, and
// jumps to the others' time at once.
type pace struct {
	clock, next gametime.Clock // next applies from its At on; number 0 means none
	begun       bool
	cluster     time.Duration // at the last advance
	game        time.Duration
	rate        uint16 // of the last advance
}

// set takes a Clock that is newer than all before. cluster is the present time of the cluster.
func (p *pace) set(k gametime.Clock, cluster time.Duration) {
	switch {
	case !p.begun:
		// A new cell has no older Clock. It starts where the others will be.
		p.clock = k
		p.advance(cluster)
	case k.Number > p.number():
		p.next = k
	}
}

// number is the number of the newest Clock.
func (p *pace) number() uint64 { return max(p.clock.Number, p.next.Number) }

// advance moves on to a cluster time, and returns the game time.
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

// to moves on by the present Clock, or at half its rate if the cell is ahead of it.
func (p *pace) to(cluster time.Duration) {
	p.rate = p.clock.Runs()
	game := p.clock.GameAt(cluster)
	if slow := p.game + gametime.AtRate(max(0, cluster-p.cluster), p.rate/2); game < slow {
		game, p.rate = slow, p.rate/2
	}
	p.cluster, p.game = cluster, game
}

// SetClock gives the cell the Clock of its space; it ignores one that is not newer than its own.
// The Clock applies from the first tick after its At. cluster is the present time of the cluster:
// it gives a new cell its game time before its first tick, so that timers of entities that arrive
// at once do not seem due.
func (c Hosted) SetClock(k gametime.Clock, cluster time.Duration) {
	c.pace.set(k, cluster)
	c.game = c.pace.game
}

// Clock returns the newest Clock that the cell was given.
func (c Hosted) Clock() gametime.Clock {
	if c.pace.next.Number > c.pace.clock.Number {
		return c.pace.next
	}
	return c.pace.clock
}

// Game is the game time of the cell's last tick. It never goes back.
func (c *Cell) Game() time.Duration { return c.game }

// Rate is how fast game time ran before the last tick, in thousandths of normal.
func (c *Cell) Rate() uint16 { return c.pace.rate }

// Rate is how fast the game time of the space runs, as a fraction of normal: below 1 while its
// CellApps have more to do than they can do. Timers and controllers follow it by themselves, and so
// does whatever a script computes from Now.
func (r *Real) Rate() float64 { return float64(r.cell.pace.rate) / gametime.NormalRate }
