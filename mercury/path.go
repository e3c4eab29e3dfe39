package mercury

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury/internal/congestion"
)

const (
	// DefaultSafeMTU passes on every path that is worth playing over; QUIC needs as much (RFC 9000,
	// 14).
	DefaultSafeMTU = 1200
	// searchTries is how often a size is tried before it counts as too long (RFC 8899, MAX_PROBES).
	searchTries = 3
	// searchAgain is when a channel whose path has become narrow looks for more (RFC 8899,
	// PMTU_RAISE_TIMER).
	searchAgain = 10 * time.Minute
	// blackHole is how many long packets in a row must be lost before the path counts as no longer
	// passing them. A short one must have arrived between each two, since packets that are lost
	// together only show an outage.
	blackHole = 6
	// silences is how many timeouts in a row make datagrams short, until something is acked again.
	silences = 3
	// pathTokenSize is the size of the token that proves a new address.
	pathTokenSize = 8
	// maxPathTries bounds the challenges of one new address. A packet that comes from there later
	// begins anew.
	maxPathTries = 3
)

// path is what a channel knows about the path to its peer: how long datagrams may be (RFC 8899),
// and whether the peer has moved (RFC 9000, 9).
//
//	narrow ──probe acked──> wide
//	   ^ └─ searchTries lost: half way, until too little is left; looks again after searchAgain
//	   │    (above DefaultMTU not half way: networks carry frames of 1500 bytes, or what they were set to)
//	   ├──── blackHole long packets lost, short ones arrived ─── wide; looks again after searchAgain
//	   └──── silences ─── wide; looks again at once
//
// Invariant: a silence, of the path or of the peer, says nothing about how long datagrams may be.
// It makes them short, since nothing is known any more, and the first answer after it makes them as
// long as before.
type path struct {
	mtu      uint16        // longest datagram that is known to pass; all sizes are at most MaxMTU
	goal     uint16        // size being tried, or to be tried at searchAt; 0 for none
	tries    uint8         // of it, up to searchTries
	longLost uint8         // long packets lost since one arrived, with a short one that arrived before each, up to blackHole
	short    bool          // a short one has arrived since the last of these
	answer   bool          // a response must go
	searchAt time.Duration // when to look again
	from     uint64        // packets below this were sent to where the peer was before

	*peerMove // nil while the peer has not moved
	response  [pathTokenSize]byte
}

// peerMove is where a peer seems to have moved to.
type peerMove struct {
	elsewhere netip.AddrPort
	token     [pathTokenSize]byte
	asked     int  // challenges sent there
	ask       bool // a challenge must go
	askedAt   time.Duration
}

// begin starts the search for a longer datagram.
func (p *path) begin(cfg *Config) {
	p.mtu = uint16(cfg.SafeMTU)
	p.goal, p.tries = 0, 0
	if cfg.MTU > cfg.SafeMTU {
		p.goal = p.next(cfg)
	}
}

// next is the size to try where more than mtu may pass.
func (p *path) next(cfg *Config) uint16 {
	if p.mtu < DefaultMTU {
		return uint16(min(cfg.MTU, DefaultMTU))
	}
	return uint16(cfg.MTU)
}

// searching reports whether a probe should go out now.
func (p *path) searching(now time.Duration) bool { return p.goal > 0 && p.searchAt <= now }

// onAcked learns from a packet that arrived; true if longer ones may be sent from now on.
func (p *path) onAcked(s *sentPacket, cfg *Config) bool {
	if p.short = int(s.size) <= cfg.SafeMTU; !p.short {
		p.longLost = 0
	}
	if s.search && s.number >= p.from && s.size > p.mtu {
		first := p.mtu < DefaultMTU && s.size >= DefaultMTU
		p.mtu = s.size
		p.goal, p.tries = 0, 0
		if int(p.mtu) < cfg.MTU {
			if p.goal, p.searchAt = p.next(cfg), s.at+searchAgain; first {
				p.searchAt = s.at // at once
			}
		}
		return true
	}
	return false
}

// onLost learns from a packet that did not; true if it was a probe.
func (p *path) onLost(s *sentPacket, cfg *Config) bool {
	if !s.search {
		if int(s.size) > cfg.SafeMTU && p.short {
			p.longLost = min(p.longLost+1, blackHole)
			p.short = false
		}
		return false
	}
	if p.goal > 0 {
		p.searchAt = s.at // at once, but not before what is already known
		if p.tries >= searchTries {
			p.shorten(s.at+searchAgain, cfg)
		}
	}
	return true
}

