package secure

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Sizes of tickets. Doc.go draws them.
const (
	ticketVersion = 1
	ticketText    = 32 + 8                   // secret, expiry
	blobSize      = boxOverhead + ticketText // what the client cannot read
	// TicketSize is the size of a ticket in bytes.
	TicketSize = 1 + 4 + 32 + blobSize // version, life, secret

	earlyRandom = 16
	earlySize   = 1 + 1 + earlyRandom + blobSize + tagSize // kind, suite, random, blob, binder
)

// ErrRandom is returned by Mint when Config.Random fails.
var ErrRandom = errors.New("secure: no random bytes for a ticket")

// Ticket implements mercury.Guard: a ticket for this app itself.
func (g *Guard) Ticket(b []byte, now time.Duration, from netip.AddrPort) []byte {
	if !g.accepts() || !g.lets(g.unproved()) {
		return b
	}
	ticket, err := g.Mint(b, now, g.id, from.Addr())
	if err != nil {
		return b // the peer's next channel takes a round trip
	}
	return ticket
}

// Mint appends a ticket with which the client at an IP may at once open one channel to the acceptor
// with a Config.ID. The acceptor must share this Guard's TicketKeys, or be this Guard. The ticket
// is a secret: send it to the client under seal, where Guard.Keep stores it for the acceptor's
// address. So a LoginApp spares its client the round trip to a BaseApp.
func (g *Guard) Mint(b []byte, now time.Duration, acceptor uint64, client netip.Addr) ([]byte, error) {
	seal, err := g.ticketBox(now)
	if err != nil {
		return b, err
	}
	var fresh [boxNonce + 32]byte
	if err := g.draw(fresh[:]); err != nil {
		return b, ErrRandom
	}
	nonce, key := [boxNonce]byte(fresh[:boxNonce]), fresh[boxNonce:]
	life := g.ticketLife()
	text := make([]byte, 0, ticketText)
	text = append(text, key...)
	text = binary.LittleEndian.AppendUint64(text, uint64(g.unix(now)+life))

	b = append(b, ticketVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(life))
	b = append(b, key...)
	g.stats.Minted++
	return seal.seal(b, &nonce, text, ticketContext(acceptor, client)), nil
}

// ticketBox returns the box that seals tickets now.
func (g *Guard) ticketBox(now time.Duration) (box, error) {
	if len(g.shared) > 0 {
		return g.shared[0], nil
	}
	err := g.tickets.turn(now)
	if err != nil {
		return box{}, ErrRandom
	}
	return g.tickets.now, nil
}

// ticketLife is Config.TicketLife in seconds.
func (g *Guard) ticketLife() int64 { return int64(g.config.TicketLife / time.Second) }

// unix is the Unix time in seconds, if Config.Epoch is right.
func (g *Guard) unix(now time.Duration) int64 { return g.config.Epoch + int64(now/time.Second) }

// ticketContext is what a ticket is bound to.
func ticketContext(acceptor uint64, client netip.Addr) []byte {
	ip := client.As16()
	context := append([]byte("cellscape mercury 1 ticket"), 0)
	context = binary.LittleEndian.AppendUint64(context, acceptor)
	return append(context, ip[:]...)
}

// earlyKeys derives the secrets of a session that a ticket opens: from the dialler, to it, and the
// binder, which proves that the dialler knows the ticket's secret. unbound and bind are all that
// the dialler says in the clear.
func earlyKeys(key *secret, unbound, bind []byte) (up, down secret, binder []byte) {
	context := append(append(make([]byte, 0, len(unbound)+len(bind)), unbound...), bind...)
	up = secret(key.derive("early dialler", context, len(up)))
	down = secret(key.derive("early acceptor", context, len(down)))
	return up, down, key.derive("early binder", context, tagSize)
}

// newEarly makes the pass and the session of a dialler with a ticket. random makes two uses of a
// ticket differ, of which an acceptor takes one.
func newEarly(suite Suite, standing mercury.Standing, key *secret, blob, random, bind []byte) ([]byte, *session) {
	pass := make([]byte, 0, earlySize)
	pass = append(pass, kindEarly, byte(suite))
	pass = append(append(pass, random...), blob...)
	up, down, binder := earlyKeys(key, pass, bind)
	return append(pass, binder...), newSession(suite, standing, up, down)
}

// admitEarly takes the pass that newEarly made, once.
func (g *Guard) admitEarly(now time.Duration, from netip.AddrPort, bind, pass []byte) *session {
	if !g.lets(g.unproved()) {
		g.stats.Strangers++
		g.stats.Refused++
		return nil
	}
	suite, blob := Suite(pass[1]), pass[2+earlyRandom:][:blobSize]
	key, ok := g.openTicket(now, from.Addr(), blob)
	if !ok || !suite.valid() {
		g.stats.Refused++
		return nil
	}
	unbound := pass[:earlySize-tagSize]
	up, down, binder := earlyKeys(&key, unbound, bind)
	if !equal(binder, pass[len(unbound):]) {
		g.stats.Refused++
		return nil
	}
	id := strikeID(blob[:len(strikeID{})])
	g.usedTickets.turn(now)
	switch {
	case g.usedTickets.has(id):
		g.stats.Replayed++
		return nil
	case !g.usedTickets.add(id):
		g.stats.Full++
		return nil
	}
	g.stats.Resumed++
	return newSession(suite, g.unproved(), down, up)
}

// openTicket returns the secret of a ticket if it is good for this app, the client and the time.
func (g *Guard) openTicket(now time.Duration, client netip.Addr, blob []byte) (key secret, ok bool) {
	if !g.accepts() {
		return key, false
	}
	_ = g.tickets.turn(now) // old keys go; without random bytes they stay, but what they sealed expires
	context := ticketContext(g.id, client)
	var text []byte
	for i := 0; i < len(g.shared) && !ok; i++ {
		text, ok = g.shared[i].open(nil, blob, context)
	}
	if !ok {
		text, ok = g.tickets.open(nil, blob, context)
	}
	if !ok {
		return key, false
	}
	left := int64(binary.LittleEndian.Uint64(text[32:])) - g.unix(now)
	if left < 0 || left > g.ticketLife()+int64(maxSkew/time.Second) { // longer than used tickets are remembered
		return key, false
	}
	return secret(text[:32]), true
}
