package mercury

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
)

const (
	// firstOpenRetry is when an unanswered open is repeated; the wait doubles up to lastOpenRetry.
	firstOpenRetry = 250 * time.Millisecond
	lastOpenRetry  = time.Second
	// answersPerSecond is how many hellos of diallers whose address is not proved are answered: each costs a Guard two
	// multiplications on a curve, some 0.1 ms. Above that a dialler must first return a cookie.
	answersPerSecond = 1000
	answersBurst     = 512
	// strangersPerSecond bounds what is done for packets that name no channel of their sender: checking a pass, or the seal of a
	// packet from a new address.
	strangersPerSecond = 20000
	strangersBurst     = 4096
	// moversPerSecond does the same for packets of channels from other places than their peers', so that strangers do not keep a client
	// that has moved from being heard.
	moversPerSecond = 5000
	moversBurst     = 1024
	// maxSiblingPings bounds the channels that one new channel makes us ask whether they are still there.
	maxSiblingPings = 4
)

// bucket lets so many things happen in a second.
type bucket struct {
	left, burst int
	perSecond   int
	from        time.Duration
}

// take reports whether one more may happen.
func (b *bucket) take(now time.Duration) bool {
	if since := now - b.from; since >= time.Second/time.Duration(b.perSecond) {
		b.left = min(b.burst, b.left+int(min(since, time.Second)*time.Duration(b.perSecond)/time.Second))
		b.from = now
	}
	if b.left == 0 {
		return false
	}
	b.left--
	return true
}

// onOpen answers a dialler. Nothing is kept of it: the pass in the answer, which is shown only by who lives at that address,
// makes the channel.
func (e *Endpoint) onOpen(from netip.AddrPort, p []byte) {
	var o openPacket
	if o.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	k := openKey{at: from, salt: o.Salt, dial: o.Dial}
	switch {
	case o.Want != 0 && o.Want != e.self.Salt:
		e.refuse(from, &o.bind, refusedSalt)
	case len(e.channels) >= e.cfg.MaxChannels || e.lastID >= maxChannelID:
		e.refuse(from, &o.bind, refusedFull)
	case e.cfg.Guard == nil:
		cookie := e.cookieFor('c', k, e.period())
		e.accept(from, &o.bind, cookie[:])
	default:
		e.answer(from, &o, k)
	}
}

// answer has the Guard take a hello, unless there are so many that the dialler must first show that it hears us.
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

