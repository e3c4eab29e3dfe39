package mercury

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// samplePackets is one sound packet of each kind.
func samplePackets() [][]byte {
	cookie := [cookieSize]byte{1, 2, 3}
	data := (&dataHeader{Channel: 3, Key: 4, Number: 1<<40 + 5}).append(nil)
	var s numberSet
	for _, n := range []uint64{1, 2, 3, 7, 9} {
		s.add(n)
	}
	data = appendAck(data, &s, time.Millisecond, 5, 200)
	data = append(data, byte(frameSegment), 0, 3, 2, 'h', 'i', byte(framePing), byte(frameUnreliable), 1, 'x')
	sealPacket(data)
	return [][]byte{
		(&openPacket{Salt: 1, Dial: 2, Want: 3, Window: 64, Cookie: cookie}).append(nil),
		(&challengePacket{Dial: 2, Salt: 1, Self: 3, Cookie: cookie}).append(nil),
		(&acceptPacket{Dial: 2, Salt: 1, Self: 3, Channel: 4, Key: 5, Window: 64}).append(nil),
		(&refusePacket{Dial: 2, Salt: 1, Self: 3, Why: refusedFull}).append(nil),
		data,
		(&resetPacket{Channel: 4, Key: 5, Self: 3}).append(nil),
	}
}

// packetCodec is what every packet but data can do.
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
	for _, p := range samplePackets() {
		kind := packetKind(p[1] &^ packetVersion)
		if size, ok := handshakeSize(kind); ok && size != len(p) {
			t.Errorf("kind %d has %d bytes, want %d", kind, len(p), size)
		}
		codec := codecOf(kind)
		if codec == nil {
			continue
		}
		if err := codec.parse(p); err != nil || !bytes.Equal(codec.append(nil), p) {
			t.Errorf("kind %d does not survive: %v", kind, err)
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
		b := appendAck(nil, &s, 3*time.Millisecond, 77, room)
		if len(b) > room {
			t.Fatalf("ack of %d bytes in room for %d", len(b), room)
		}
		var a ack
		r := NewReader(b[1:])
		readAck(&r, &a)
		if err := r.Close(); err != nil || a.delay != 3*time.Millisecond || a.cumulative != 77 {
			t.Fatalf("read %+v, %v", a, err)
		}
		want := slices.Clone(s.runs)
		slices.Reverse(want)
		if !slices.Equal(a.ranges, want[:len(a.ranges)]) {
			t.Fatalf("ranges %v, want a beginning of %v", a.ranges, want)
		}
	}
}

// FuzzPacket parses arbitrary bytes as each kind of packet: no panic, and what parses is what would be sent.
func FuzzPacket(f *testing.F) {
	for _, p := range samplePackets() {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) >= prefixSize {
			p[0], p[1] = packetMagic, packetVersion|p[1]&15
			sealPacket(p)
		}
		e := testEndpoint(t, 1, nil)
		kind, ok := e.check(p)
		if !ok {
			return
		}
		if codec := codecOf(kind); codec != nil {
			if codec.parse(p) == nil && kind != kindOpen && !bytes.Equal(codec.append(nil), p) {
				t.Fatalf("%x of kind %d parses but is not what would be sent", p, kind)
			}
			return
		}
		var h dataHeader
		frames, err := h.parse(p)
		if err != nil {
			t.Fatal(err)
		}
		if len(frames) > 0 && frameKind(frames[0]) == frameAck {
			var a ack
			r := NewReader(frames[1:])
			readAck(&r, &a)
			for i, run := range a.ranges {
				if run.lo > run.hi || i > 0 && run.hi+1 >= a.ranges[i-1].lo {
					t.Fatalf("ranges %v", a.ranges)
				}
			}
		}
	})
}
