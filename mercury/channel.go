package mercury

import "time"

// channelState is where a channel stands in its life.
//
//	Dial ──> dialling ──accept──> open ──> dead
//	              │                 ^        ^
//	              └─────────────────┼────────┘  refused, silent, aborted, closed
//	open from outside ──────────────┘
//
// Whether it is condemned is apart from that: a condemned channel may still be dialling.
type channelState uint8

const (
	dialling channelState = iota
	open
	dead
)

// channel is one end of one channel. It belongs to its Endpoint.
type channel struct {
	id     ChannelID
	state  channelState
	peer   Address // the salt is 0 while it is unknown
	remote ChannelID
	key    uint64

	// For a dialled channel.
	dialled    bool
	target     Address // what Dial was given
	cookie     [cookieSize]byte
	openTries  int
	openDue    bool // an open must be sent with the next Flush
	openAt     time.Duration
	openSent   time.Duration
	cookieSent int // opens sent with the present cookie

	// For an accepted one: what a repeated open is recognised by.
	accepted openKey

	sibling *channel // next channel with the same peer.At
	dirty   bool     // is in Endpoint.dirty
	failing error    // to be closed for this at the next Advance
	wake    time.Duration
	place   int // in the wakeQueue; -1 when not there

	heard    time.Duration // awake time of the last sound packet
	lastSent time.Duration

	condemned bool
	closeBy   time.Duration // awake time at which a condemned channel is given up
	closeSent bool          // a close is under way

	out sender
	in  receiver
}

// deadline is when c must be looked at if nothing arrives. What is waiting for a Flush already has none.
func (c *channel) deadline(e *Endpoint) time.Duration {
	d := e.now + max(0, c.heard+e.cfg.Inactivity-e.awake)
	if c.condemned {
		d = min(d, e.now+max(0, c.closeBy-e.awake))
	}
	if c.state == dialling {
		if !c.openDue {
			d = min(d, c.openAt)
		}
		return d
	}
	if c.in.ackPending && !c.in.ackNow {
		d = min(d, c.in.ackAt)
	}
	if c.out.lossAt > 0 {
		d = min(d, c.out.lossAt)
	}
	if c.out.inFlight > 0 && c.out.probes == 0 {
		d = min(d, c.out.timeoutAt(e))
	}
	if !c.out.ping {
		d = min(d, c.lastSent+e.cfg.KeepAlive)
	}
	return d
}

// fire does what is due at e.now. It may end c.
func (c *channel) fire(e *Endpoint) {
	if e.awake-c.heard >= e.cfg.Inactivity {
		e.end(c, ErrTimeout, true)
		return
	}
	if c.condemned && e.awake >= c.closeBy {
		e.end(c, nil, true)
		return
	}
	if c.state == dialling {
		if c.openAt <= e.now {
			c.openDue = true
			e.touch(c)
		}
		return
	}
	if c.in.ackPending && c.in.ackAt <= e.now {
		c.in.ackNow = true
		e.touch(c)
	}
	if c.out.lossAt > 0 && c.out.lossAt <= e.now {
		c.detectLoss(e)
		e.touch(c)
	}
	if c.out.inFlight > 0 && c.out.probes == 0 && c.out.timeoutAt(e) <= e.now {
		c.probe(e)
		e.touch(c)
	}
	if c.lastSent+e.cfg.KeepAlive <= e.now {
		c.out.ping = true
		e.touch(c)
	}
}
