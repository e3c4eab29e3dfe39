package secure

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/flynn/noise"

	"github.com/cellscape/cellscape/mercury"
)

// dialling is one handshake of a dialler. It is the Dialling of this package.
type dialling struct {
	g      *Guard
	server PublicKey
	proof  proof // the one of the hello
	bind   []byte

	early        []byte // the pass from a ticket, while it may be shown
	earlySession *session

	// ephemeral is the private key of this handshake, and hello was made from it. hs is the
	// handshake after the hello. It is nil after a bad reply has spoilt it, and is then made again
	// from ephemeral. All are erased when the handshake is over.
	ephemeral [KeySize]byte
	hello     []byte
	hs        *noise.HandshakeState
	over      bool
	err       error // why there is no hello
	issuer    uint32
}

// Dial implements mercury.Guard. It uses up the ticket for the place, if there is one.
func (g *Guard) Dial(now time.Duration, to mercury.Address, bind []byte) (mercury.Dialling, error) {
	at := plain(to.At)
	server, ok := g.serverKey(at)
	if !ok {
		return nil, ErrNoServerKey
	}
	d := &dialling{g: g, server: server, bind: slices.Clone(bind)}
	if t, ok := g.kept.take(now, at); ok && !g.dials.given() { // a ticket proves nothing
		var random [earlyRandom]byte
		if err := g.draw(random[:]); err != nil {
			return nil, err
		}
		d.issuer = t.salt
		d.early, d.earlySession = newEarly(g.config.Suite, g.unproved(), &t.key, t.blob[:], random[:], bind)
		return d, nil
	}
	d.begin()
	return d, d.err
}

// begin makes a hello.
func (d *dialling) begin() {
	d.hello, d.hs, d.over, d.proof = nil, nil, false, d.g.dials
	if d.err = d.g.draw(d.ephemeral[:]); d.err != nil {
		return
	}
	if d.hs, d.hello, d.err = d.start(); d.err != nil {
		d.err = fmt.Errorf("secure: beginning a handshake: %w", d.err)
	}
}

// start begins the handshake with the key ephemeral. It makes the same hello each time.
func (d *dialling) start() (*noise.HandshakeState, []byte, error) {
	suite := d.g.config.Suite
	c := d.g.noise(suite, new(exchange), &d.proof, d.bind)
	c.Initiator, c.PeerStatic = true, d.server[:]
	c.Random = bytes.NewReader(d.ephemeral[:]) // the library draws only its key from this
	hs, err := noise.NewHandshakeState(c)
	if err != nil {
		return nil, nil, err
	}
	hello := []byte{byte(suite)}
	if d.proof.given() {
		hello = append(hello, d.proof.id[:]...)
	}
	hello, _, _, err = hs.WriteMessage(hello, nil)
	return hs, hello, err
}

// Hello implements mercury.Dialling. It is empty, and nobody answers it, if Config.Random failed or
// the server's key is of low order.
func (d *dialling) Hello() []byte {
	if d.hello == nil && d.err == nil && !d.over {
		d.begin()
	}
	return d.hello
}

// Early implements mercury.Dialling.
func (d *dialling) Early() (pass []byte, s mercury.Sealer, ok bool) {
	if d.early == nil {
		return nil, nil, false
	}
	return d.early, d.earlySession, true
}

// Issuer implements mercury.Dialling.
func (d *dialling) Issuer() uint32 { return d.issuer }

// Again implements mercury.Dialling.
func (d *dialling) Again() {
	d.early, d.earlySession = nil, nil
	d.begin()
}

// Finish implements mercury.Dialling. After an error a good reply may still come.
func (d *dialling) Finish(_ time.Duration, reply []byte) (pass []byte, s mercury.Sealer, err error) {
	if d.hello == nil || d.over || len(reply) != replySize {
		return nil, nil, ErrReply
	}
	if d.hs == nil {
		if d.hs, _, err = d.start(); err != nil {
			return nil, nil, ErrReply
		}
	}
	hs := d.hs
	d.hs = nil // a bad reply leaves traces in it
	_, out, in, err := hs.ReadMessage(nil, reply[:noiseSize])
	if err != nil {
		return nil, nil, ErrReply
	}
	send, receive := secret(out.UnsafeKey()), secret(in.UnsafeKey())
	pass, tag := reply[noiseSize:noiseSize+passSize], reply[noiseSize+passSize:]
	if !equal(tag, replyTag(&receive, pass)) {
		return nil, nil, ErrReply
	}
	d.over, d.ephemeral, d.hello = true, [KeySize]byte{}, nil
	d.early, d.earlySession = nil, nil
	standing := d.g.unproved()
	if d.proof.given() {
		standing = d.proof.standing
	}
	return slices.Clone(pass), newSession(d.g.config.Suite, standing, send, receive), nil
}
