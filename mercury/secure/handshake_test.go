package secure_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/secure"
)

func TestRoundTripBothSuites(t *testing.T) {
	for _, suite := range []secure.Suite{secure.AESGCM, secure.ChaChaPoly} {
		t.Run(suite.String(), func(t *testing.T) {
			s := newStage(t, suite)
			s.connect().works(t)
			p, _ := s.resume()
			p.works(t)
			want := secure.Stats{Answered: 1, Admitted: 1, Resumed: 1, Minted: 1}
			if got := s.server.Stats(); got != want {
				t.Errorf("stats %+v, want %+v", got, want)
			}
		})
	}
}

func TestSizesStayWithinMercurys(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	d := s.dial()
	hello := d.Hello()
	reply := s.answer(hello)
	pass, _, err := d.Finish(s.now, reply)
	if err != nil {
		t.Fatal(err)
	}
	ticket := s.server.Ticket(nil, s.now, clientAt)
	s.client.Keep(s.now, serverAt, ticket)
	early, _, _ := s.dial().Early()
	for _, c := range []struct {
		name      string
		got       []byte
		want, max int
	}{
		{"hello", hello, 49, mercury.MaxHello},
		{"reply", reply, 178, mercury.MaxReply},
		{"pass", pass, 114, mercury.MaxPass},
		{"ticket", ticket, secure.TicketSize, mercury.MaxTicket},
		{"early pass", early, 114, mercury.MaxPass},
	} {
		if len(c.got) != c.want || len(c.got) > c.max {
			t.Errorf("%s has %d bytes, want %d, at most %d", c.name, len(c.got), c.want, c.max)
		}
	}
}

// What goes over the wire is agreed on by clients that are out already: whoever changes it on
// purpose changes the label "cellscape mercury 1" and the sums here.
func TestWireIsWhatItWas(t *testing.T) {
	for _, c := range []struct {
		suite secure.Suite
		want  string
	}{
		{secure.AESGCM, "9685a57de8454359"},
		{secure.ChaChaPoly, "416925dccefe7e0a"},
	} {
		s := newStage(t, c.suite)
		sum := sha256.New()
		d := s.dial()
		sum.Write(d.Hello())
		reply := s.answer(d.Hello())
		sum.Write(reply)
		pass, near, err := d.Finish(s.now, reply)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(pass)
		sum.Write(sealed(near, "first epoch", 1))
		sum.Write(sealed(near, "third epoch", 2<<20+1))
		ticket := s.server.Ticket(nil, s.now, clientAt)
		sum.Write(ticket)
		s.client.Keep(s.now, serverAt, ticket)
		early, near, _ := s.dial().Early()
		sum.Write(early)
		sum.Write(sealed(near, "early", 0))
		if got := fmt.Sprintf("%x", sum.Sum(nil)[:8]); got != c.want {
			t.Errorf("%v: sum of all messages is %s, want %s", c.suite, got, c.want)
		}
	}
}

// A dialler's first packets all show the pass; whichever comes first makes the session, and one
// only.
func TestPassIsGoodAgainButOpensForOneSession(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	p := s.connect()
	second, err := s.server.Admit(s.now, clientAt, bind, p.pass)
	if err != nil {
		t.Fatal("a pass that was admitted but has opened nothing is not good:", err)
	}
	packet := sealed(p.client, "first", 0)
	if _, err := second.Open(bytes.Clone(packet), headSize, 0); err != nil {
		t.Fatal(err)
	}
	for number := range uint64(2) {
		if _, err := p.server.Open(bytes.Clone(packet), headSize, number); !errors.Is(err, secure.ErrPacket) {
			t.Errorf("a second session of one pass opened a packet: %v", err)
		}
	}
	third, err := s.server.Admit(s.now+5*time.Second, clientAt, bind, p.pass)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := third.Open(bytes.Clone(packet), headSize, 0); !errors.Is(err, secure.ErrPacket) {
		t.Errorf("a third session of one pass opened a packet: %v", err)
	}
}

func TestPassIsBoundToPlaceTimeAndBind(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	pass := s.connect().pass
	for _, c := range []struct {
		why  string
		now  time.Duration
		from string
		bind string
		ok   bool
	}{
		{"the same again", s.now, clientAt.String(), string(bind), true},
		{"IPv6 clothes", s.now, "[::ffff:198.51.100.9]:40000", string(bind), true},
		{"at the last moment", s.now + secure.DefaultPassLife - 1, clientAt.String(), string(bind), true},
		{"too late", s.now + secure.DefaultPassLife, clientAt.String(), string(bind), false},
		{"much too late", s.now + time.Hour, clientAt.String(), string(bind), false},
		{"other port", s.now, "198.51.100.9:40001", string(bind), false},
		{"other IP", s.now, "198.51.100.8:40000", string(bind), false},
		{"other bind", s.now, clientAt.String(), string(bind) + "!", false},
		{"no bind", s.now, clientAt.String(), "", false},
	} {
		got, err := s.server.Admit(c.now, netip.MustParseAddrPort(c.from), []byte(c.bind), pass)
		if c.ok {
			if err != nil {
				t.Errorf("%s: %v", c.why, err)
			}
			continue
		}
		refused(t, got, err, c.why)
	}
}

