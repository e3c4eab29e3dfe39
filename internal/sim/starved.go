package sim

import (
	"math/rand/v2"
	"time"
)

// A starved CellApp shares its machine with others that want all of it. It waits for a processor before
// each of its turns, and now and then in the midst of one; what it does itself takes no longer for that.
// Real loads are measured then, over two clocks of the process:
//
//	work   goes on by readingCost at each reading: the more is done, the more often it is read
//	wall   the same, and what it waits in the midst of its work
const (
	readingCost = 10 * time.Microsecond
	// turnWait bounds what a starved CellApp waits before a turn. One turn in longWaits waits for up to
	// longWait: others have had their turns first.
	turnWait, longWaits, longWait = 20 * time.Millisecond, 25, 900 * time.Millisecond
	// oneIn says at which of the readings it waits, for up to midWait.
	oneIn, midWait = 400, 60 * time.Millisecond
)

// starved is what a process knows of it. Its draws are of its own.
type starved struct {
	chance       *rand.Rand
	worked, idle time.Duration
}

func newStarved(p *Process) starved {
	return starved{chance: rand.New(rand.NewPCG(p.c.opts.Seed, 0x57a2<<16|uint64(p.port)))}
}

func (p *Process) starves() bool { return p.starved.chance != nil && !p.c.calm }

// labour is the clock that goes on with work alone.
func (p *Process) labour() time.Duration {
	s := &p.starved
	s.worked += readingCost
	if p.starves() && s.chance.IntN(oneIn) == 0 {
		wait := time.Duration(s.chance.Int64N(int64(midWait)))
		s.idle += wait
		p.freeAt = max(p.freeAt, p.c.now) + wait
	}
	return s.worked
}

// wall is the clock that goes on while the process waits, too.
func (p *Process) wall() time.Duration {
	worked := p.labour()
	return worked + p.starved.idle
}

// starve lets it wait for its next turn.
func (p *Process) starve() {
	if !p.starves() {
		return
	}
	wait := time.Duration(p.starved.chance.Int64N(int64(turnWait)))
	if p.starved.chance.IntN(longWaits) == 0 {
		wait = time.Duration(p.starved.chance.Int64N(int64(longWait)))
	}
	p.freeAt = max(p.freeAt, p.c.now) + wait
}
