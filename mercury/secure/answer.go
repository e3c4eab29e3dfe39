package secure

import (
	"crypto/subtle"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/flynn/noise"

	"github.com/cellscape/cellscape/mercury"
)

// Sizes of the handshake. Doc.go draws it.
const (
	noiseSize = 32 + tagSize               // either message of Noise NK: a public key, the tag of an empty text
	helloSize = 1 + noiseSize              // suite
	proofSize = helloSize + proofID        // a hello with a proof
	passText  = 1 + 8 + 32 + 32            // suite and standing, expiry, secrets to and from us
	passSize  = 1 + boxOverhead + passText // kind
	replySize = noiseSize + passSize + tagSize
)

// Kinds of pass, the first byte of each.
const (
	kindAnswered = 'A' // out of a reply
	kindEarly    = 'E' // made from a ticket
)

// standingShift puts the standing of a dialler above its suite, in the first byte of a pass's text.
const standingShift = 4

// Answer implements mercury.Guard. It costs one key and two exchanges on Curve25519. That is why an
// Endpoint bounds its rate, and asks for a cookie first when there are too many hellos.
func (g *Guard) Answer(b []byte, now time.Duration, from netip.AddrPort, bind, hello []byte) ([]byte, error) {
	reply, err := g.answer(b, now, from, bind, hello)
	if err != nil {
		g.stats.BadHellos++
		return b, err
	}
	g.stats.Answered++
	return reply, nil
}

func (g *Guard) answer(b []byte, now time.Duration, from netip.AddrPort, bind, hello []byte) ([]byte, error) {
	if !g.accepts() {
		return nil, ErrNotAcceptor
	}
	suite, p, message, err := g.readHello(hello)
	if err != nil {
		return nil, err
	}
	c := g.noise(suite, &exchange{own: [2]ownKey{g.static}}, p, bind)
	c.StaticKeypair = g.static.pair()
	hs, err := noise.NewHandshakeState(c)
	if err != nil {
		return nil, ErrHello
	}
	if _, _, _, err := hs.ReadMessage(nil, message); err != nil {
		return nil, ErrHello
	}
	start := len(b)
	b, in, out, err := hs.WriteMessage(b, nil)
	if err != nil {
		return nil, ErrHello // a public key of low order, which gives no common secret
	}
	receive, send := secret(in.UnsafeKey()), secret(out.UnsafeKey())
	standing := g.unproved()
	if p.given() {
		standing = p.standing
	}
	if b, err = g.sealPass(b, now, from, bind, byte(suite)|byte(standing)<<standingShift, &receive, &send); err != nil {
		return nil, err
	}
	tag := replyTag(&send, b[start+noiseSize:])
	return append(b, tag...), nil
}

// readHello reads a hello's suite and proof, and checks that they open this door. A hello that does
// not is refused before anything is computed.
func (g *Guard) readHello(hello []byte) (s Suite, p *proof, message []byte, err error) {
	if len(hello) != helloSize && len(hello) != proofSize || !Suite(hello[0]).valid() {
		return 0, nil, nil, ErrHello
	}
	s, message = Suite(hello[0]), hello[len(hello)-noiseSize:]
	standing := g.unproved()
	if len(hello) == proofSize {
		if p = g.proofOf([proofID]byte(hello[1:])); p == nil {
			g.stats.OldKeys++
			return 0, nil, nil, ErrProof
		}
		standing = p.standing
	}
	if !g.lets(standing) {
		g.stats.Strangers++
		return 0, nil, nil, ErrProof
	}
	return s, p, message, nil
}

// replyTag proves that the pass in a reply comes from the maker of the rest. The secret is known
// only after Noise's second message was written, so the pass, which holds the secret, cannot be
// part of that message.
func replyTag(send *secret, pass []byte) []byte { return send.derive("reply", pass, tagSize) }

// sealPass appends a pass for the dialler at from. Place and bind are not in it, but must be the
// same when it is opened.
func (g *Guard) sealPass(b []byte, now time.Duration, from netip.AddrPort, bind []byte, kind byte, receive, send *secret) ([]byte, error) {
	if err := g.passes.turn(now); err != nil {
		return nil, err
	}
	var nonce [boxNonce]byte
	if err := g.draw(nonce[:]); err != nil {
		return nil, err
	}
	text := make([]byte, 0, passText)
	text = append(text, kind)
	text = binary.LittleEndian.AppendUint64(text, uint64(now+g.config.PassLife))
	text = append(append(text, receive[:]...), send[:]...)
	b = append(b, kindAnswered)
	return g.passes.now.seal(b, &nonce, text, passContext(from, bind)), nil
}

// passContext is what a pass is good for.
func passContext(from netip.AddrPort, bind []byte) []byte {
	ip := from.Addr().As16() // the same for an IPv4 address in both of its forms
	context := append([]byte("cellscape mercury 1 pass"), 0)
	context = append(context, ip[:]...)
	context = binary.LittleEndian.AppendUint16(context, from.Port())
	return append(context, bind...)
}

// Admit implements mercury.Guard.
//
// If a pass is shown several times, only the first of its sessions to open a packet works. A second
// would use the same numbers again, under the same keys.
func (g *Guard) Admit(now time.Duration, from netip.AddrPort, bind, pass []byte) (mercury.Sealer, error) {
	var s *session
	switch {
	case len(pass) == passSize && pass[0] == kindAnswered:
		s = g.admitAnswered(now, from, bind, pass)
	case len(pass) == earlySize && pass[0] == kindEarly:
		s = g.admitEarly(now, from, bind, pass)
	default:
		g.stats.Refused++
	}
	if s == nil {
		return nil, mercury.ErrPass
	}
	return s, nil
}

func (g *Guard) admitAnswered(now time.Duration, from netip.AddrPort, bind, pass []byte) *session {
	_ = g.passes.turn(now) // old keys go; without random bytes they stay, but what they sealed expires
	sealed := pass[1:]
	text, ok := g.passes.open(nil, sealed, passContext(from, bind))
	if !ok || now >= time.Duration(binary.LittleEndian.Uint64(text[1:])) {
		g.stats.Refused++
		return nil
	}
	g.usedPasses.turn(now)
	g.stats.Admitted++
	receive, send := secret(text[9:9+32]), secret(text[9+32:])
	s := newSession(Suite(text[0]&(1<<standingShift-1)), mercury.Standing(text[0]>>standingShift), send, receive)
	s.once = &firstUse{used: g.usedPasses, id: strikeID(sealed[:len(strikeID{})])}
	return s
}

// equal compares in constant time.
func equal(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }
