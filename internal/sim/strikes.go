package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Strikes are faults that fall at a message of a drawn kind, so that a kind which is said once in a
// run is hit as often as one that is said in each tick. A break loses the message and ends its
// channel, though both processes live on. A doom kills CellApps: the one that got the message, the
// one that sent it, or both. Or it parts the two, lets the receiver go on alone for a while, and
// then kills it.

// strikes are the faults of one sort that fall in a run.
type strikes struct {
	chance *rand.Rand
	kinds  []wire.ID
	kind   wire.ID       // the kind at which the next one falls; 0 while none is due
	next   time.Duration // when another kind is drawn
	skip   int           // how many of the kind pass first
}

// strikePause is the longest time from one strike to the next of its sort; strikePatience is how
// long a strike waits for its kind.
const strikePause, strikePatience = 3 * time.Second, 2 * time.Second

// breakKinds lists where channels break: at everything that one app says to another.
func breakKinds() []wire.ID {
	return []wire.ID{
		wire.GhostStateID, wire.GhostUpdateID, wire.GhostDeleteID, wire.GhostQueryID, wire.OnloadID, wire.OnloadAckID,
		wire.CreateID, wire.RefuseRealID, wire.FlowID, wire.FlowAckID, wire.OnwardID, wire.LocatedID, wire.CurrentID, wire.OfferID,
		wire.CellLostID, wire.LocateID, wire.CellCreatedID, wire.AddCellID, wire.GeometryID, wire.SpaceDataID,
		wire.SetSpaceDataID, wire.RemoveCellID, wire.CellGoingID, wire.RemovalAckID, wire.CellRemovedID, wire.AppDeadID,
	}
}

// doomKinds lists where CellApps die: at the steps of a handoff and of a restore.
func doomKinds() []wire.ID {
	return []wire.ID{
		wire.OnloadID, wire.OnloadID, wire.OnloadID, wire.OnloadID, // this is where the most can go wrong
		wire.OnloadAckID, wire.CurrentID, wire.GhostStateID, wire.GhostDeleteID,
		wire.CreateID, wire.OfferID, wire.CellLostID, wire.RefuseRealID, wire.GhostQueryID,
	}
}

// falls reports whether a strike falls at a message.
func (s *strikes) falls(now time.Duration, kind wire.ID) bool {
	if now >= s.next {
		s.kind, s.skip = s.kinds[s.chance.IntN(len(s.kinds))], s.chance.IntN(6)
		s.next = now + strikePatience
	}
	if kind != s.kind {
		return false
	}
	if s.skip > 0 {
		s.skip--
		return false
	}
	s.kind, s.next = 0, now+time.Duration(s.chance.Int64N(int64(strikePause)))
	return true
}

// doom is a death that is yet to come.
type doom struct {
	p      *Process
	starts int
	at     time.Duration
}

// strike lets what is due fall at a message that comes to p; lost says that the strike took the
// message along.
func (c *Cluster) strike(p *Process, ch mercury.ChannelID, msg []byte) (lost bool) {
	if !c.bad || len(msg) == 0 || !c.opts.Wild.Breaks && !c.opts.Wild.Dooms || !c.isServer(p) {
		return false
	}
	a, _ := p.ep.Peer(ch)
	q := c.byPlace[a.At]
	if q == nil || !c.isServer(q) {
		return false
	}
	kind := wire.ID(msg[0])
	if c.opts.Wild.Dooms && matters(kind, msg) && c.dooming.falls(c.now, kind) {
		lost = c.doom(p, q, ch, kind)
	}
	if c.opts.Wild.Breaks && c.breaking.falls(c.now, kind) {
		c.trace.Event(c.now, "break", "%s from %s at %d", p.Name, q.Name, kind)
		c.breakChannel(p, ch)
		lost = true
	}
	return lost
}

// matters reports whether a message carries more than an entity without a base, which dies with its
// CellApp anyway.
func matters(kind wire.ID, msg []byte) bool {
	var m migrate.Onload
	return kind != wire.OnloadID || m.Parse(msg[1:]) == nil && !m.Base.IsZero()
}

// breakChannel ends a channel as silence does: both sides hear of it, sooner or later.
func (c *Cluster) breakChannel(p *Process, ch mercury.ChannelID) {
	c.parted = true
	p.ep.Abort(ch)
	p.app.Closed(c.now, ch, mercury.ErrTimeout)
}

// isServer reports whether a process is a CellApp, a BaseApp or the CellAppMgr.
func (c *Cluster) isServer(p *Process) bool {
	return p == c.manager || slices.Contains(c.cellApps, p) || slices.Contains(c.baseApps, p)
}

// doom kills p, or q, which sent p a message, or both, as far as they are CellApps: at once, or one
// of them after a while in which it could not reach the other.
func (c *Cluster) doom(p, q *Process, ch mercury.ChannelID, kind wire.ID) (lost bool) {
	lost = c.wild.dooms.IntN(3) == 0
	switch n := c.wild.dooms.IntN(6); {
	case n == 0:
		c.slay(p)
	case n == 1:
		c.slay(q)
	case n == 2:
		c.slay(p)
		c.slay(q)
	case isCellAppName(p.Name) && isCellAppName(q.Name) && p != q:
		victim := p
		if c.wild.dooms.IntN(3) == 0 {
			victim = q
		}
		d := time.Duration(1000+c.wild.dooms.IntN(6000)) * time.Millisecond
		if kind == wire.OnloadID {
			// This is longer than the next backup takes, which the frozen copy of the other must
			// not replace, and shorter than a channel lives.
			d = time.Duration(3500+c.wild.dooms.IntN(4000)) * time.Millisecond
		}
		c.trace.Event(c.now, "doom", "%s in %v; %s and %s are parted", victim.Name, d, p.Name, q.Name)
		c.cuts = append(c.cuts, cut{p, q, c.now + d + 4*time.Second})
		c.part(p, q)
		c.doomed = append(c.doomed, doom{victim, victim.starts, c.now + d})
		if lost {
			c.breakChannel(p, ch) // the survivor has it from another channel, or not at all
		}
		return lost
	}
	return lost && (p.dying || q.dying)
}

func isCellAppName(name string) bool {
	return strings.HasPrefix(name, "cellapp") && name != "cellappmgr"
}

// slay kills a CellApp, as long as another one is left, and lets it come back after a while.
func (c *Cluster) slay(p *Process) {
	others := 0
	for _, x := range c.cellApps {
		if x != p && x.alive && !x.dying {
			others++
		}
	}
	if !isCellAppName(p.Name) || !p.alive || p.dying || others == 0 {
		return
	}
	p.kill()
	p.restartAt = c.now + time.Duration(500+c.wild.dooms.IntN(8000))*time.Millisecond
}

// fulfil kills those whose time has come.
func (c *Cluster) fulfil() {
	if len(c.doomed) > 0 {
		c.rejoin(func(x cut) bool { return x.until <= c.now })
	}
	c.doomed = slices.DeleteFunc(c.doomed, func(d doom) bool {
		if d.at > c.now && c.bad {
			return false
		}
		if d.p.starts == d.starts && c.bad {
			c.slay(d.p)
		}
		return true
	})
}

// nextDoom is when fulfil has something to do.
func (c *Cluster) nextDoom() time.Duration {
	next := never
	for _, d := range c.doomed {
		next = min(next, d.at)
	}
	return next
}