// shorten gives up a size that does not pass, and all of them until again if too little is left.
func (p *path) shorten(again time.Duration, cfg *Config) {
	p.tries = 0
	if p.goal > DefaultMTU && p.mtu < DefaultMTU {
		p.goal = DefaultMTU
		return
	}
	if p.goal = uint16((int(p.goal) + int(p.mtu)) / 2); int(p.goal) < int(p.mtu)+32 || p.mtu >= DefaultMTU {
		p.goal, p.searchAt = p.next(cfg), again
	}
}

// narrowed takes the path back to the safe size if long packets no longer pass; true if it did.
func (p *path) narrowed(now time.Duration, cfg *Config) bool {
	if p.longLost < blackHole || int(p.mtu) <= cfg.SafeMTU {
		return false
	}
	again := now + searchAgain
	if p.mtu > DefaultMTU {
		again = now // usual datagrams may still pass
	}
	p.longLost = 0
	p.mtu = uint16(cfg.SafeMTU)
	p.goal, p.tries, p.searchAt = p.next(cfg), 0, again
	return true
}

// checkPath goes back to short datagrams if the path passes no others.
func (c *channel) checkPath(e *Endpoint) {
	if c.path.narrowed(e.now, &e.cfg) {
		e.stats.Narrowed++
		c.out.rate.SetMTU(int(c.path.mtu))
	}
}

// onSilence reacts to timeouts in a row. If long packets do not pass, there are no acks to learn
// that from. So it makes packets short and probes the size that passed before; true if that is new.
func (p *path) onSilence(now time.Duration, timeouts int, cfg *Config) bool {
	if timeouts <= silences || int(p.mtu) <= cfg.SafeMTU {
		return false
	}
	p.goal, p.tries, p.searchAt = p.mtu, 0, now
	p.mtu, p.longLost = uint16(cfg.SafeMTU), 0
	return true
}

// tokenFor is what only a peer that hears us at an address can repeat.
func (e *Endpoint) tokenFor(c *channel, at netip.AddrPort) (t [pathTokenSize]byte) {
	return [pathTokenSize]byte(e.keyed('p', openKey{at: at, salt: c.peer.Salt, dial: c.remote}, uint64(c.id)))
}

// seenElsewhere notes that a sound packet of c came from another address. The channel moves only
// after the peer has answered from there, so a packet that somebody on the way has forwarded from
// an address of his own moves nothing. A channel without a Guard moves, too, since those who cannot
// read its packets know neither its key nor its token.
func (c *channel) seenElsewhere(e *Endpoint, from netip.AddrPort) {
	p := &c.path
	if p.peerMove == nil {
		p.peerMove = new(peerMove)
	}
	again := p.elsewhere != from || p.asked >= maxPathTries && e.now-p.askedAt > time.Second
	if again {
		p.elsewhere, p.token, p.asked = from, e.tokenFor(c, from), 0
	}
	if p.asked < maxPathTries && (p.asked == 0 || e.now-p.askedAt > c.out.rtt.Timeout()) {
		p.ask = true
		e.touch(c)
	}
}

// onResponse moves c when its token comes back from the new address.
func (c *channel) onResponse(e *Endpoint, from netip.AddrPort, token []byte) {
	p := &c.path
	if p.peerMove == nil || p.asked == 0 || from != p.elsewhere || string(token) != string(p.token[:]) {
		return
	}
	e.forgetPlace(c)
	if !c.dialled {
		c.keepOrigin()
	}
	c.peer.At = from
	e.rememberPlace(c)
	c.path = path{from: c.out.number}
	c.path.begin(&e.cfg)
	c.out.rtt, c.out.late.patience = congestion.RTT{}, 0
	c.out.rate.OnMoved()
	c.out.rate.SetMTU(int(c.path.mtu))
	c.out.scavenger = nil
	c.out.losses, c.copying = congestion.LossMeter{}, copyPolicy{}
	e.stats.Moved++
	if h, ok := e.handler.(MoveHandler); ok && !c.condemned {
		h.Moved(e.now, c.id, c.peer)
	}
}

// sendChallenge asks the new address for its token, in a packet of its own.
func (c *channel) sendChallenge(e *Endpoint, emit func(netip.AddrPort, []byte)) {
	p := &c.path
	p.ask = false
	p.asked++
	p.askedAt = e.now
	w := c.beginPacket(e)
	w.b = append(w.b, byte(frameChallenge))
	w.b = append(w.b, p.token[:]...)
	c.emitPacket(e, &w, p.elsewhere, emit)
}

// readToken reads the token of a challenge or a response.
func readToken(r *codec.Reader) (t [pathTokenSize]byte) {
	binary.LittleEndian.PutUint64(t[:], r.U64())
	return t
}
