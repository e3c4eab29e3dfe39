package mercury

import (
	"fmt"
	"github.com/cellscape/cellscape/internal/codec"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

// malformed reports whether a packet of a handshake cannot be what it says, and counts it.
func (e *Endpoint) malformed(err error) bool {
	if err != nil {
		e.stats.BadKind++
	}
	return err != nil
}

// answered finds the dialled channel that an answer to an open is for. The answer repeats our salt
// and comes from where we dialled, which shows that the sender has seen the open.
func (e *Endpoint) answered(from netip.AddrPort, dial ChannelID, salt uint32) *channel {
	c := e.channels[dial]
	if c == nil || c.state != dialling || c.peer.At != from || salt != e.self.Salt || c.failing {
		e.stats.BadChannel++
		return nil
	}
	return c
}

func (e *Endpoint) onChallenge(from netip.AddrPort, p []byte) {
	var ch challengePacket
	if e.malformed(ch.parse(p)) {
		return
	}
	c := e.answered(from, ch.Dial, ch.Salt)
	if c == nil || c.pass != nil || ch.Cookie == c.cookie { // one open for each cookie, so that a duplicated challenge does not duplicate our opens
		return
	}
	c.cookie = ch.Cookie
	c.openTries, c.opens = 0, 0
	c.openDue = true
	e.touch(c)
}

func (e *Endpoint) onAccept(from netip.AddrPort, p []byte) {
	var a acceptPacket
	if e.malformed(a.parse(p)) {
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
		c.out.rate.EndAck(e.now, c.out.rtt.Sample(e.now-c.openSent, 0), 0, new(congestion.Frame))
	}
	if c.target.Salt != 0 && c.target.Salt != a.Self || c.told && c.peer.Salt != a.Self {
		e.end(c, ErrPeerRestarted, false)
		return
	}
	c.peer.Salt = a.Self
	c.openDue = false
	c.ping = true
	e.touch(c)
	e.opened(c, int(a.Window))
}

// onChannel takes what an acceptor says about itself. It is sealed, unlike an accept.
func (c *channel) onChannel(e *Endpoint, r *codec.Reader) error {
	id, salt, window := r.Uvarint(), r.U32(), r.Uvarint()
	if r.Err() != nil || id == 0 || id > maxChannelID || salt == 0 || window < MinWindow || window > MaxWindow || !c.dialled {
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
	c.out.window = uint16(min(int(window), e.cfg.Window)) // an accept tells it too, but not under seal
	if c.state == dialling {
		e.opened(c, int(window))
	}
	if c.state != dead {
		c.path.begin(&e.cfg)
		e.touch(c)
	}
	e.endDial(c)
	return nil
}

// endDial forgets what only the dial of c needed, since its peer knows us now. What Dial was given
// is kept for the next Dial of that place.
func (e *Endpoint) endDial(c *channel) {
	if e.byTarget[c.target] == c {
		*c.dialState = dialState{target: c.target}
	} else {
		c.dialState = nil
	}
}

func (e *Endpoint) onRefuse(from netip.AddrPort, p []byte) {
	var f refusePacket
	if e.malformed(f.parse(p)) {
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
	case refusedHello, refusedClear:
		c.helloRefused(e, &f)
	}
}

// helloRefused ends a dial that could only time out. The refusal must repeat the end of the present
// hello, which only those know who have seen it. Once there is a pass, the acceptor has answered,
// whatever a stranger says.
func (c *channel) helloRefused(e *Endpoint, f *refusePacket) {
	var hello []byte
	if c.dialling != nil {
		hello = c.dialling.Hello()
	}
	switch {
	case c.state != dialling || c.pass != nil || f.Pass != passTag(hello):
		e.stats.BadChannel++
	case f.Why == refusedClear && c.dialling != nil:
		e.end(c, errPeerClear, false)
	case f.Why == refusedHello && c.dialling != nil:
		e.end(c, errOtherKey, false)
	case f.Why == refusedHello:
		e.end(c, errPeerSealed, false)
	default:
		e.stats.BadChannel++ // no hello was sent
	}
}

// The texts of ErrKey.
var (
	errOtherKey   = fmt.Errorf("%w: its key is not the one that this end dials it by, or it admits only processes of its cluster; give its public key and, if this is one of them, the cluster key in use", ErrKey)
	errPeerSealed = fmt.Errorf("%w: it is sealed and this end is not; give its public key", ErrKey)
	errPeerClear  = fmt.Errorf("%w: this end is sealed and the peer is not; give no key, or seal the peer", ErrKey)
)

// refused finds the channel that a refusal is for, which the acceptor must not be known to have.
func (e *Endpoint) refused(from netip.AddrPort, dial ChannelID, salt uint32) *channel {
	c := e.channels[dial]
	if c == nil || !c.dialled || c.remote != 0 || c.peer.At != from || salt != e.self.Salt || c.failing {
		e.stats.BadChannel++
		return nil
	}
	return c
}

// passRefused begins the handshake again. But it ends c if messages sent with the pass may have
// been delivered: by an earlier start at that place, or by this one long ago.
func (c *channel) passRefused(e *Endpoint, by uint32) {
	giver := c.peer.Salt
	if c.early {
		giver = c.dialling.Issuer()
	}
	switch {
	case by != giver && c.target.Salt == 0 && c.flights > 1: // the first flight may have reached the other start
		e.end(c, ErrPeerRestarted, false)
	case c.flights > 0 && e.now-c.firstAt > cookieLife:
		e.end(c, ErrPeerAborted, false) // the acceptor may have accepted the channel, ended it and forgotten it
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

// dialAgain begins the handshake again after the pass was refused: a ticket that was no longer
// good, or a pass that came too late. What was sent is sent again under the new keys, since the
// peer has accepted none of it.
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
		c.ping = true
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
