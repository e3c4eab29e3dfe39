package mercury

import (
	"errors"
	"net/netip"
)

// onOpen answers a dialler, and keeps nothing. The answer has a pass, and only a peer at that
// address can receive it and make the channel by showing it.
func (e *Endpoint) onOpen(from netip.AddrPort, p []byte) {
	var o openPacket
	if e.malformed(o.parse(p)) {
		return
	}
	k := openKey{at: from, salt: o.Salt, dial: o.Dial}
	switch {
	case o.Want != 0 && o.Want != e.self.Salt:
		e.refuse(from, &o.bind, refusedSalt)
	case len(e.channels) >= e.cfg.MaxChannels || e.lastID >= maxChannelID:
		e.refuse(from, &o.bind, refusedFull)
	case e.cfg.Guard == nil && len(o.Hello) > 0:
		e.refuseHello(from, &o, refusedClear)
	case e.cfg.Guard == nil:
		cookie := e.cookieFor('c', k, e.period())
		e.accept(from, &o.bind, cookie[:])
	default:
		e.answer(from, &o, k)
	}
}

// answer passes a hello to the Guard, unless there are so many that the dialler must first show
// that it hears us.
func (e *Endpoint) answer(from netip.AddrPort, o *openPacket, k openKey) {
	proved := o.Cookie != [cookieSize]byte{}
	if proved && !e.checkCookie('o', k, o.Cookie[:]) {
		e.stats.BadCookie++
		proved = false // perhaps too old: the dialler gets another
	}
	if proved && !e.proved.take(e.now) {
		e.stats.Throttled++
		return
	}
	if !proved && !e.answers.take(e.now) {
		e.stats.Challenged++
		c := challengePacket{Dial: o.Dial, Salt: o.Salt, Cookie: e.cookieFor('o', k, e.period())}
		e.reply(from, &c)
		return
	}
	e.bindBuf = o.bind.append(e.bindBuf[:0])
	reply, err := e.cfg.Guard.Answer(e.replyBuf[:0], e.now, from, e.bindBuf, o.Hello)
	if err != nil || len(reply) > MaxReply {
		e.stats.BadHello++
		if errors.Is(err, ErrKey) {
			e.refuseHello(from, o, refusedHello)
		}
		return
	}
	e.replyBuf = reply
	e.accept(from, &o.bind, reply)
}

func (e *Endpoint) accept(to netip.AddrPort, o *bind, reply []byte) {
	e.reply(to, &acceptPacket{Dial: o.Dial, Salt: o.Salt, Self: e.self.Salt, Window: uint32(e.cfg.Window), Reply: reply})
}

func (e *Endpoint) refuse(to netip.AddrPort, o *bind, why refusal) {
	e.stats.Refused++
	e.reply(to, &refusePacket{Dial: o.Dial, Salt: o.Salt, Self: e.self.Salt, Why: why})
}

// refuseHello tells a dialler that its hello cannot make a channel; otherwise the dialler would
// repeat it in vain. Like every answer to an open it is shorter than the open, and nothing is kept
// of it.
func (e *Endpoint) refuseHello(to netip.AddrPort, o *openPacket, why refusal) {
	e.stats.Refused++
	e.reply(to, &refusePacket{Dial: o.Dial, Salt: o.Salt, Self: e.self.Salt, Why: why, Pass: passTag(o.Hello)})
}

