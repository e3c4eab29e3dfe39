package client

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// A BaseApp that leaves the cluster, or gives some of its entities or a client to another, sends
// the clients after them. One that has lost its channel hears of it when it comes back:
//
//	Switch ---> dial there at once, with the token ---> Resumed
//	  ^            |     |                  ^
//	  |            |     +-- BadToken: it has not heard yet; again, for switchGrace
//	  +------------+ it went on; the next tries come later each time
//
// Nothing is lost or told twice, since both sides count as after a lost channel.

// switchGrace is how long the app to which a session is sent may not know of it yet: a manager tells it at
// the same time, but over another channel, which may have to send again.
const switchGrace = 5 * time.Second

// sentOnAtOnce is how often a client without a channel dials at once when it is sent on.
const sentOnAtOnce = 2

// errSwitched is why a client has no channel that goes to another app.
var errSwitched = errors.New("client: the session goes on at another server")

func (c *Client) onSwitch(body []byte) error {
	var m protocol.Switch
	if err := m.Parse(body); err != nil {
		return err
	}
	l := &c.life
	if l.time == 0 && c.state == Playing {
		return malformed("sent elsewhere, but the session ends with its channel")
	}
	if door, ok := c.chooseLike(m.Doors); ok {
		l.doors, l.fallback = m.Doors, m.Fallback
		l.use(door)
	}
	c.dismissScout()
	c.cfg.Transport.Close(c.ch)
	c.abortDownloads(c.ch, errSwitched)
	if c.state == Closed { // by the game
		return nil
	}
	c.ch = 0
	if l.lost == nil {
		l.until, l.sentOn = c.now+l.time, 0
	}
	if c.state == Attaching {
		l.until = c.deadline
	}
	l.lost, l.switched, l.tries, l.dialled = errSwitched, c.now, 0, false
	c.stats.Switched++
	if l.sentOn++; l.sentOn > sentOnAtOnce { // two that send it to each other may not keep it for ever, nor busy
		l.tryAt = c.now + min(firstTry<<min(l.sentOn-sentOnAtOnce, 16), mostTry)
		return nil
	}
	c.redial()
	return nil
}

// notYetThere reports whether a refusal only says that the app to which the session was sent has not heard of
// it yet.
func (c *Client) notYetThere() bool {
	l := &c.life
	return c.state != Closed && l.dialled && errors.Is(l.lost, errSwitched) && c.now-l.switched < switchGrace
}
