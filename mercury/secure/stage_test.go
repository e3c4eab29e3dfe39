package secure_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

// seeded is a source of bytes that gives the same ones in each run.
func seeded(seed byte) io.Reader {
	return rand.NewChaCha8([32]byte{0: seed, 31: 1})
}

// keyOf is a static key made of a seed.
func keyOf(tb testing.TB, seed byte) secure.PrivateKey {
	tb.Helper()
	k, err := secure.GenerateKey(seeded(seed))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func newGuard(tb testing.TB, c secure.Config) *secure.Guard {
	tb.Helper()
	g, err := secure.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

var (
	serverAt = mercury.Address{At: netip.MustParseAddrPort("192.0.2.1:20013"), Salt: 7}
	clientAt = netip.MustParseAddrPort("198.51.100.9:40000")
	bind     = []byte("salt, dial number, version")
)

// stage is a client and a server without an Endpoint between them.
type stage struct {
	tb             testing.TB
	client, server *secure.Guard
	now            time.Duration
}

func newStage(tb testing.TB, suite secure.Suite) *stage {
	tb.Helper()
	key := keyOf(tb, 1)
	return &stage{
		tb:     tb,
		client: newGuard(tb, secure.Config{Random: seeded(2), Suite: suite, ServerKey: key.Public()}),
		server: newGuard(tb, secure.Config{Random: seeded(3), Key: key}),
		now:    time.Second,
	}
}

// pair is the two ends of a channel.
type pair struct {
	client, server mercury.Sealer
	pass           []byte
}

func (s *stage) dial() mercury.Dialling {
	s.tb.Helper()
	d, err := s.client.Dial(s.now, serverAt, bind)
	if err != nil {
		s.tb.Fatal(err)
	}
	return d
}

func (s *stage) answer(hello []byte) []byte {
	s.tb.Helper()
	reply, err := s.server.Answer(nil, s.now, clientAt, bind, hello)
	if err != nil {
		s.tb.Fatal(err)
	}
	return reply
}

// finish goes on with d until both ends have a session.
func (s *stage) finish(d mercury.Dialling) pair {
	s.tb.Helper()
	pass, near, err := d.Finish(s.now, s.answer(d.Hello()))
	if err != nil {
		s.tb.Fatal(err)
	}
	far, err := s.server.Admit(s.now, clientAt, bind, pass)
	if err != nil {
		s.tb.Fatal(err)
	}
	return pair{near, far, pass}
}

// connect is a handshake of one round trip.
func (s *stage) connect() pair {
	s.tb.Helper()
	return s.finish(s.dial())
}

// resume is a handshake without a round trip; the server gives out a ticket first.
func (s *stage) resume() (pair, mercury.Dialling) {
	s.tb.Helper()
	s.client.Keep(s.now, serverAt, s.server.Ticket(nil, s.now, clientAt))
	d := s.dial()
	pass, near, ok := d.Early()
	if !ok {
		s.tb.Fatal("no early pass, although a ticket is kept")
	}
	far, err := s.server.Admit(s.now, clientAt, bind, pass)
	if err != nil {
		s.tb.Fatal(err)
	}
	return pair{near, far, pass}, d
}

const headSize = 12

// sealed makes a packet with a head and text, as an Endpoint would.
func sealed(s mercury.Sealer, text string, number uint64) []byte {
	packet := make([]byte, headSize, 1500)
	copy(packet, "head")
	packet = append(packet, text...)
	return s.Seal(packet, headSize, number)
}

// carries fails the test unless a packet gets from one Sealer to the other, and not in the clear.
func carries(tb testing.TB, from, to mercury.Sealer, number uint64) {
	tb.Helper()
	const text = "the quick brown fox jumps over the lazy dog"
	packet := sealed(from, text, number)
	if len(packet) != headSize+len(text)+16 {
		tb.Errorf("sealed packet has %d bytes, want %d more than %d", len(packet), 16, headSize+len(text))
	}
	if bytes.Contains(packet, []byte("fox")) {
		tb.Error("sealed packet shows its text")
	}
	got, err := to.Open(packet, headSize, number)
	if err != nil || string(got) != text {
		tb.Errorf("number %d: opened %q, %v", number, got, err)
	}
}

// works fails the test unless both directions carry packets.
func (p pair) works(tb testing.TB) {
	tb.Helper()
	for number := range uint64(3) {
		carries(tb, p.client, p.server, number)
		carries(tb, p.server, p.client, number)
	}
}

// refused fails the test unless err is mercury.ErrPass.
func refused(tb testing.TB, s mercury.Sealer, err error, why string) {
	tb.Helper()
	if s != nil || !errors.Is(err, mercury.ErrPass) {
		tb.Errorf("%s: got %v, %v, want ErrPass", why, s, err)
	}
}

// flips calls f with every copy of b that differs in one bit, then with a shortened and with a
// lengthened b.
func flips(b []byte, f func(bad []byte, what int)) {
	for i := range len(b) * 8 {
		bad := bytes.Clone(b)
		bad[i/8] ^= 1 << (i % 8)
		f(bad, i)
	}
	f(bytes.Clone(b[:len(b)-1]), -1)
	f(append(bytes.Clone(b), 0), -2)
	f(nil, -3)
}
