package client

import (
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury"
)

// A BaseApp that dies says nothing, and one that only pauses says nothing either. So a client that hears
// nothing keeps its channel, and has a scout look where its session would go on:
//
//	            askAfter          patience                   Resumed
//	(heard) ──▶ Ping is sent ──▶ a scout is at the fallback ─────────▶ the scout's channel is the client's
//	   ▲                          │          ▲
//	   ├──── anything is heard ───┘          └── again after a while: refused, closed, or no answer
//
// A client whose channel is lost has a scout as well, once the last door has not let it in again.
// Several apps may have copies of its base, and the first may be gone, too: each is asked in turn. So
// are the doors of its own BaseApp over other networks, since the silence may be that of the network.
// A client that has just logged in, and has heard nothing of its BaseApp yet, does all of this but ask.
//
// Invariants: there is one scout at most, and none without another door. A scout never ends a session. The
// session is at one app only, which both BaseApps and the manager see to: so whoever answers first is right.

const (
	// askAfter is a silence after which a client asks: a few ticks of a world in which something moves.
	askAfter = 300 * time.Millisecond

	// firstPatience is the silence after which it looks elsewhere: half a second for the answer. It
	// doubles up to mostPatience each time that the silence was nothing: then the line is slow.
	firstPatience = 800 * time.Millisecond
	mostPatience  = 4 * time.Second

	// attachPatience is that before the first word, which takes some round trips: above the time in
	// which a BaseApp is known to be dead.
	attachPatience = 2 * time.Second

	// networkPatience is the silence after which a client tries another network. It would rather stay on its
	// own, which it prefers, so this is above most stalls.
	networkPatience = 3 * time.Second

	// scoutTime bounds the life of a scout that is there: above the time for which a BaseApp lets
	// it wait. Until its channel is open it has tryTimeout.
	scoutTime = 15 * time.Second
)

// errSilent is why a client was interrupted whose scout was let in.
var errSilent = errors.New("client: the server was silent, and another has the session")

// scout is the second channel of a client.
type scout struct {
	ch     mercury.ChannelID // 0 for none
	door   *protocol.Door    // where it is; nil without one, as most of thousands of clients are all their life
	giveUp time.Duration
	next   time.Duration // when to send another
	tries  int           // in vain, in this silence

	heardAt  time.Duration // when the server was heard last
	asked    bool          // since then
	patience time.Duration
}

func (c *Client) isScout(ch mercury.ChannelID) bool { return ch != 0 && ch == c.life.scout.ch }

// heard is called for all that comes over the session's channel.
func (c *Client) heard() {
	s := &c.life.scout
	if s.ch != 0 && c.life.lost == nil {
		c.dismissScout()
		s.patience = min(2*s.patience, mostPatience)
	}
	s.heardAt, s.asked = c.now, false
}

// lookElsewhere asks for a sign of life, and looks after the scout.
func (c *Client) lookElsewhere() {
	l := &c.life
	s := &l.scout
	silence := c.now - s.heardAt
	if l.lost == nil && s.ch == 0 && silence < askAfter {
		return
	}
	to, ok := c.elsewhere(s.tries)
	if !ok || c.state != Attaching && (c.state != Playing || l.time == 0) || c.leaving && l.lost == nil {
		c.dismissScout()
		return
	}
	s.patience = max(s.patience, firstPatience)
	patience := s.patience
	if to.Network != l.door().Network {
		patience = max(patience, networkPatience)
	}
	if c.state == Playing && l.lost == nil && silence >= askAfter && !s.asked {
		s.asked = true
		c.send(protocol.AppendPing(c.buf[:0]))
	}
	switch {
	case s.ch != 0 && c.now >= s.giveUp:
		c.cfg.Transport.Abort(s.ch)
		c.scoutFailed()
	case s.ch == 0 && c.now >= s.next && (silence >= patience || l.lost != nil && l.tries > 0):
		c.sendScout(to)
	}
}

func (c *Client) sendScout(to protocol.Door) {
	s := &c.life.scout
	s.door, s.giveUp = &to, c.now+tryTimeout
	var err error
	if s.ch, err = c.dial(to); err != nil {
		c.scoutFailed()
	}
}

// scoutFailed is called when a scout was not let in. Another follows, later each time.
func (c *Client) scoutFailed() {
	s := &c.life.scout
	s.ch, s.next = 0, c.now+min(firstTry<<min(s.tries, 16), mostTry)
	s.tries++
}

// dismissScout ends a scout that is not needed any more.
func (c *Client) dismissScout() {
	s := &c.life.scout
	if s.ch != 0 {
		c.cfg.Transport.Abort(s.ch)
	}
	s.ch, s.door, s.next, s.tries = 0, nil, 0, 0
}

// scoutAnswers takes the first word that a scout hears. If the session goes on there, or that app
// knows where, the scout's channel is the session's, and the caller takes the message; else it
// reports false.
func (c *Client) scoutAnswers(msg []byte) bool {
	l := &c.life
	if len(msg) == 0 || protocol.ID(msg[0]) != protocol.ResumedID && protocol.ID(msg[0]) != protocol.SwitchID {
		c.cfg.Transport.Abort(l.scout.ch)
		c.scoutFailed()
		return false
	}
	old, found := c.ch, l.scout
	if l.lost == nil {
		c.interrupt(errSilent)
	}
	if old != 0 && old != found.ch { // both may dial one door
		c.cfg.Transport.Abort(old)
	}
	c.ch, l.tries = found.ch, 0
	if !slices.Contains(l.doors, *found.door) { // another BaseApp has the session now: all its doors have one salt
		l.doors = slices.DeleteFunc(l.fallback, func(d protocol.Door) bool { return d.Address.Salt != found.door.Address.Salt })
		l.fallback = nil
	}
	l.use(*found.door)
	l.scout.ch, l.scout.door, l.scout.patience = 0, nil, 0
	return true
}
