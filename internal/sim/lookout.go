package sim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Looks at other processes, as package host has them. A living process has its port, even while it is
// paused; a crashed one has not, and its machine says so, unless the machine has crashed with it. In
// the bad time, a look is lost now and then, as all of its packets may be.

const (
	lookTime   = 3 * time.Millisecond   // of a look that is answered, at most
	silentTime = 150 * time.Millisecond // of one that is not
)

// glance is what a look will have found.
type glance struct {
	at    time.Duration
	token uint64
	found mercury.Reach
	place netip.AddrPort // to look when it is due, if found is unknown
}

// heldLine is a line that stands.
type heldLine struct {
	token  uint64
	to     *Process
	starts int // of to, when the line was opened
}

// Probe implements mercury.Lookout.
func (p *Process) Probe(token uint64, at netip.AddrPort) { p.lookAt(token, at) }

// Hold implements cellappmgr.Lines.
func (p *Process) Hold(token uint64, at netip.AddrPort) {
	if p.lookAt(token, at) == mercury.ReachOpen {
		q := p.c.byPlace[at]
		p.lines = append(p.lines, heldLine{token, q, q.starts})
	}
}

// Release implements cellappmgr.Lines.
func (p *Process) Release(token uint64) {
	p.lines = slices.DeleteFunc(p.lines, func(l heldLine) bool { return l.token == token })
	p.glances = slices.DeleteFunc(p.glances, func(g glance) bool { return g.token == token })
}

func (p *Process) lookAt(token uint64, at netip.AddrPort) mercury.Reach {
	found := p.c.reach(p, at)
	d := time.Duration(1 + p.c.seeing.Int64N(int64(lookTime)))
	if found == mercury.ReachSilent {
		d = silentTime
	}
	p.glances = append(p.glances, glance{at: p.c.now + d, token: token, found: found})
	return found
}

// reach is what a look of p at a place finds now.
func (c *Cluster) reach(p *Process, at netip.AddrPort) mercury.Reach {
	q := c.byPlace[at]
	switch {
	case q == nil || q.dark || c.net.Parted(p.at, at) || c.bad && c.seeing.IntN(10) == 0:
		return mercury.ReachSilent
	case !q.alive || q.dying:
		return mercury.ReachClosed
	}
	return mercury.ReachOpen
}

// endLines ends the lines to a process that has crashed, unless nobody is left to say so.
func (c *Cluster) endLines(q *Process) {
	if q.dark = c.opts.Lookout && c.seeing.IntN(4) == 0; q.dark {
		return
	}
	for _, p := range c.procs {
		p.lines = slices.DeleteFunc(p.lines, func(l heldLine) bool {
			if l.to != q || l.starts != q.starts {
				return false
			}
			p.glances = append(p.glances, glance{at: c.now + lookTime, token: l.token, place: q.at})
			return true
		})
	}
}

// glance hands over what looks have found by now.
func (p *Process) glance() {
	for i := 0; i < len(p.glances); {
		g := p.glances[i]
		if g.at > p.c.now {
			i++
			continue
		}
		p.glances = slices.Delete(p.glances, i, i+1)
		if g.found == mercury.ReachUnknown {
			g.found = p.c.reach(p, g.place)
		}
		if p.dying {
			return
		}
		p.app.(interface {
			Reached(now time.Duration, token uint64, found mercury.Reach)
		}).Reached(p.c.now, g.token, g.found)
		i = 0 // it may have looked again
	}
}
