package mercury

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// turnEars notes in which datagram each numbered message came.
type turnEars struct {
	pairEars
	datagram int
	came     [2]map[uint32]int // unreliable, reliable
}

func (h *turnEars) Message(_ time.Duration, _ ChannelID, reliable bool, m []byte) {
	kind := 0
	if reliable {
		kind = 1
	}
	h.came[kind][binary.LittleEndian.Uint32(m)] = h.datagram
}

// turnsOf sends pairs of a reliable and an unreliable message of those sizes in one Flush, and tells how
// many datagrams they took, and how far apart the two of a pair came at most, in datagrams.
func turnsOf(t *testing.T, pairs, reliable, unreliable int) (datagrams, apart int) {
	t.Helper()
	h := &turnEars{came: [2]map[uint32]int{{}, {}}}
	a, err := NewEndpoint(Config{Salt: 1, LeastFlight: ServerFlight}, testPlace(1), &pairEars{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewEndpoint(Config{Salt: 2}, testPlace(2), h)
	if err != nil {
		t.Fatal(err)
	}
	l := &pairLink{a: a, b: b, delay: time.Millisecond, sent: map[*Endpoint]int{}}
	ch := a.Dial(b.Self())
	l.run(time.Second, nil)
	for i := range uint32(pairs) {
		if err := a.Send(ch, append(binary.LittleEndian.AppendUint32(nil, i), make([]byte, reliable-4)...)); err != nil {
			t.Fatal(err)
		}
		if _, err := a.SendUnreliable(ch, append(binary.LittleEndian.AppendUint32(nil, i), make([]byte, unreliable-4)...)); err != nil {
			t.Fatal(err)
		}
	}
	a.Flush(l.now, func(_ netip.AddrPort, p []byte) {
		h.datagram++
		b.Receive(l.now, a.self.At, p)
	})
	b.Advance(l.now)
	for i := range uint32(pairs) {
		r, ok := h.came[1][i]
		u, too := h.came[0][i]
		if !ok || !too {
			t.Fatalf("pair %d did not come: %v, %v", i, ok, too)
		}
		apart = max(apart, r-u, u-r)
	}
	return h.datagram, apart
}

// What is sent together leaves close together, however much it is.
func TestReliableAndUnreliableInTurns(t *testing.T) {
	for _, sizes := range [][2]int{{60, 110}, {110, 60}, {300, 20}, {20, 300}} {
		n, apart := turnsOf(t, 300, sizes[0], sizes[1])
		bytes := 300 * (sizes[0] + sizes[1])
		t.Logf("%v bytes: %d datagrams for %d bytes, at most %d apart", sizes, n, bytes, apart)
		if most := 4 + max(sizes[0], sizes[1])/min(sizes[0], sizes[1]); apart > most {
			t.Errorf("%v bytes: a pair came %d datagrams apart, at most %d wanted", sizes, apart, most)
		}
		if most := bytes*11/10/DefaultSafeMTU + 2; n > most {
			t.Errorf("%v bytes: %d datagrams, at most %d wanted", sizes, n, most)
		}
	}
}

// What fits one packet goes in one, whichever was sent first.
func TestReliableAndUnreliableShareAPacket(t *testing.T) {
	if n, _ := turnsOf(t, 4, 60, 110); n != 1 {
		t.Errorf("%d datagrams for what fits one", n)
	}
}
