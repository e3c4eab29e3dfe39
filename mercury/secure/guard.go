package secure

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/flynn/noise"

	"github.com/cellscape/cellscape/mercury"
)

// Refusals that callers may branch on. A refused pass gives mercury.ErrPass.
var (
	// ErrNoServerKey is returned by Dial for a place whose public key is unknown: set
	// Config.ServerKey or call Pin.
	ErrNoServerKey = errors.New("secure: no public key is known of that place")
	// ErrNotAcceptor is returned by Answer of a Guard without Config.Key. It is a mercury.ErrKey.
	ErrNotAcceptor = fmt.Errorf("secure: no static key to accept with: %w", mercury.ErrKey)
	// ErrHello is returned by Answer for a hello that was made for another key, another bind, or by
	// nobody. It is a mercury.ErrKey, so that the dialler is told.
	ErrHello = fmt.Errorf("secure: hello is not good: %w", mercury.ErrKey)
	// ErrProof is the ErrHello for a dialler without a cluster key, or with one that is not, or no
	// longer, accepted.
	ErrProof = fmt.Errorf("%w: no accepted cluster key", ErrHello)
	// ErrReply is returned by Finish for a reply that was not made with the server's key, or not
	// for this hello. A good one may still come.
	ErrReply = errors.New("secure: reply is not good")
)

// Stats counts what a Guard has done. Only here are refused passes told apart by reason: the peer
// hears only that its pass is not good.
type Stats struct {
	Answered  uint64 // hellos answered
	BadHellos uint64 // hellos refused
	Admitted  uint64 // sessions from passes of Answer
	Resumed   uint64 // sessions from tickets
	Refused   uint64 // passes and tickets that were garbled, expired, or from another place
	Replayed  uint64 // tickets refused because they had been used
	Full      uint64 // tickets refused because too many had been used lately: raise Config.MaxUsed
	Minted    uint64 // tickets made
	Strangers uint64 // hellos and tickets refused because they prove too little for this door
	OldKeys   uint64 // hellos refused because their cluster key is not, or no longer, one of ours
}

// Guard is a mercury.Guard: it dials and, with a static key, accepts. Call it on its Endpoint's
// goroutine. It reads no clock.
type Guard struct {
	config Config // with defaults
	id     uint64
	static ownKey
	proofs []proof // of Config.ClusterKeys; nil: none is asked for
	dials  proof   // of this app's dials

	passes      *keyring // seal the passes of Answer
	usedPasses  *strikes
	tickets     *keyring // seal tickets: own ones, or
	shared      []box    // those of Config.TicketKeys
	usedTickets *strikes

	pinned map[netip.AddrPort]PublicKey
	kept   wallet
	stats  Stats
}

// New returns a Guard, or the error of Config.Validate.
func New(c Config) (*Guard, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	g := &Guard{
		config:      c,
		id:          c.ID,
		passes:      newKeyring(c.PassLife, c.Random),
		usedPasses:  newStrikes(c.PassLife, maxUsedPasses),
		tickets:     newKeyring(c.TicketLife, c.Random),
		usedTickets: newStrikes(c.TicketLife+maxSkew+rounding, c.MaxUsed),
		pinned:      make(map[netip.AddrPort]PublicKey),
		kept:        wallet{limit: c.MaxKept},
	}
	if !c.Key.IsZero() {
		g.static = newOwnKey(slices.Clone(c.Key[:]))
	}
	if !c.Access.IsZero() {
		g.dials = c.Access.proof()
	}
	g.takeClusterKeys(c.ClusterKeys)
	g.config.Key, g.config.TicketKeys, g.config.ClusterKeys, g.config.Access = PrivateKey{}, nil, nil, AccessKey{} // not kept twice
	return g, g.SetTicketKeys(c.TicketKeys)
}

// Overhead implements mercury.Guard.
func (g *Guard) Overhead() int { return tagSize }

// Stats returns what was counted since New.
func (g *Guard) Stats() Stats { return g.stats }

// Pin sets the key that the app at a place must prove to have, instead of Config.ServerKey; the
// zero key removes the pin. A LoginApp tells the client the BaseApp's key, and the client pins it
// before it dials. Pins stay until they are removed.
func (g *Guard) Pin(at netip.AddrPort, key PublicKey) {
	at = plain(at)
	if old, _ := g.serverKey(at); old != key {
		g.kept.take(0, at) // it came from the holder of the other key
	}
	if key.IsZero() {
		delete(g.pinned, at)
		return
	}
	g.pinned[at] = key
}

func (g *Guard) serverKey(at netip.AddrPort) (PublicKey, bool) {
	if k, ok := g.pinned[at]; ok {
		return k, true
	}
	return g.config.ServerKey, !g.config.ServerKey.IsZero()
}

// SetTicketKeys changes the shared ticket keys: the first seals, and all open. Give a new key last
// everywhere, then first everywhere, then leave the old one out after TicketLife. Without keys the
// Guard uses its own. On error nothing changes.
func (g *Guard) SetTicketKeys(keys []TicketKey) error {
	if err := checkTicketKeys(keys); err != nil {
		return fmt.Errorf("secure: ticket keys: %w", err)
	}
	if len(keys) > 0 && g.config.Epoch <= 0 {
		return errors.New("secure: ticket keys without Config.Epoch")
	}
	if len(keys) > 0 && g.id == 0 && g.accepts() {
		return errors.New("secure: ticket keys without Config.ID")
	}
	g.shared = nil
	for _, k := range keys {
		g.shared = append(g.shared, newBox(k))
	}
	return nil
}

// accepts reports whether g has a static key.
func (g *Guard) accepts() bool { return g.static.key != nil }

// draw fills b from Config.Random.
func (g *Guard) draw(b []byte) error {
	if _, err := io.ReadFull(g.config.Random, b); err != nil {
		return fmt.Errorf("secure: drawing random bytes: %w", err)
	}
	return nil
}

// noise returns the configuration of a handshake. Both ends must have the same prologue, so a byte
// of it that is changed on the way ends the handshake. With a proof the pattern is NKpsk0.
func (g *Guard) noise(s Suite, x *exchange, p *proof, bind []byte) noise.Config {
	prologue := append([]byte("cellscape mercury 1"), byte(s))
	c := noise.Config{CipherSuite: s.noise(x), Random: g.config.Random, Pattern: noise.HandshakeNK}
	if p.given() {
		prologue = append(prologue, p.id[:]...)
		c.PresharedKey = p.key[:]
	}
	c.Prologue = append(prologue, bind...)
	return c
}

// plain returns a place without what differs between sockets: the IPv6 form of an IPv4 address, and
// a zone.
func plain(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(plainIP(at.Addr()), at.Port())
}

func plainIP(ip netip.Addr) netip.Addr { return ip.Unmap().WithZone("") }

var (
	_ mercury.Guard    = (*Guard)(nil)
	_ mercury.Dialling = (*dialling)(nil)
	_ mercury.Sealer   = (*session)(nil)
)

// This compiles only if what is sent keeps to mercury's sizes.
const (
	_ = uint(mercury.MaxHello - proofSize)
	_ = uint(mercury.MaxReply - replySize)
	_ = uint(mercury.MaxPass - passSize)
	_ = uint(mercury.MaxPass - earlySize)
	_ = uint(mercury.MaxTicket - TicketSize)
)