// onFirst takes a packet of a dialler that shows its pass. A good pass makes the channel.
func (e *Endpoint) onFirst(from netip.AddrPort, p []byte) {
	var h firstHeader
	head, err := h.parse(p)
	if err != nil {
		e.stats.BadSize++
		return
	}
	k := openKey{at: from, salt: h.Salt, dial: h.Dial}
	c, known := e.accepted[k.anywhere()]
	if c != nil && c.acceptedAt(from) {
		e.take(c, from, p, head, uint64(h.Number))
		return
	}
	if !e.strangers.take(e.now) {
		e.stats.Throttled++
		return
	}
	switch {
	case h.Want != 0 && h.Want != e.self.Salt:
		e.refuse(from, &h.bind, refusedSalt)
		return
	case known && c == nil: // it has ended
		e.refuse(from, &h.bind, refusedGone)
		return
	case len(e.channels) >= e.cfg.MaxChannels || e.lastID >= maxChannelID || e.crowded(from):
		e.refuse(from, &h.bind, refusedFull)
		return
	}
	sealer, key, ok := e.admit(from, &h, k)
	if !ok {
		e.badPass(from, p, head, &h)
		return
	}
	if known {
		e.refuse(from, &h.bind, refusedGone) // already made by a packet from the dialler's old address
		return
	}
	// Check the seal before anything is kept.
	probe := channel{key: key, sealer: sealer}
	frames, ok := probe.unseal(p, head, uint64(h.Number))
	if !ok {
		e.stats.BadChecksum++
		return
	}
	e.admitted(from, &h, sealer, key, frames, len(p))
}

// ticketArrived forgets the ticket.
func (c *channel) ticketArrived() {
	if g := c.guest; g != nil {
		g.ticket, g.due = nil, false
		if !g.origin.IsValid() {
			c.guest = nil
		}
	}
}

// keepOrigin keeps where a dialler was at first, since its first packets may still come from there.
func (c *channel) keepOrigin() {
	if c.guest == nil {
		c.guest = new(guest)
	}
	if !c.guest.origin.IsValid() {
		c.guest.origin = c.peer.At
	}
}

// crowded reports whether a place has its maximum of channels.
func (e *Endpoint) crowded(at netip.AddrPort) bool {
	n := 0
	for d := e.byPlace[at]; d != nil && n < maxPerPlace; d = d.sibling {
		n++
	}
	return n >= maxPerPlace
}

// badPass answers a first whose pass is not good here. It may come from a dialler that changed its
// address before it knew our channel; its seal tells. A dialler that is told of a bad pass begins
// again, so none of its packets may have been accepted.
func (e *Endpoint) badPass(from netip.AddrPort, p []byte, head int, h *firstHeader) {
	c, known := e.accepted[dialKey{salt: h.Salt, dial: h.Dial}]
	switch {
	case c != nil:
		e.take(c, from, p, head, uint64(h.Number))
	case known:
		e.refuse(from, &h.bind, refusedGone)
	default:
		e.stats.BadCookie++
		e.stats.Refused++
		e.reply(from, &refusePacket{Dial: h.Dial, Salt: h.Salt, Self: e.self.Salt, Why: refusedPass, Pass: passTag(h.Pass)})
	}
}

// admit makes the keys of a channel from its pass.
func (e *Endpoint) admit(from netip.AddrPort, h *firstHeader, k openKey) (s Sealer, key uint64, ok bool) {
	if e.cfg.Guard == nil {
		return nil, keyOf(h.Pass), e.checkCookie('c', k, h.Pass)
	}
	e.bindBuf = h.bind.append(e.bindBuf[:0])
	s, err := e.cfg.Guard.Admit(e.now, from, e.bindBuf, h.Pass)
	return s, 0, err == nil
}

// admitted makes the channel of a dialler, and takes its first frames.
func (e *Endpoint) admitted(from netip.AddrPort, h *firstHeader, s Sealer, key uint64, frames []byte, size int) {
	c := e.addChannel(Address{At: from, Salt: h.Salt})
	c.remote, c.sealer, c.key = h.Dial, s, key
	c.ping = true // its ack tells that the dialler knows our channel
	e.accepted[c.acceptedAs()] = c
	if e.cfg.Guard != nil {
		if ticket := e.cfg.Guard.Ticket(nil, e.now, from); len(ticket) > 0 {
			c.guest = &guest{ticket: ticket, due: true}
		}
	}
	e.touch(c)
	if e.opened(c, int(h.Window)); c.state == dead {
		return
	}
	c.in.numbers.add(uint64(h.Number))
	c.in.largestAt = e.now
	if e.monitor != nil {
		e.monitor.PacketIn(e.now, PacketInfo{Peer: from, Kind: PacketFirst, Channel: c.id, Number: uint64(h.Number), Size: size})
	}
	c.take(e, from, frames, arriving{newest: true})
}