func TestPassDiesWithItsKeyAndItsMaker(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	pass := s.connect().pass
	twin := newGuard(t, secure.Config{Random: seeded(9), Key: keyOf(t, 1)})
	got, err := twin.Admit(s.now, clientAt, bind, pass)
	refused(t, got, err, "another start with the same static key")
	s.now += 2 * secure.DefaultPassLife
	s.connect().works(t) // the key turns
	got, err = s.server.Admit(s.now, clientAt, bind, pass)
	refused(t, got, err, "two periods later")
}

func TestHandshakeNeedsTheServersKey(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	wrong := newGuard(t, secure.Config{Random: seeded(4), ServerKey: keyOf(t, 5).Public()})
	d, err := wrong.Dial(s.now, serverAt, bind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.server.Answer(nil, s.now, clientAt, bind, d.Hello()); !errors.Is(err, secure.ErrHello) {
		t.Errorf("hello for another key: %v", err)
	}
	// A man in the middle with a key of his own can answer such a hello, but not one for the right
	// key.
	middle := newGuard(t, secure.Config{Random: seeded(6), Key: keyOf(t, 5)})
	reply, err := middle.Answer(nil, s.now, clientAt, bind, d.Hello())
	if err != nil {
		t.Fatal(err)
	}
	right := s.dial()
	if _, _, err := right.Finish(s.now, reply); !errors.Is(err, secure.ErrReply) {
		t.Errorf("reply of another key: %v", err)
	}
	s.finish(right).works(t) // and is not harmed by the attempt
}

func TestHandshakeIsBound(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	d := s.dial()
	if _, err := s.server.Answer(nil, s.now, clientAt, []byte("else"), d.Hello()); !errors.Is(err, secure.ErrHello) {
		t.Errorf("other bind: %v", err)
	}
	other := bytes.Clone(d.Hello())
	other[0] = byte(secure.ChaChaPoly) // a downgrade, if one of them were weak
	if _, err := s.server.Answer(nil, s.now, clientAt, bind, other); !errors.Is(err, secure.ErrHello) {
		t.Errorf("other suite: %v", err)
	}
}

func TestFlippedBits(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	d := s.dial()
	flips(d.Hello(), func(bad []byte, what int) {
		before := []byte("before")
		if b, err := s.server.Answer(before, s.now, clientAt, bind, bad); err == nil || !bytes.Equal(b, before) {
			t.Errorf("hello with bit %d flipped: %q, %v", what, b, err)
		}
	})
	reply := s.answer(d.Hello())
	for i := range reply { // each costs the dialler a new handshake state: one bit of each byte
		bad := bytes.Clone(reply)
		bad[i] ^= 1 << (i % 8)
		if _, _, err := d.Finish(s.now, bad); !errors.Is(err, secure.ErrReply) {
			t.Errorf("reply with byte %d changed: %v", i, err)
		}
	}
	low := bytes.Clone(reply)
	clear(low[:32]) // a public key of low order makes the library give up half way
	if _, _, err := d.Finish(s.now, low); !errors.Is(err, secure.ErrReply) {
		t.Errorf("reply with a key of low order: %v", err)
	}
	pass, near, err := d.Finish(s.now, reply)
	if err != nil {
		t.Fatal("the good reply after the bad ones:", err)
	}
	if _, _, err := d.Finish(s.now, reply); !errors.Is(err, secure.ErrReply) {
		t.Error("a handshake was finished twice:", err)
	}
	flips(pass, func(bad []byte, what int) {
		got, err := s.server.Admit(s.now, clientAt, bind, bad)
		refused(t, got, err, fmt.Sprint("pass with bit flipped: ", what))
	})
	far, err := s.server.Admit(s.now, clientAt, bind, pass)
	if err != nil {
		t.Fatal(err)
	}
	packet := sealed(near, "some text", 5)
	flips(packet, func(bad []byte, what int) {
		if _, err := far.Open(bad, headSize, 5); !errors.Is(err, secure.ErrPacket) {
			t.Errorf("packet with bit %d flipped: %v", what, err)
		}
	})
	for _, number := range []uint64{0, 4, 6, 5 + 1<<20, 5 + 1<<32, 5 | 1<<63, 1<<64 - 1} {
		if _, err := far.Open(bytes.Clone(packet), headSize, number); !errors.Is(err, secure.ErrPacket) {
			t.Errorf("packet 5 opened as %d: %v", number, err)
		}
	}
	if got, err := far.Open(packet, headSize, 5); err != nil || string(got) != "some text" {
		t.Errorf("the good packet after the bad ones: %q, %v", got, err)
	}
}

func TestOpenTakesNoPacketThatIsTooShort(t *testing.T) {
	p := newStage(t, secure.AESGCM).connect()
	for size := range headSize + 16 {
		if _, err := p.server.Open(make([]byte, size), headSize, 0); !errors.Is(err, secure.ErrPacket) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestDirectionsHaveTheirOwnKeys(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	early, _ := s.resume()
	for _, p := range []pair{s.connect(), early} {
		packet := sealed(p.client, "reflected", 1)
		if _, err := p.client.Open(packet, headSize, 1); !errors.Is(err, secure.ErrPacket) {
			t.Error("a client takes its own packet for the server's:", err)
		}
	}
}

func TestSealPanicsWhenANumberComesTwice(t *testing.T) {
	p := newStage(t, secure.AESGCM).connect()
	sealed(p.client, "a", 4)
	for _, number := range []uint64{4, 3, 1<<64 - 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("number %d after 4 was sealed", number)
				}
			}()
			sealed(p.client, "b", number)
		}()
	}
}

