package client

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// A BaseApp that leaves the cluster, or gives some of its entities to another, sends their clients after them:
//
//	Switch ---> dial there at once, with the token ---> Resumed
//	               |                        ^
//	               +-- BadToken: it has not heard yet; again, for switchGrace
//
// Nothing is lost or told twice, since both sides count as after a lost channel.

// switchGrace is how long the app to which a session is sent may not know of it yet: a manager tells it at
// the same time, but over another channel, which may have to send again.
const switchGrace = 5 * time.Second

// errSwitched is why a client has no channel that goes to another app.
var errSwitched = errors.New("client: the session goes on at another server")

func (c *Client) onSwitch(body []byte) error {
	var m protocol.Switch
	if err := m.Parse(body); err != nil {
		return err
	}
	if !c.resumable() || c.life.lost != nil {
		return malformed("sent elsewhere, but the session ends with its channel")
	}
	l := &c.life
	if door, ok := c.choose(m.Doors); ok {
		l.door, l.fallback = door, nil
	}
	c.cfg.Transport.Close(c.ch)
	c.downloads.AbortAll(c.now, c.ch, errAway)
	if c.state != Playing { // the game has ended the session meanwhile
		return nil
	}
	c.ch = 0
	l.lost, l.until, l.switched, l.tries, l.dialled = errSwitched, c.now+l.time, c.now, 0, false
	c.stats.Switched++
	c.redial()
	return nil
}

// notYetThere reports whether a refusal only says that the app to which the session was sent has not heard of
// it yet.
func (c *Client) notYetThere() bool {
	l := &c.life
	return c.state == Playing && l.dialled && errors.Is(l.lost, errSwitched) && c.now-l.switched < switchGrace
}
