package mercury

import (
	"net/netip"
	"time"
)

const (
	// firstOpenRetry is when an unanswered open is repeated; the wait doubles up to lastOpenRetry.
	firstOpenRetry = 250 * time.Millisecond
	lastOpenRetry  = time.Second
)

// onOpen answers a dialler. Nothing is kept of it before it has shown a cookie, which it got only if the
// address it gives is its own.
func (e *Endpoint) onOpen(from netip.AddrPort, p []byte) {
	var o openPacket
	if o.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	if o.Want != 0 && o.Want != e.self.Salt {
		e.refuse(from, &o, refusedSalt)
		return
	}
	k := openKey{at: from, salt: o.Salt, dial: o.Dial}
	if !e.checkCookie(k, o.Cookie) {
		if o.Cookie != [cookieSize]byte{} {
			e.stats.BadCookie++
		}
		c := challengePacket{Dial: o.Dial, Salt: o.Salt, Self: e.self.Salt, Cookie: e.cookieFor(k, int64(e.now/cookieLife))}
		e.reply(from, &c)
		return
	}
	c, known := e.accepted[k]
	switch {
	case c != nil: // our accept was lost, or their open doubled
		e.accept(c)
	case known:
		e.refuse(from, &o, refusedGone)
	case len(e.channels) >= e.cfg.MaxChannels || e.lastID >= maxChannelID:
		e.refuse(from, &o, refusedFull)
	default:
		c = e.addChannel(Address{At: from, Salt: o.Salt})
		c.remote, c.accepted = o.Dial, k
		c.key = e.keyFor(k, c.id)
		e.accepted[k] = c
		e.accept(c)
		e.opened(c, int(o.Window))
	}
}

func (e *Endpoint) accept(c *channel) {
	e.reply(c.peer.At, &acceptPacket{
		Dial: c.accepted.dial, Salt: c.accepted.salt, Self: e.self.Salt,
		Channel: c.id, Key: c.key, Window: uint32(e.cfg.Window),
	})
}

func (e *Endpoint) refuse(to netip.AddrPort, o *openPacket, why refusal) {
	e.stats.Refused++
	e.reply(to, &refusePacket{Dial: o.Dial, Salt: o.Salt, Self: e.self.Salt, Why: why})
}

// opened makes c an open channel and tells the app.
func (e *Endpoint) opened(c *channel, window int) {
	c.state = open
	c.out.window = min(window, e.cfg.Window)
	c.heard = e.awake
	e.stats.Opened++
	e.probeSiblings(c)
	if c.condemned || c.pending(e) {
		e.touch(c)
	}
	e.queue.lower(c, c.deadline(e))
	if !c.condemned {
		e.handler.Opened(e.now, c.id, c.peer)
	}
}

// probeSiblings pings channels to other starts at the place of c's peer. If the start that opened c has taken their
// place, its reset ends them within a round trip. They are not ended here and now, because the open may be an old one
// that the network held back.
func (e *Endpoint) probeSiblings(c *channel) {
	for d := e.byPlace[c.peer.At]; d != nil; d = d.sibling {
		if d.state == open && d.peer.Salt != c.peer.Salt {
			d.out.ping = true
			e.touch(d)
		}
	}
}

// answered finds the dialled channel that an answer to an open is for. That it repeats our salt and comes from
// where we dialled shows that the sender has seen the open.
func (e *Endpoint) answered(from netip.AddrPort, dial ChannelID, salt uint32) *channel {
	c := e.channels[dial]
	if c == nil || c.state != dialling || c.peer.At != from || salt != e.self.Salt || c.failing != nil {
		e.stats.BadChannel++
		return nil
	}
	return c
}

func (e *Endpoint) onChallenge(from netip.AddrPort, p []byte) {
	var ch challengePacket
	if ch.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	c := e.answered(from, ch.Dial, ch.Salt)
	switch {
	case c == nil || ch.Cookie == c.cookie: // one cookie, one open: a doubled challenge must not double our opens
	case c.target.Salt != 0 && c.target.Salt != ch.Self:
		e.end(c, ErrPeerRestarted, false)
	default:
		c.cookie, c.cookieSent = ch.Cookie, 0
		c.openTries = 0
		c.openDue = true
		e.touch(c)
	}
}

func (e *Endpoint) onAccept(from netip.AddrPort, p []byte) {
	var a acceptPacket
	if a.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	c := e.answered(from, a.Dial, a.Salt)
	switch {
	case c == nil:
	case c.target.Salt != 0 && c.target.Salt != a.Self:
		e.end(c, ErrPeerRestarted, false)
	default:
		c.peer.Salt, c.remote, c.key = a.Self, a.Channel, a.Key
		if c.cookieSent == 1 && c.openSent >= e.jumped {
			c.out.rtt.sample(e.now-c.openSent, 0)
		}
		c.openDue = false
		e.opened(c, int(a.Window))
	}
}

func (e *Endpoint) onRefuse(from netip.AddrPort, p []byte) {
	var f refusePacket
	if f.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	c := e.answered(from, f.Dial, f.Salt)
	if c == nil {
		return
	}
	switch f.Why {
	case refusedSalt:
		e.end(c, ErrPeerRestarted, false)
	case refusedFull:
		e.end(c, ErrTooManyChannels, false)
	case refusedGone:
		e.end(c, ErrPeerAborted, false)
	}
}

// sendOpen asks the peer of a dialled channel once more.
func (c *channel) sendOpen(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	c.openDue = false
	wait := min(firstOpenRetry<<min(c.openTries, 8), lastOpenRetry)
	c.openTries++
	if c.cookie != [cookieSize]byte{} {
		c.cookieSent++
	}
	c.openAt, c.openSent, c.lastSent = e.now+wait, e.now, e.now
	o := openPacket{Salt: e.self.Salt, Dial: c.id, Want: c.target.Salt, Window: uint32(e.cfg.Window), Cookie: c.cookie}
	e.packet = o.append(e.packet[:0])
	e.emit(c.peer.At, e.packet, emit)
}

// reset tells the sender of a data packet that its channel is not here.
func (e *Endpoint) reset(to netip.AddrPort, h *dataHeader) {
	if since := e.now - e.resetsFrom; since >= time.Second/resetsPerSecond {
		e.resets = min(resetBurst, e.resets+int(min(since, time.Second)*resetsPerSecond/time.Second))
		e.resetsFrom = e.now
	}
	if e.resets == 0 {
		e.stats.Throttled++
		return
	}
	e.resets--
	e.stats.ResetsOut++
	e.reply(to, &resetPacket{Channel: h.Channel, Key: h.Key, Self: e.self.Salt})
}

// onReset ends the channel that the peer does not know. Who can repeat its key has seen our packet.
func (e *Endpoint) onReset(from netip.AddrPort, p []byte) {
	var s resetPacket
	if s.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	for c := e.byPlace[from]; c != nil; c = c.sibling {
		if c.state != open || c.remote != s.Channel || c.key != s.Key {
			continue
		}
		e.stats.ResetsIn++
		if s.Self != c.peer.Salt {
			e.end(c, ErrPeerRestarted, false)
		} else {
			e.end(c, ErrPeerAborted, false)
		}
		return
	}
	e.stats.BadChannel++
}

// reply queues an answer outside of a channel for the next Flush.
func (e *Endpoint) reply(to netip.AddrPort, p interface{ append([]byte) []byte }) {
	if e.replies.len() >= maxReplies {
		e.stats.Throttled++
		return
	}
	*e.replies.push() = reply{to: to, buf: p.append(e.buffer())}
}
