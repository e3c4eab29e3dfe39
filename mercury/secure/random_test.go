package secure_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury/secure"
)

// shown is a pass that a client made or was given, with the first packet that it sealed: an
// adversary records both.
type shown struct {
	pass, first []byte
	from        netip.AddrPort
	bind        string
	start       int // of the server
	made        time.Duration
	ticket      bool
	admitted    bool
	opened      bool
}

// given is what is known of the newest ticket of a client.
type given struct {
	start int
	made  time.Duration
}

// alive reports whether s has not expired.
func (s *shown) alive(now time.Duration) bool {
	if s.ticket { // in Unix seconds
		return now/time.Second-s.made/time.Second <= secure.DefaultTicketLife/time.Second
	}
	return now < s.made+secure.DefaultPassLife
}

// hostile is a server that restarts, with clients and an adversary who records everything and shows
// it again, changed or not, from any place at any time. It knows what must be accepted and what
// must not.
type hostile struct {
	t      *testing.T
	random *rand.Rand
	seed   uint64
	key    secure.PrivateKey
	server *secure.Guard
	start  int
	client []*secure.Guard
	given  []given
	now    time.Duration
	shown  []*shown
	dials  int
	opened int
}

func newHostile(t *testing.T, seed uint64) *hostile {
	h := &hostile{t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 11)), key: keyOf(t, 1)}
	h.restart()
	for i := range 3 {
		suite := secure.Suite(1 + i%2)
		h.client = append(h.client, newGuard(t, secure.Config{Random: h.bytes(), Suite: suite, ServerKey: h.key.Public()}))
		h.given = append(h.given, given{})
	}
	return h
}

func (h *hostile) bytes() *rand.ChaCha8 {
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(h.random.Uint32())
	}
	return rand.NewChaCha8(seed)
}

func (h *hostile) restart() {
	h.start++
	h.server = newGuard(h.t, secure.Config{Random: h.bytes(), Key: h.key})
}

// place is where a client is: each has two ports.
func (h *hostile) place(client int) netip.AddrPort {
	ip := netip.AddrFrom4([4]byte{198, 51, 100, byte(client)})
	return netip.AddrPortFrom(ip, uint16(1+h.random.IntN(2)))
}

// dial takes a client as far as its first packet.
func (h *hostile) dial() {
	i := h.random.IntN(len(h.client))
	h.dials++
	s := &shown{from: h.place(i), bind: fmt.Sprint("bind ", h.dials), start: h.start, made: h.now}
	d, err := h.client[i].Dial(h.now, serverAt, []byte(s.bind))
	if err != nil {
		h.t.Fatal(err)
	}
	pass, near, early := d.Early()
	if early {
		s.ticket, s.start, s.made = true, h.given[i].start, h.given[i].made
	} else {
		reply, err := h.server.Answer(nil, h.now, s.from, []byte(s.bind), d.Hello())
		if err != nil {
			h.t.Fatal(err)
		}
		bad := bytes.Clone(reply)
		bad[h.random.IntN(len(bad))] ^= 1 << h.random.IntN(8)
		if _, _, err := d.Finish(h.now, bad); err == nil {
			h.t.Fatalf("seed %d: a changed reply was taken", h.seed)
		}
		if pass, near, err = d.Finish(h.now, reply); err != nil {
			h.t.Fatal(err)
		}
	}
	s.pass, s.first = bytes.Clone(pass), sealed(near, "first", 0)
	h.shown = append(h.shown, s)
	if h.random.IntN(3) > 0 {
		h.show(s, s.from, s.bind, s.pass, s.first)
	}
}

// show gives the server a pass and a packet, and compares what it does with what it should do.
func (h *hostile) show(s *shown, from netip.AddrPort, bind string, pass, first []byte) {
	genuine := s.start == h.start && bind == s.bind && bytes.Equal(pass, s.pass) && s.alive(h.now)
	if s.ticket {
		genuine = genuine && from.Addr() == s.from.Addr() && !s.admitted
	} else {
		genuine = genuine && from == s.from
	}
	far, err := h.server.Admit(h.now, from, []byte(bind), pass)
	if err == nil && !genuine {
		h.t.Fatalf("seed %d: a pass was admitted that is not good: %+v", h.seed, s)
	}
	if err != nil {
		if genuine {
			h.t.Fatalf("seed %d: a good pass was refused: %+v", h.seed, s)
		}
		return
	}
	s.admitted = true
	_, err = far.Open(bytes.Clone(first), headSize, 0)
	if same := bytes.Equal(first, s.first); (err == nil) != (same && !s.opened) {
		h.t.Fatalf("seed %d: first packet (same: %v, opened before: %v): %v", h.seed, same, s.opened, err)
	}
	if err == nil {
		s.opened = true
		h.opened++
		if h.random.IntN(2) == 0 {
			client := int(from.Addr().As4()[3])
			h.client[client].Keep(h.now, serverAt, h.server.Ticket(nil, h.now, from))
			h.given[client] = given{h.start, h.now}
		}
	}
}

// replay shows what was recorded, perhaps changed.
func (h *hostile) replay() {
	if len(h.shown) == 0 {
		return
	}
	recent := max(0, len(h.shown)-20)
	s := h.shown[recent+h.random.IntN(len(h.shown)-recent)]
	from, bind := s.from, s.bind
	pass, first := bytes.Clone(s.pass), bytes.Clone(s.first)
	for range h.random.IntN(3) {
		switch h.random.IntN(5) {
		case 0:
			from = h.place(h.random.IntN(len(h.client)))
		case 1:
			bind = fmt.Sprint("bind ", h.random.IntN(h.dials+1))
		case 2:
			pass[h.random.IntN(len(pass))] ^= 1 << h.random.IntN(8)
		case 3:
			first[h.random.IntN(len(first))] ^= 1 << h.random.IntN(8)
		case 4:
			first = h.shown[h.random.IntN(len(h.shown))].first
		}
	}
	h.show(s, from, bind, pass, first)
}

func TestHostileWorld(t *testing.T) {
	opened := 0
	for seed := range uint64(10) {
		h := newHostile(t, seed)
		for range 300 {
			switch n := h.random.IntN(100); {
			case n < 20:
				h.dial()
			case n < 80:
				h.replay()
			case n < 98:
				h.now += time.Duration(h.random.IntN(4000)) * time.Millisecond
			case n < 99:
				h.now += time.Duration(h.random.IntN(20)) * time.Minute
			default:
				h.restart()
			}
		}
		opened += h.opened
	}
	if opened < 200 {
		t.Errorf("only %d channels were opened: the test does not reach its subject", opened)
	}
}
