package mercury

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

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

// forge is a packet to c with arbitrary frames, as its peer could send it.
func forge(c *channel, frames []byte) []byte {
	return plainSealed(append(appendDataHeader(nil, c.id, 1000, 0), frames...), c.key, 1000)
}

// FuzzEndpointReceive gives an endpoint with an open channel arbitrary datagrams: as they are, with
// a right prefix, and as rightly keyed packets with arbitrary frames.
func FuzzEndpointReceive(f *testing.F) {
	for _, p := range samplePackets() {
		f.Add(byte(0), p)
		f.Add(byte(1), p)
	}
	f.Add(byte(2), sampleFrames())
	f.Add(byte(2), []byte{byte(frameSegment | flagLength), 0, 4, 0x80, 0x80, 0x80, 0x01})
	f.Add(byte(2), []byte{byte(frameSegment | flagLength), 5, 1, 9, byte(frameClose)})
	f.Add(byte(2), []byte{byte(frameAbort)})
	f.Fuzz(func(t *testing.T, how byte, p []byte) {
		a, b, ch := openPair(t)
		_ = a.Send(ch, []byte("waits for an ack"))
		a.Flush(0, func(netip.AddrPort, []byte) {})
		switch how % 3 {
		case 1:
			if len(p) >= prefixSize {
				p[0], p[1] = handshakeBits|p[0]&15, packetVersion
				sealPacket(p)
			}
		case 2:
			p = forge(a.channels[ch], p)
		}
		for now := time.Duration(0); now < time.Second; now += 300 * time.Millisecond {
			a.Receive(now, b.self.At, bytes.Clone(p))
			a.Receive(now, testPlace(3), bytes.Clone(p))
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
		p := samplePackets()[rng.IntN(7)]
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
	if bad := s.BadSize + s.BadChecksum + s.BadKind + s.BadChannel + s.BadCookie + s.Refused; bad != n {
		t.Errorf("%d of %d counted as bad", bad, n)
	}
	if s.Channels != 1 || a.channels[ch] == nil || s.MessagesIn != before.MessagesIn || len(a.dirty) > 0 {
		t.Errorf("damaged packets had an effect: %+v", s)
	}
}

// An open costs the acceptor nothing: only a packet with a pass makes a channel, and only where the
// pass was sent to; an old or foreign pass is none, and one whose channel has ended makes no other.
func TestOpenKeepsNoState(t *testing.T) {
	e := testEndpoint(t, 1, nil)
	b := bind{Salt: 5, Dial: 1, Window: 64}
	var pass []byte
	answer := func(now time.Duration, from netip.AddrPort, p []byte) (kind packetKind) {
		size := len(p)
		e.Receive(now, from, p)
		e.Flush(now, func(to netip.AddrPort, q []byte) {
			if to != from {
				t.Errorf("answered to %v, not %v", to, from)
			}
			if kind = packetKind(q[0] &^ handshakeBits); q[0]&handshakeBits != handshakeBits {
				kind = kindData
				return
			}
			if len(q) > size {
				t.Errorf("an answer of %d bytes to %d", len(q), size)
			}
			var a acceptPacket
			if kind == kindAccept && a.parse(q) == nil {
				pass = bytes.Clone(a.Reply)
			}
		})
		return kind
	}
	open := func(b bind) []byte { return (&openPacket{bind: b}).append(nil) }
	first := func(pass []byte) []byte {
		p := (&firstHeader{bind: b, Pass: pass, Number: 0}).append(nil)
		return plainSealed(append(p, byte(framePing)), keyOf(pass), 0)
	}
	for i := range 1000 {
		if kind := answer(0, testPlace(i+2), open(bind{Salt: uint32(i + 2), Dial: 1, Window: 64})); kind != kindAccept {
			t.Fatalf("answered by kind %d", kind)
		}
	}
	if len(e.channels)+len(e.accepted)+e.tombs.len() != 0 {
		t.Fatal("opens left something behind")
	}
	answer(0, testPlace(5), open(b))
	old := pass
	if kind := answer(0, testPlace(6), first(old)); kind != kindRefuse {
		t.Errorf("another's pass was answered by kind %d", kind)
	}
	if kind := answer(2*cookieLife, testPlace(5), first(old)); kind != kindRefuse {
		t.Errorf("an old pass was answered by kind %d", kind)
	}
	if len(e.channels)+len(e.accepted)+e.tombs.len() != 0 {
		t.Fatal("bad passes left something behind")
	}
	answer(2*cookieLife, testPlace(5), open(b))
	if kind := answer(2*cookieLife, testPlace(5), first(pass)); kind != kindData || len(e.channels) != 1 {
		t.Errorf("a good pass was answered by kind %d", kind)
	}
	answer(2*cookieLife, testPlace(5), first(pass))
	if len(e.channels) != 1 || e.Stats().Duplicates != 1 {
		t.Errorf("a doubled first makes %d channels", len(e.channels))
	}
	e.Abort(e.lastID)
	e.Flush(2*cookieLife, func(netip.AddrPort, []byte) {})
	if kind := answer(2*cookieLife, testPlace(5), first(pass)); kind != kindRefuse || len(e.channels) != 0 {
		t.Errorf("a replayed first was answered by kind %d and makes %d channels", kind, len(e.channels))
	}
	e.Advance(4 * cookieLife)
	if len(e.accepted) == 0 {
		t.Error("a sleep makes the memory of an ended channel run out")
	}
	for at := 4 * cookieLife; at < 7*cookieLife; at += time.Second {
		e.Advance(at)
	}
	if len(e.accepted)+e.tombs.len() != 0 {
		t.Error("the memory of an ended channel does not run out")
	}
}

// A peer that is rightly keyed but sends nonsense loses its channel, and only that.
func TestBreachClosesTheChannel(t *testing.T) {
	tests := []struct {
		name   string
		frames []byte
	}{
		{"unknown frame", []byte{99}},
		{"segment beyond the window", append(binary.AppendUvarint([]byte{byte(frameSegment)}, DefaultWindow+1), 0)},
		{"empty segment", []byte{byte(frameSegment | flagLength), 0, 0}},
		{"part of nothing", []byte{byte(frameSegment | flagPart), 0, 0x21, 0, 'x'}},
		{"part beyond the longest segment", append(binary.AppendUvarint([]byte{byte(frameSegment | flagPart), 0, 0x12}, 60000), 'x')},
		{"message above MaxMessage", []byte{byte(frameSegment), 0, 0xff, 0xff, 0xff, 0x7f}},
		{"length cut", []byte{byte(frameSegment), 0, 0x80}},
		{"frame cut", []byte{byte(frameUnreliable | flagLength), 5, 'x'}},
		{"ack of what was never sent", []byte{byte(frameAck), 0x80, 0x01, 0, 0}},
		{"cumulative ack of what was never sent", []byte{byte(frameAckRanges), 0, 0, 0, 9, 0, 0}},
		{"ack below zero", []byte{byte(frameAckRanges), 0, 0, 0, 0, 0, 1, 0, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b, ch := openPair(t)
			other := a.Dial(Address{At: b.self.At})
			exchange(0, a, b)
			_ = a.Send(ch, nil)
			a.Flush(0, func(netip.AddrPort, []byte) {})
			a.Receive(0, b.self.At, forge(a.channels[ch], test.frames))
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
