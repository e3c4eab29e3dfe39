package mercury

import (
	"bytes"
	"github.com/cellscape/cellscape/internal/codec"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// samplePackets is one sound packet of each kind of the handshake, a first and one of data.
func samplePackets() [][]byte {
	cookie := [cookieSize]byte{1, 2, 3}
	b := bind{Salt: 1, Dial: 2, Want: 3, Window: 64}
	first := (&firstHeader{bind: b, Pass: cookie[:], Number: 7}).append(nil)
	return [][]byte{
		(&openPacket{bind: b, Cookie: cookie, Hello: []byte("hello")}).append(nil),
		(&challengePacket{Dial: 2, Salt: 1, Cookie: cookie}).append(nil),
		(&acceptPacket{Dial: 2, Salt: 1, Self: 3, Window: 64, Reply: cookie[:]}).append(nil),
		(&refusePacket{Dial: 2, Salt: 1, Self: 3, Why: refusedFull}).append(nil),
		(&resetPacket{Channel: 4, Tag: 5, Self: 3}).append(nil),
		(&resetPacket{Channel: 4, Tag: 5, Self: 3, Taken: true}).append(nil),
		plainSealed(append(first, sampleFrames()...), keyOf(cookie[:]), 7),
		plainSealed(append(appendDataHeader(nil, 3, 1<<40+5, 1<<40), sampleFrames()...), 4, 1<<40+5),
	}
}

// sampleFrames is one of each of the frames that carry something.
func sampleFrames() []byte {
	var s numberSet
	for _, n := range []uint64{1, 2, 3, 7, 9} {
		s.add(n)
	}
	b, _ := appendAck(nil, &s, time.Millisecond, [lanes]uint64{0, 0}, 200)
	b = append(b, byte(frameSegment|flagLength), 0, 3, 2, 'h', 'i', byte(framePing))
	b = append(b, byte(frameSegment|flagLength|flagPart), 9, 0x12, 4, 2, 'h', 'i')
	b = append(b, byte(frameChallenge), 1, 2, 3, 4, 5, 6, 7, 8)
	return append(b, byte(frameUnreliable), 'x')
}

func plainSealed(p []byte, key, number uint64) []byte {
	tag := plainTag(p, key, number)
	return append(p, byte(tag), byte(tag>>8), byte(tag>>16), byte(tag>>24))
}

// packetCodec is what every packet of the handshake can do.
type packetCodec interface {
	append([]byte) []byte
	parse([]byte) error
}

func codecOf(kind packetKind) packetCodec {
	switch kind {
	case kindOpen:
		return &openPacket{}
	case kindChallenge:
		return &challengePacket{}
	case kindAccept:
		return &acceptPacket{}
	case kindRefuse:
		return &refusePacket{}
	case kindReset:
		return &resetPacket{}
	}
	return nil
}

func TestPacketRoundTrip(t *testing.T) {
	for _, p := range samplePackets()[:5] {
		kind := packetKind(p[0] &^ handshakeBits)
		if least, most := handshakeSize(kind); len(p) < least || len(p) > most {
			t.Errorf("kind %d has %d bytes, want %d to %d", kind, len(p), least, most)
		}
		codec := codecOf(kind)
		if err := codec.parse(p); err != nil || !bytes.Equal(codec.append(nil), p) {
			t.Errorf("kind %d does not survive: %v", kind, err)
		}
	}
}

// The receiver fills in the upper bytes of a number whatever lies in flight, and wherever the lower
// bytes wrap around.
func TestNumberIsFilledIn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	near := []uint64{0, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40, maxNumber - 1<<20}
	for range 20000 {
		acked := near[rng.IntN(len(near))] + rng.Uint64N(300)
		acked -= min(acked, 150)
		number := acked + rng.Uint64N(1<<rng.IntN(16))
		// The receiver has seen what the sender knows to be acked, and perhaps all up to this
		// packet.
		expected := acked + rng.Uint64N(number-acked+1)
		b := appendDataHeader(nil, ChannelID(rng.Uint32()), number, acked)
		var h dataHeader
		head, ok := h.parse(b)
		if !ok || head != len(b) || h.number(expected) != number {
			t.Fatalf("number %d, acked %d, expected %d: read %d", number, acked, expected, h.number(expected))
		}
	}
}

func TestAckRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		var s numberSet
		for range 1 + rng.IntN(200) {
			s.add(uint64(rng.IntN(400)) + 1<<30)
		}
		room := ackFixed + rng.IntN(500)
		b, whole := appendAck(nil, &s, 3*time.Millisecond, [lanes]uint64{77, 5}, room)
		if len(b) > room {
			t.Fatalf("ack of %d bytes in room for %d", len(b), room)
		}
		var a ack
		r := codec.NewReader(b[1:])
		readAck(&r, frameKind(b[0]), &a)
		if err := r.Close(); err != nil || 3*time.Millisecond-a.delay >= 1<<ackDelayShift || a.delay > 3*time.Millisecond {
			t.Fatalf("read %+v, %v", a, err)
		}
		if a.complete && a.cumulative != [lanes]uint64{77, 5} || !a.complete && len(a.ranges) != 1 {
			t.Fatalf("read %+v", a)
		}
		want := slices.Clone(s.runs)
		slices.Reverse(want)
		if !slices.Equal(a.ranges, want[:len(a.ranges)]) || whole && len(a.ranges) < min(len(want), maxAckRanges) {
			t.Fatalf("ranges %v, want a beginning of %v", a.ranges, want)
		}
	}
}

// FuzzPacket parses arbitrary bytes as each kind of packet: no panic, and what parses is what would
// be sent.
func FuzzPacket(f *testing.F) {
	for _, p := range samplePackets() {
		f.Add(p)
	}
	f.Add(sampleFrames())
	f.Fuzz(func(t *testing.T, p []byte) {
		fuzzFrames(t, p)
		if len(p) < prefixSize {
			return
		}
		p[0], p[1] = handshakeBits|p[0]&15, packetVersion
		sealPacket(p)
		e := testEndpoint(t, 1, nil)
		kind := packetKind(p[0] &^ handshakeBits)
		if !e.check(kind, p) {
			return
		}
		codec := codecOf(kind)
		if codec.parse(p) == nil && kind != kindOpen && !bytes.Equal(codec.append(nil), p) {
			t.Fatalf("%x of kind %d parses but is not what would be sent", p, kind)
		}
	})
}

// fuzzFrames reads p as headers and frames.
func fuzzFrames(t *testing.T, p []byte) {
	if len(p) < 2 {
		return
	}
	var first firstHeader
	if head, err := first.parse(p); err == nil && head > len(p) {
		t.Fatalf("a header of %d bytes in %d", head, len(p))
	}
	var h dataHeader
	if head, ok := h.parse(p); ok && (head > len(p) || h.number(1<<20) > 1<<40) {
		t.Fatalf("a header of %d bytes in %d", head, len(p))
	}
	var a ack
	r := codec.NewReader(p[1:])
	readAck(&r, frameKind(p[0]), &a)
	for i, run := range a.ranges {
		if run.lo > run.hi || i > 0 && run.hi+1 >= a.ranges[i-1].lo {
			t.Fatalf("ranges %v", a.ranges)
		}
	}
	var s segmentFrame
	r = codec.NewReader(p[1:])
	readSegment(&r, frameKind(p[0]), &s)
	if r.Err() == nil && (len(s.bytes) == 0 || len(s.bytes) > len(p) || s.parts > maxParts) {
		t.Fatalf("segment %+v", s)
	}
}
