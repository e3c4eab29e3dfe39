package mercury

import (
	"net/netip"
	"time"
)

const (
	// firstOpenRetry is when an unanswered open is repeated; the wait doubles up to lastOpenRetry.
	firstOpenRetry = 250 * time.Millisecond
	lastOpenRetry  = time.Second
	// answersPerSecond is how many hellos from unproved addresses are answered. Each costs a Guard
	// two multiplications on a curve, some 0.1 ms. Beyond that a dialler must first return a
	// cookie.
	answersPerSecond = 1000
	answersBurst     = 512
	// strangersPerSecond bounds the work for packets that name no channel of their sender: checking
	// a pass, or the seal of a packet from a new address.
	strangersPerSecond = 20000
	strangersBurst     = 4096
	// moversPerSecond does the same for packets of channels from places other than their peers', so
	// that strangers cannot shut out a client that has moved.
	moversPerSecond = 5000
	moversBurst     = 1024
	// maxSiblingPings bounds the old channels that we ping because of one new channel.
	maxSiblingPings = 4
)

// opened makes c an open channel and tells the app.
func (e *Endpoint) opened(c *channel, window int) {
	c.state = open
	c.out.window = uint16(min(window, e.cfg.Window))
	c.heard = e.awake
	told := c.told
	c.told = true
	if !told {
		e.stats.Opened++
	}
	e.probeSiblings(c)
	if c.condemned || c.pending(e) {
		e.touch(c)
	}
	e.wake(c)
	if !c.condemned && !told {
		e.handler.Opened(e.now, c.id, c.peer)
	}
}

// probeSiblings pings channels to other starts at the place of c's peer. If the start that opened c
// has taken their place, its reset ends them within a round trip. They are not ended at once,
// because the open may be an old one that the network held back.
func (e *Endpoint) probeSiblings(c *channel) {
	for d, n := e.byPlace[c.peer.At], 0; d != nil && n <= maxSiblingPings; d, n = d.sibling, n+1 {
		if d.state == open && d.peer.Salt != c.peer.Salt {
			d.ping = true
			e.touch(d)
		}
	}
}

// reply queues an answer outside of a channel for the next Flush.
func (e *Endpoint) reply(to netip.AddrPort, p interface{ append([]byte) []byte }) {
	if e.replies.len() >= maxReplies {
		e.stats.Throttled++
		return
	}
	*e.replies.push() = reply{to: to, buf: p.append(e.buffer(openSize))}
}
