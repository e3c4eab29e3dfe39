package host_test

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/mercury/secure"
)

func newKey(t *testing.T, seed byte) secure.PrivateKey {
	t.Helper()
	k, err := secure.GenerateKey(rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func stats(t *testing.T, p *host.Process) secure.Stats {
	t.Helper()
	s, err := p.SealStats()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Two sealed processes talk: the first channel takes a round trip, the next comes by the
// ticket of the first.
func TestSecure(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	b := start(t, h, "b", host.Secure(secure.Config{Key: key}))
	a := start(t, h, "a", host.Secure(secure.Config{ServerKey: key.Public()}), nil)
	plain := start(t, h, "plain")
	for i := range 2 {
		send(t, a, b.Address(), "say hello")
		until(t, a, "has its answer", func(e *echo) bool { return len(e.messages) == i+1 })
		if i == 0 {
			// The ticket comes with the answer or after it.
			for deadline := time.Now().Add(patience); stats(t, b).Minted == 0 && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
		}
		do(t, a, func(e *echo) { e.env.Transport.Close(e.env.Transport.Dial(b.Address())) })
		until(t, b, "sees it closed", func(e *echo) bool { return len(e.closed) == i+1 })
	}
	if s := stats(t, b); s.Admitted != 1 || s.Resumed != 1 {
		t.Errorf("%+v", s)
	}
	if s := stats(t, plain); s != (secure.Stats{}) {
		t.Errorf("without a seal: %+v", s)
	}
	do(t, plain, func(e *echo) {
		if e.env.Guard != nil {
			t.Error("a process without Secure has a Guard")
		}
	})
}

// A ticket minted elsewhere for the address of a start is good there, from the IP that it
// was made for. From another, as behind a NAT that has several, or at another start, it
// is refused, and the dial goes on by itself.
func TestMintedElsewhere(t *testing.T) {
	for _, x := range []struct {
		name   string
		client netip.Addr
		salt   uint32 // added to the start's
		want   secure.Stats
	}{
		{"good", netip.MustParseAddr("127.0.0.1"), 0, secure.Stats{Resumed: 1}},
		{"another IP", netip.MustParseAddr("192.0.2.7"), 0, secure.Stats{Answered: 1, Admitted: 1}},
		{"another start", netip.MustParseAddr("127.0.0.1"), 1, secure.Stats{Answered: 1, Admitted: 1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			h, key := newHost(t), newKey(t, 1)
			keys := []secure.TicketKey{secure.TicketKey(newKey(t, 2))}
			b := start(t, h, "b", host.Secure(secure.Config{Key: key, TicketKeys: keys}))
			a := start(t, h, "a", host.Secure(secure.Config{ServerKey: key.Public()}))
			do(t, a, func(e *echo) {
				mint, err := secure.New(secure.Config{Random: rand.NewChaCha8([32]byte{3}), TicketKeys: keys, Epoch: e.env.Epoch})
				if err != nil {
					t.Error(err)
					return
				}
				at := b.Address()
				at.Salt += x.salt
				ticket, err := mint.Mint(nil, e.env.Clock(), host.GuardID(at), x.client)
				if err != nil {
					t.Error(err)
				}
				e.env.Guard.Keep(e.env.Clock(), at, ticket)
			})
			send(t, a, b.Address(), "say hello")
			until(t, a, "has its answer", func(e *echo) bool { return len(e.messages) == 1 })
			got := stats(t, b)
			got.Minted, got.Refused = 0, 0 // the Guard or the Endpoint may refuse a ticket
			if got != x.want {
				t.Errorf("%+v, want %+v", got, x.want)
			}
		})
	}
}

// Each start has a Guard of its own, under its own ID.
func TestSecureStartsAnew(t *testing.T) {
	h, key := newHost(t), newKey(t, 1)
	b := start(t, h, "b", host.Secure(secure.Config{Key: key}))
	var first mercury.Guard
	was := b.Address()
	do(t, b, func(e *echo) { first = e.env.Guard; e.dismissed = true })
	var now mercury.Guard
	do(t, b, func(e *echo) { now = e.env.Guard })
	if now == nil || now == first || was == b.Address() || host.GuardID(was) == host.GuardID(b.Address()) {
		t.Errorf("%v and %v share a Guard or an ID", was, b.Address())
	}
	if at := b.Address(); host.GuardID(at)>>32 != uint64(at.At.Port()) || uint32(host.GuardID(at)) != at.Salt {
		t.Errorf("ID %x of %v", host.GuardID(at), at)
	}
	// IDs and times are right, or shared ticket keys would be refused.
	_, err := h.Start("c", "127.0.0.1:0", func(env host.Env) (host.App, error) { return &echo{env: env}, nil },
		host.Secure(secure.Config{Key: key, TicketKeys: make([]secure.TicketKey, 1)}))
	if err == nil || !strings.Contains(err.Error(), "TicketKeys") || strings.Contains(err.Error(), "Epoch") {
		t.Errorf("a ticket key of zeros: %v", err)
	}
}

// The keys of a seeded Host follow from its seed.
func TestSecureIsRepeatable(t *testing.T) {
	ticket := func(seed uint64) []byte {
		h, err := host.New(host.Config{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = h.Close() }()
		var b []byte
		p := start(t, h, "a", host.Secure(secure.Config{Key: newKey(t, 1)}))
		do(t, p, func(e *echo) { b = e.env.Guard.Ticket(nil, 0, e.env.Self.At) })
		return b[:37] // version, life, secret: the rest is bound to the port
	}
	if a, b := ticket(5), ticket(5); !bytes.Equal(a, b) {
		t.Errorf("%x and %x", a, b)
	}
	if a, b := ticket(5), ticket(6); bytes.Equal(a, b) {
		t.Errorf("the same whatever the seed: %x", a)
	}
	if a, b := ticket(0), ticket(0); bytes.Equal(a, b) {
		t.Errorf("the same without a seed: %x", a)
	}
}