// onFirst takes in a packet of a dialler that shows its pass. A good one makes the channel.
func (e *Endpoint) onFirst(from netip.AddrPort, p []byte) {
	var h firstHeader
	head, err := h.parse(p)
	if err != nil {
		e.stats.BadSize++
		return
	}
	k := openKey{at: from, salt: h.Salt, dial: h.Dial}
	if c := e.accepted[k]; c != nil {
		e.take(c, from, p, head, uint64(h.Number))
		return
	}
	if !e.strangers.take(e.now) {
		e.stats.Throttled++
		return
	}
	_, ended := e.accepted[k]
	switch {
	case h.Want != 0 && h.Want != e.self.Salt:
		e.refuse(from, &h.bind, refusedSalt)
		return
	case ended:
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
	if _, known := e.accepted[k.anywhere()]; known {
		e.refuse(from, &h.bind, refusedGone) // made already, by a packet from where the dialler was before
		return
	}
	// The seal must hold before anything is kept.
	probe := channel{key: key, sealer: sealer}
	frames, ok := probe.unseal(p, head, uint64(h.Number))
	if !ok {
		e.stats.BadChecksum++
		return
	}
	e.admitted(from, &h, k, sealer, key, frames, len(p))
}

// crowded reports whether there are as many channels to a place as may be.
func (e *Endpoint) crowded(at netip.AddrPort) bool {
	n := 0
	for d := e.byPlace[at]; d != nil && n < maxPerPlace; d = d.sibling {
		n++
	}
	return n >= maxPerPlace
}

// badPass answers a first whose pass is not good here. It may come from a dialler that has changed its address before it knew our
// channel; its seal tells. A dialler that is told of a bad pass begins anew, so it must be sure that nothing of it was taken.
func (e *Endpoint) badPass(from netip.AddrPort, p []byte, head int, h *firstHeader) {
	c, known := e.accepted[openKey{salt: h.Salt, dial: h.Dial}]
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

// admitted makes the channel of a dialler and takes its first frames in.
func (e *Endpoint) admitted(from netip.AddrPort, h *firstHeader, k openKey, s Sealer, key uint64, frames []byte, size int) {
	c := e.addChannel(Address{At: from, Salt: h.Salt})
	c.remote, c.accepted = h.Dial, k
	c.sealer, c.key = s, key
	c.ownSalt, c.ownWindow = e.self.Salt, e.cfg.Window
	c.out.ping = true // its ack tells that the dialler knows our channel
	e.accepted[k] = c
	e.accepted[k.anywhere()] = c
	if e.cfg.Guard != nil {
		c.ticket = e.cfg.Guard.Ticket(nil, e.now, from)
		c.ticketDue = len(c.ticket) > 0
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
	eliciting, err := c.onFrames(e, from, frames)
	switch {
	case c.state == dead:
	case err != nil:
		e.breach(c, err)
	default:
		if eliciting {
			c.wantAck(e, false)
		}
		e.wake(c)
	}
}

// opened makes c an open channel and tells the app.
func (e *Endpoint) opened(c *channel, window int) {
	c.state = open
	c.out.window = min(window, e.cfg.Window)
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

// probeSiblings pings channels to other starts at the place of c's peer. If the start that opened c has taken their
// place, its reset ends them within a round trip. They are not ended here and now, because the open may be an old one
// that the network held back.
func (e *Endpoint) probeSiblings(c *channel) {
	for d, n := e.byPlace[c.peer.At], 0; d != nil && n <= maxSiblingPings; d, n = d.sibling, n+1 {
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
	if c == nil || c.pass != nil || ch.Cookie == c.cookie { // one cookie, one open: a doubled challenge must not double our opens
		return
	}
	c.cookie = ch.Cookie
	c.openTries, c.opens = 0, 0
	c.openDue = true
	e.touch(c)
}

func (e *Endpoint) onAccept(from netip.AddrPort, p []byte) {
	var a acceptPacket
	if a.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	c := e.answered(from, a.Dial, a.Salt)
	switch {
	case c == nil || c.pass != nil:
		return
	}
	if c.dialling != nil {
		pass, s, err := c.dialling.Finish(e.now, a.Reply)
		if err != nil || len(pass) > MaxPass {
			e.stats.BadHello++ // forged, or an answer to an earlier hello
			return
		}
		c.pass, c.sealer = append([]byte(nil), pass...), s
	} else {
		if len(a.Reply) != cookieSize {
			e.stats.BadKind++
			return
		}
		c.pass, c.key = append([]byte(nil), a.Reply...), keyOf(a.Reply)
	}
	if c.opens == 1 && c.openSent >= e.jumped {
		c.out.rate.endAck(e.now, c.out.rtt.sample(e.now-c.openSent, 0), 0)
	}
	if c.target.Salt != 0 && c.target.Salt != a.Self || c.told && c.peer.Salt != a.Self {
		e.end(c, ErrPeerRestarted, false)
		return
	}
	c.peer.Salt = a.Self
	c.openDue = false
	c.out.ping = true
	e.touch(c)
	e.opened(c, int(a.Window))
}

// onChannel takes in what an acceptor tells about itself. It is sealed, unlike an accept.
func (c *channel) onChannel(e *Endpoint, r *Reader) error {
	id, salt, window := r.Uvarint(), r.U32(), r.Uvarint()
	if r.err != nil || id == 0 || id > maxChannelID || salt == 0 || window < MinWindow || window > MaxWindow || !c.dialled {
		return ErrProtocol
	}
	if c.remote != 0 {
		if c.remote != ChannelID(id) || c.peer.Salt != salt {
			return ErrProtocol
		}
		return nil
	}
	if c.target.Salt != 0 && c.target.Salt != salt || c.told && c.peer.Salt != salt {
		e.end(c, ErrPeerRestarted, true)
		return nil
	}
	c.remote, c.peer.Salt = ChannelID(id), salt
	c.out.window = min(int(window), e.cfg.Window) // an accept tells it too, but not under seal
	c.dialling = nil
	if c.state == dialling {
		e.opened(c, int(window))
	}
	if c.state != dead {
		c.path.begin(&e.cfg)
		e.touch(c)
	}
	return nil
}

func (e *Endpoint) onRefuse(from netip.AddrPort, p []byte) {
	var f refusePacket
	if f.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	c := e.refused(from, f.Dial, f.Salt)
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
	case refusedPass:
		if f.Pass == passTag(c.pass) {
			c.passRefused(e, f.Self)
		}
	}
}

// refused finds the channel that a refusal is for: one that the acceptor is not known to have.
func (e *Endpoint) refused(from netip.AddrPort, dial ChannelID, salt uint32) *channel {
	c := e.channels[dial]
	if c == nil || !c.dialled || c.remote != 0 || c.peer.At != from || salt != e.self.Salt || c.failing != nil {
		e.stats.BadChannel++
		return nil
	}
	return c
}

// passRefused begins anew, or ends c when what was sent with the pass may have been heard: by an earlier start at that place than
// the one that refuses it, or by this one long ago.
func (c *channel) passRefused(e *Endpoint, by uint32) {
	giver := c.peer.Salt
	if c.early {
		giver = c.dialling.Issuer()
	}
	switch {
	case by != giver && c.target.Salt == 0 && c.flights > 1: // the first flight may have met the other start
		e.end(c, ErrPeerRestarted, false)
	case c.flights > 0 && e.now-c.firstAt > cookieLife:
		e.end(c, ErrPeerAborted, false) // the acceptor may have taken the channel, ended it, and forgotten it since
	default:
		c.dialAgain(e)
	}
}

// noteFirst counts the times at which packets with the pass were sent.
func (c *channel) noteFirst(now time.Duration) {
	switch {
	case c.flights == 0:
		c.flights, c.firstAt = 1, now
	case now > c.firstAt:
		c.flights = 2
	}
}

// dialAgain begins the handshake anew after the pass was refused: a ticket that was not good any more, or a pass that came too
// late. What was sent is sent again under the new keys; the peer has taken none of it.
func (c *channel) dialAgain(e *Endpoint) {
	c.state, c.flights = dialling, 0
	c.pass, c.sealer, c.key, c.early = nil, nil, 0, false
	c.loseAll()
	if c.dialling != nil {
		c.dialling.Again()
	}
	c.cookie = [cookieSize]byte{}
	c.openTries, c.opens = 0, 0
	c.openDue = true
	e.touch(c)
}

// beginDial prepares the handshake of a dialled channel.
func (c *channel) beginDial(e *Endpoint) error {
	if e.cfg.Guard == nil {
		return nil
	}
	b := c.bind(e)
	e.bindBuf = b.append(e.bindBuf[:0])
	d, err := e.cfg.Guard.Dial(e.now, c.target, e.bindBuf)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAddress, err)
	}
	c.dialling = d
	pass, s, ok := d.Early()
	switch {
	case !ok:
	case len(pass) > MaxPass || c.target.Salt != 0 && c.target.Salt != d.Issuer():
		d.Again() // of no use there
	default:
		c.pass, c.sealer, c.early = append([]byte(nil), pass...), s, true
		c.out.window = MinWindow // until the peer has told its own
		c.out.ping = true
	}
	return nil
}

// sendOpen asks the peer of a dialled channel once more.
func (c *channel) sendOpen(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	c.openDue = false
	wait := min(firstOpenRetry<<min(c.openTries, 8), lastOpenRetry)
	c.openTries++
	c.opens++
	c.openAt, c.openSent, c.lastSent = e.now+wait, e.now, e.now
	o := openPacket{bind: c.bind(e), Cookie: c.cookie}
	if c.dialling != nil {
		o.Hello = c.dialling.Hello()
	}
	e.packet = o.append(e.packet[:0])
	e.emit(c.peer.At, e.packet, emit)
}

// reset tells the sender of a data packet that its channel is not here. A packet too short to be answered by fewer
// bytes is not answered; none that asks for an ack is.
func (e *Endpoint) reset(to netip.AddrPort, h *dataHeader, p []byte) {
	if len(p) <= resetSize {
		return
	}
	if !e.resets.take(e.now) {
		e.stats.Throttled++
		return
	}
	e.stats.ResetsOut++
	e.reply(to, &resetPacket{Channel: h.Channel, Tag: endOf(p), Self: e.self.Salt})
}

// onReset ends the channel that the peer does not know. Who can repeat the end of a packet in flight has seen it.
func (e *Endpoint) onReset(from netip.AddrPort, p []byte) {
	var s resetPacket
	if s.parse(p) != nil {
		e.stats.BadKind++
		return
	}
	if !e.resetsIn.take(e.now) {
		e.stats.Throttled++
		return
	}
	for c := e.byPlace[from]; c != nil; c = c.sibling {
		if c.state != open || c.remote != s.Channel || !c.out.hasTag(s.Tag) {
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

// endOf is the last eight bytes of a packet.
func endOf(p []byte) uint64 { return binary.LittleEndian.Uint64(p[len(p)-8:]) }

// hasTag reports whether a packet that is not acked ends so.
func (s *sender) hasTag(tag uint64) bool {
	for i := range s.sent.len() {
		if p := s.sent.at(i); p.state != arrived && p.tag == tag {
			return true
		}
	}
	return false
}

// reply queues an answer outside of a channel for the next Flush.
func (e *Endpoint) reply(to netip.AddrPort, p interface{ append([]byte) []byte }) {
	if e.replies.len() >= maxReplies {
		e.stats.Throttled++
		return
	}
	*e.replies.push() = reply{to: to, buf: p.append(e.buffer(openSize))}
}
