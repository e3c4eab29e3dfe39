package mercury

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"net/netip"
	"time"
)

// cookieLife is how long a cookie is given out; it is accepted for up to twice that. A dialler
// needs one round trip.
const cookieLife = 10 * time.Second

// maxTombs bounds the memory of ended channels. When it is full, the oldest is forgotten early. At
// worst a duplicated open then makes a channel that stays silent and times out.
const maxTombs = 65536

// openKey identifies one Dial of one start of one peer.
type openKey struct {
	at   netip.AddrPort
	salt uint32
	dial ChannelID
}

// dialKey is an openKey without its place, since a dialler may change its address before it knows
// our channel. A second one with the same salt and number, wherever it is, is refused.
type dialKey struct {
	salt uint32
	dial ChannelID
}

// anywhere is k without its place.
func (k openKey) anywhere() dialKey { return dialKey{salt: k.salt, dial: k.dial} }

// acceptedAs is the Dial that made an accepted channel.
func (c *channel) acceptedAs() dialKey { return dialKey{salt: c.peer.Salt, dial: c.remote} }

// acceptedAt reports whether an accepted channel was made by a packet from a place.
func (c *channel) acceptedAt(from netip.AddrPort) bool {
	if c.guest != nil && c.guest.origin.IsValid() {
		return c.guest.origin == from
	}
	return c.peer.At == from
}

// tomb remembers that an accepted channel has ended, for as long as its dialler may begin again
// without knowing that. It ages only while this process is awake.
type tomb struct {
	key     dialKey
	expires time.Duration
}

func newMAC(secret [16]byte) hash.Hash { return hmac.New(sha256.New, secret[:]) }

// keyed returns the keyed hash of an open's contents, a use and a number. It is valid until the
// next call.
func (e *Endpoint) keyed(use byte, k openKey, n uint64) []byte {
	ip := k.at.Addr().As16()
	in := append(e.macIn[:0], use)
	in = append(in, ip[:]...)
	in = binary.LittleEndian.AppendUint16(in, k.at.Port())
	in = binary.LittleEndian.AppendUint32(in, k.salt)
	in = binary.LittleEndian.AppendUint32(in, uint32(k.dial))
	in = binary.LittleEndian.AppendUint32(in, e.self.Salt)
	in = binary.LittleEndian.AppendUint64(in, n)
	e.macIn = in
	e.mac.Reset()
	e.mac.Write(in)
	e.macOut = e.mac.Sum(e.macOut[:0])
	return e.macOut
}

// cookieFor is the proof that a dialler at k.at has heard us, in the given period of cookieLife.
// use is 'c' for one that opens a channel, 'o' for one that an open must show.
func (e *Endpoint) cookieFor(use byte, k openKey, period int64) [cookieSize]byte {
	return [cookieSize]byte(e.keyed(use, k, uint64(period)))
}

func (e *Endpoint) period() int64 { return int64(e.now / cookieLife) }

// checkCookie accepts the cookies of this period and the one before.
func (e *Endpoint) checkCookie(use byte, k openKey, cookie []byte) bool {
	period := e.period()
	for _, p := range [...]int64{period, period - 1} {
		if want := e.cookieFor(use, k, p); hmac.Equal(want[:], cookie) {
			return true
		}
	}
	return false
}

// keyOf is the key of the channel that a cookie opens. Only the two ends, and those who can read
// their packets, know it.
func keyOf(cookie []byte) uint64 {
	if len(cookie) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(cookie)
}

// bury makes the Endpoint refuse opens of k until their cookies have expired.
func (e *Endpoint) bury(k dialKey) {
	e.accepted[k] = nil
	if e.tombs.len() == maxTombs {
		delete(e.accepted, e.tombs.at(0).key)
		e.tombs.pop()
	}
	*e.tombs.push() = tomb{key: k, expires: e.awake + 2*cookieLife}
}

func (e *Endpoint) expireTombs() {
	for e.tombs.len() > 0 && e.tombs.at(0).expires <= e.awake {
		delete(e.accepted, e.tombs.at(0).key)
		e.tombs.pop()
	}
}
