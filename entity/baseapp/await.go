package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
)

// A client whose BaseApp is silent also asks the app that would go on with its base. It may ask before the
// verdict of death, and then waits here:
//
//	Resume with an unknown token --> awaited --the base is restored--> resumed
//	                                    |
//	                                    +--- awaitTime --> BadToken: it tries again
//
// Its own BaseApp may live after all; then it goes back there, and its channel here ends.
//
// A client whose seat is about to be given to a base elsewhere waits in the same way until that is decided.

const (
	// awaitTime is how long a client waits: longer than the verdict on an app that is silent. It is as
	// long as a channel may be silent that says nothing at all.
	awaitTime = ClaimTimeout

	// maxAwaited bounds the clients that wait: as many as two dead apps can have had.
	maxAwaited = 2 * MaxProxies
)

// awaited is a client that waits.
type awaited struct {
	c     *client
	m     protocol.Resume
	until time.Duration
}

// letWait lets a client wait.
func (c *client) letWait(m protocol.Resume) error {
	a := c.app
	if len(a.awaited) >= maxAwaited {
		return refusal(protocol.BadToken, "")
	}
	c.awaited = true
	a.awaited = append(a.awaited, awaited{c: c, m: m, until: a.now + awaitTime})
	return nil
}

// admitAwaited goes on with those whose bases have come, and refuses those that have waited long enough.
func (a *BaseApp) admitAwaited() {
	a.awaited = slices.DeleteFunc(a.awaited, func(w awaited) bool {
		c := w.c
		if c.closed {
			return true
		}
		s, b := a.shownBy(&w.m)
		switch {
		case s != nil && s.base.gives():
			return false // for giveTime at most
		case b != nil:
			if c.awaited = false; b.attach(c, w.m.Ready, true) != nil {
				c.refuse(protocol.Destroyed, "")
			}
		case s == nil && c.sentElsewhere(w.m.Token):
		case s == nil && a.now < w.until:
			return false
		case s == nil:
			c.refuse(protocol.BadToken, "")
		case !s.reached(w.m.Has):
			c.refuse(protocol.Malformed, "it has had more than it was sent")
		default:
			c.awaited = false
			s.resume(c, &w.m)
		}
		return true
	})
}
