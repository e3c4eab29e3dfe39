package mercury

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

func duration(rng *rand.Rand) time.Duration { return time.Duration(rng.IntN(50)) }

func testPlace(n int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 20000)
}

func testEndpoint(t testing.TB, n int, h Handler) *Endpoint {
	t.Helper()
	e, err := NewEndpoint(Config{Salt: uint32(n)}, testPlace(n), h)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// exchange carries datagrams between endpoints at one moment until none has anything to say.
func exchange(now time.Duration, ends ...*Endpoint) {
	for quiet := false; !quiet; {
		quiet = true
		for _, e := range ends {
			e.Advance(now)
			e.Flush(now, func(to netip.AddrPort, p []byte) {
				for _, other := range ends {
					if other.self.At == to {
						quiet = false
						other.Receive(now, e.self.At, p)
					}
				}
			})
		}
	}
}

// openPair returns two endpoints with an open channel.
func openPair(t testing.TB) (a, b *Endpoint, ch ChannelID) {
	t.Helper()
	a, b = testEndpoint(t, 1, nil), testEndpoint(t, 2, nil)
	ch = a.Dial(b.Self())
	exchange(0, a, b)
	if a.channels[ch].state != open {
		t.Fatal("the channel did not open")
	}
	return a, b, ch
}

// FuzzEndpointReceive gives an endpoint with an open channel arbitrary datagrams: as they are, with a right prefix, and as
// rightly keyed packets with arbitrary frames.
func FuzzEndpointReceive(f *testing.F) {
	for _, p := range samplePackets() {
		f.Add(byte(0), p)
		f.Add(byte(1), p)
	}
	f.Add(byte(2), samplePackets()[4][headerSize:])
	f.Add(byte(2), []byte{byte(frameSegment), 0, 4, 0x80, 0x80, 0x80, 0x01})
	f.Add(byte(2), []byte{byte(frameSegment), 5, 1, 9, byte(frameClose)})
	f.Add(byte(2), []byte{byte(frameAbort)})
	f.Fuzz(func(t *testing.T, how byte, p []byte) {
		a, b, ch := openPair(t)
		_ = a.Send(ch, []byte("waits for an ack"))
		a.Flush(0, func(netip.AddrPort, []byte) {})
		switch how % 3 {
		case 1:
			if len(p) >= prefixSize {
				p[0], p[1] = packetMagic, packetVersion|p[1]&15
				sealPacket(p)
			}
		case 2:
			c := a.channels[ch]
			packet := (&dataHeader{Channel: c.id, Key: c.key, Number: 1000}).append(nil)
			p = append(packet, p...)
			sealPacket(p)
		}
		for now := time.Duration(0); now < time.Second; now += 300 * time.Millisecond {
			a.Receive(now, b.self.At, p)
			a.Receive(now, testPlace(3), p)
			answer := 0
			a.Flush(now, func(to netip.AddrPort, q []byte) {
				if to == testPlace(3) {
					answer += len(q)
				}
			})
			if answer > len(p) {
				t.Fatalf("a stranger's %d bytes were answered by %d", len(p), answer)
			}
			a.Advance(now)
		}
		if n := a.Stats().Channels; n > 1 {
			t.Fatalf("%d channels out of nothing", n)
		}
	})
}

// Random bytes and damaged packets leave no trace but in the counters.
func TestDamagedPacketsAreCounted(t *testing.T) {
	a, b, ch := openPair(t)
	rng := rand.New(rand.NewPCG(1, 6))
	before := a.Stats()
	const n = 2000
	for range n {
		p := samplePackets()[rng.IntN(6)]
		switch rng.IntN(3) {
		case 0:
			p = p[:rng.IntN(len(p))]
		case 1:
			p[rng.IntN(len(p))] ^= 1 << rng.IntN(8)
		case 2:
			for i := range p {
				p[i] = byte(rng.Uint32())
			}
		}
		a.Receive(0, b.self.At, p)
	}
	s := a.Stats()
	if bad := s.BadSize + s.BadChecksum + s.BadKind + s.BadChannel + s.BadCookie; bad != n {
		t.Errorf("%d of %d counted as bad", bad, n)
	}
	if s.Channels != 1 || a.channels[ch] == nil || s.MessagesIn != before.MessagesIn || !quiet(a) {
		t.Errorf("damaged packets had an effect: %+v", s)
	}
}

// quiet reports whether nothing waits for a Flush.
func quiet(e *Endpoint) bool { return len(e.dirty) == 0 && e.replies.len() == 0 }

// An open costs the listener nothing until the dialler has shown a cookie; an old or foreign cookie is none.
func TestOpenKeepsNoState(t *testing.T) {
	e := testEndpoint(t, 1, nil)
	var challenge challengePacket
	sizes := 0
	answer := func(now time.Duration, from netip.AddrPort, o *openPacket) (kind packetKind) {
		p := o.append(nil)
		e.Receive(now, from, p)
		e.Flush(now, func(to netip.AddrPort, q []byte) {
			if to != from {
				t.Errorf("answered to %v, not %v", to, from)
			}
			sizes = max(sizes, len(q))
			if kind = packetKind(q[1] &^ packetVersion); kind == kindChallenge {
				if err := challenge.parse(q); err != nil {
					t.Error(err)
				}
			}
		})
		return kind
	}
	for i := range 1000 {
		if kind := answer(0, testPlace(i+2), &openPacket{Salt: uint32(i + 2), Dial: 1, Window: 64}); kind != kindChallenge {
			t.Fatalf("answered by kind %d", kind)
		}
	}
	if len(e.channels)+len(e.accepted)+e.tombs.len() != 0 {
		t.Fatal("opens without a cookie left something behind")
	}
	o := openPacket{Salt: 5, Dial: 1, Window: 64}
	answer(0, testPlace(5), &o)
	o.Cookie = challenge.Cookie
	if kind := answer(0, testPlace(6), &o); kind != kindChallenge {
		t.Errorf("another's cookie was answered by kind %d", kind)
	}
	if kind := answer(2*cookieLife, testPlace(5), &o); kind != kindChallenge {
		t.Errorf("an old cookie was answered by kind %d", kind)
	}
	o.Cookie = challenge.Cookie
	if kind := answer(2*cookieLife, testPlace(5), &o); kind != kindAccept {
		t.Errorf("a good cookie was answered by kind %d", kind)
	}
	if kind := answer(2*cookieLife, testPlace(5), &o); kind != kindAccept || len(e.channels) != 1 {
		t.Errorf("a doubled open was answered by kind %d and makes %d channels", kind, len(e.channels))
	}
	e.Abort(1)
	e.Flush(2*cookieLife, func(netip.AddrPort, []byte) {})
	if kind := answer(2*cookieLife, testPlace(5), &o); kind != kindRefuse || len(e.channels) != 0 {
		t.Errorf("a replayed open was answered by kind %d and makes %d channels", kind, len(e.channels))
	}
	e.Advance(4 * cookieLife)
	if len(e.accepted)+e.tombs.len() != 0 {
		t.Error("the memory of an ended channel does not run out")
	}
	if sizes > openSize {
		t.Errorf("an answer of %d bytes to an open of %d", sizes, openSize)
	}
}

// A peer that is rightly keyed but sends nonsense loses its channel, and only that.
func TestBreachClosesTheChannel(t *testing.T) {
	tests := []struct {
		name   string
		frames []byte
	}{
		{"unknown frame", []byte{99}},
		{"segment beyond the window", append(binary.AppendUvarint([]byte{byte(frameSegment)}, DefaultWindow), 1, 0)},
		{"empty segment", []byte{byte(frameSegment), 0, 0}},
		{"message above MaxMessage", []byte{byte(frameSegment), 0, 4, 0xff, 0xff, 0xff, 0x7f}},
		{"length cut", []byte{byte(frameSegment), 0, 1, 0x80}},
		{"frame cut", []byte{byte(frameUnreliable), 5, 'x'}},
		{"ack of what was never sent", []byte{byte(frameAck), 0x80, 0x01, 0, 0, 0, 0}},
		{"cumulative ack of what was never sent", []byte{byte(frameAck), 0, 0, 9, 0, 0}},
		{"ack below zero", []byte{byte(frameAck), 0, 0, 0, 0, 1, 0, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b, ch := openPair(t)
			other := a.Dial(Address{At: b.self.At})
			exchange(0, a, b)
			_ = a.Send(ch, nil)
			a.Flush(0, func(netip.AddrPort, []byte) {})
			c := a.channels[ch]
			p := (&dataHeader{Channel: c.id, Key: c.key, Number: 1000}).append(nil)
			p = append(p, test.frames...)
			sealPacket(p)
			a.Receive(0, b.self.At, p)
			if a.channels[ch] != nil || a.Stats().BadFrame != 1 {
				t.Error("the channel survives")
			}
			if a.channels[other] == nil {
				t.Error("another channel went too")
			}
		})
	}
}

func TestConfigValidate(t *testing.T) {
	bad := Config{MTU: 100, Window: 1, MaxMessage: -1, KeepAlive: time.Minute, MinRTO: time.Minute}
	err := bad.Validate()
	if err == nil {
		t.Fatal("a bad Config holds")
	}
	faults := err.(interface{ Unwrap() []error }).Unwrap()
	if len(faults) != 6 {
		t.Errorf("%d faults: %v", len(faults), err)
	}
	if err := (Config{Salt: 1}).Validate(); err != nil {
		t.Errorf("the defaults do not hold: %v", err)
	}
	if _, err := NewEndpoint(Config{}, testPlace(1), nil); err == nil {
		t.Error("an Endpoint without a salt")
	}
	if _, err := NewEndpoint(Config{Salt: 1}, netip.AddrPort{}, nil); err == nil {
		t.Error("an Endpoint nowhere")
	}
}