func TestAnswerKeepsNothing(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	hello := s.dial().Hello()
	first := s.answer(hello)
	for range 100 {
		s.answer(hello)
	}
	if got := testing.AllocsPerRun(10, func() { s.server.Stats() }); got != 0 {
		t.Error("Stats allocates")
	}
	// An answer of long ago is as good as a new one.
	d := s.dial()
	reply := s.answer(d.Hello())
	for range 1000 {
		_, _ = s.server.Answer(nil, s.now, clientAt, bind, hello[:10])
	}
	pass, near, err := d.Finish(s.now, reply)
	if err != nil {
		t.Fatal(err)
	}
	far, err := s.server.Admit(s.now, clientAt, bind, pass)
	if err != nil {
		t.Fatal(err)
	}
	pair{near, far, pass}.works(t)
	if bytes.Equal(first, s.answer(hello)) {
		t.Error("two answers to one hello are the same: the server's ephemeral key is not fresh")
	}
}

func TestRoles(t *testing.T) {
	nobody := newGuard(t, secure.Config{Random: seeded(1)})
	if _, err := nobody.Dial(0, serverAt, bind); !errors.Is(err, secure.ErrNoServerKey) {
		t.Errorf("Dial without a server's key: %v", err)
	}
	if _, err := nobody.Answer(nil, 0, clientAt, bind, make([]byte, 49)); !errors.Is(err, secure.ErrNotAcceptor) {
		t.Errorf("Answer without a key: %v", err)
	}
	if got := nobody.Ticket([]byte("b"), 0, clientAt); string(got) != "b" {
		t.Errorf("Ticket of a mere dialler: %q", got)
	}
	if nobody.Overhead() != 16 {
		t.Errorf("Overhead %d", nobody.Overhead())
	}
	// A public key of low order agrees with nothing.
	nobody.Pin(serverAt.At, secure.PublicKey{1})
	if _, err := nobody.Dial(0, serverAt, bind); err == nil {
		t.Error("dialled a server whose key is of low order")
	}
}

func TestPinNamesTheKeyOfOnePlace(t *testing.T) {
	s := newStage(t, secure.AESGCM)
	s.client.Keep(s.now, serverAt, s.server.Ticket(nil, s.now, clientAt))
	s.client.Pin(serverAt.At, keyOf(t, 8).Public())
	d := s.dial()
	if _, _, ok := d.Early(); ok {
		t.Error("a ticket outlived the key of who gave it")
	}
	if _, err := s.server.Answer(nil, s.now, clientAt, bind, d.Hello()); !errors.Is(err, secure.ErrHello) {
		t.Errorf("the pinned key was not used: %v", err)
	}
	other := netip.MustParseAddrPort("192.0.2.2:1")
	if d, err := s.client.Dial(s.now, mercury.Address{At: other}, bind); err != nil {
		t.Error(err)
	} else {
		s.finish(d).works(t)
	}
	s.client.Pin(serverAt.At, secure.PublicKey{})
	s.connect().works(t)
}

// failing gives n bytes and then an error.
type failing struct {
	from io.Reader
	n    int
}

func (f *failing) Read(b []byte) (int, error) {
	if f.n < len(b) {
		return 0, errors.New("no more")
	}
	f.n -= len(b)
	return f.from.Read(b)
}

func TestRandomThatFailsIsAnErrorEverywhere(t *testing.T) {
	key := keyOf(t, 1)
	hello := newStage(t, secure.AESGCM).dial().Hello()
	for n := range 200 {
		random := &failing{seeded(3), n}
		server := newGuard(t, secure.Config{Random: random, Key: key, ServerKey: key.Public()})
		if reply, err := server.Answer(nil, 0, clientAt, bind, hello); err == nil {
			if n < 32+32+24 {
				t.Fatalf("answered with %d random bytes: %d", n, len(reply))
			}
		}
		random.n = n
		ticket := server.Ticket(nil, 0, clientAt)
		if len(ticket) != 0 && len(ticket) != secure.TicketSize {
			t.Fatalf("a ticket of %d bytes", len(ticket))
		}
		random.n = n
		d, err := server.Dial(0, serverAt, bind)
		if err == nil {
			random.n = 0
			d.Again()
			if len(d.Hello()) != 0 {
				t.Fatal("a hello without a fresh key")
			}
			if _, _, err := d.Finish(0, make([]byte, 178)); err == nil {
				t.Fatal("finished what was not begun")
			}
		}
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	c := secure.Config{
		Suite: 9, PassLife: time.Hour, TicketLife: time.Millisecond, MaxUsed: -1, MaxKept: -1,
		Key: secure.PrivateKey{1}, TicketKeys: make([]secure.TicketKey, 1),
		ClusterKeys: make([]secure.ClusterKey, 1), Access: secure.ClusterKey{1}.Observer(), Least: 9,
	}
	_, err := secure.New(c)
	if err == nil {
		t.Fatal("New took it")
	}
	for _, field := range []string{"Random", "Suite", "PassLife", "TicketLife", "MaxUsed", "MaxKept", "TicketKeys", "Epoch", "ID", "ClusterKeys", "Access", "Least"} {
		if !strings.Contains(err.Error(), "Config."+field+" ") && !strings.Contains(err.Error(), "Config."+field+":") {
			t.Errorf("no fault of %s in:\n%v", field, err)
		}
	}
	if err := (secure.Config{Random: seeded(1), TicketKeys: make([]secure.TicketKey, 5), Epoch: 1}).Validate(); err == nil {
		t.Error("five ticket keys")
	}
}

func TestKeysDoNotPrintThemselves(t *testing.T) {
	key := keyOf(t, 1)
	parsed, err := secure.ParseAccessKey("observer-" + key.Hex())
	if err != nil {
		t.Fatal(err)
	}
	c := secure.Config{Key: key, TicketKeys: []secure.TicketKey{secure.TicketKey(key)}, ClusterKeys: []secure.ClusterKey{secure.ClusterKey(key)}, Access: parsed}
	var text strings.Builder
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		fmt.Fprintf(&text, format+format, c, &key)
	}
	j, err := json.Marshal(map[string]any{"key": key, "tickets": c.TicketKeys, "cluster": c.ClusterKeys, "access": c.Access})
	if err != nil {
		t.Fatal(err)
	}
	text.Write(j)
	slog.New(slog.NewJSONHandler(&text, nil)).Info("started", "key", key, "keys", c.TicketKeys)
	slog.New(slog.NewTextHandler(&text, nil)).Info("started", "key", key, "keys", c.TicketKeys)
	for _, part := range []string{key.Hex()[:8], strings.ToUpper(key.Hex()[:8]), fmt.Sprintf("%d", key[0:3]), fmt.Sprintf("%#x", key[1])} {
		if strings.Contains(text.String(), strings.Trim(part, "[]")) {
			t.Errorf("a key printed itself: %q in %s", part, text.String())
		}
	}
}

func TestKeysParse(t *testing.T) {
	key := keyOf(t, 1)
	private, err := secure.ParsePrivateKey(key.Hex())
	if err != nil || private != key {
		t.Errorf("private key: %v", err)
	}
	public, err := secure.ParsePublicKey(key.Public().String())
	if err != nil || public != key.Public() || public.IsZero() {
		t.Errorf("public key: %v", err)
	}
	ticket, err := secure.GenerateTicketKey(seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := secure.ParseTicketKey(ticket.Hex()); err != nil || got != ticket {
		t.Errorf("ticket key: %v", err)
	}
	for _, bad := range []string{"", "ab", key.Hex()[1:], key.Hex() + "0", "zz" + key.Hex()[2:]} {
		_, err := secure.ParsePrivateKey(bad)
		if err == nil {
			t.Errorf("%q is a key", bad)
		} else if len(bad) > 8 && strings.Contains(err.Error(), bad[4:20]) {
			t.Errorf("the error repeats the key: %v", err)
		}
	}
	if _, err := secure.GenerateKey(&failing{}); err == nil {
		t.Error("a key out of nothing")
	}
}
