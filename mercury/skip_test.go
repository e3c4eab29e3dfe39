package mercury

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// A peer that acks a number which was left out has not seen what it acks.
func TestAckOfANumberLeftOut(t *testing.T) {
	a, b, ch := openPair(t)
	c := a.channels[ch]
	now := time.Duration(0)
	tick := func() {
		now += 10 * time.Millisecond
		_ = a.Send(ch, []byte("tick"))
	}
	for range 5 * skipEvery {
		tick()
		exchange(now, a, b)
	}
	if n := len(c.out.skips.list); n != 1 || a.channels[ch] == nil || a.Stats().Resends > 0 {
		t.Fatalf("%d numbers that were left out are remembered where all is settled, %d resends", n, a.Stats().Resends)
	}
	skipped := c.out.skips.next
	for c.out.number < skipped-1 {
		tick()
		exchange(now, a, b)
	}
	for c.out.number < skipped+2 {
		tick()
		a.Flush(now, func(netip.AddrPort, []byte) {}) // it stays in flight
	}
	frames := binary.AppendUvarint([]byte{byte(frameAck)}, skipped+1)
	a.Receive(now, b.self.At, forge(c, append(frames, 0, 0)))
	if a.channels[ch] == nil {
		t.Fatal("an ack of what was sent ends the channel")
	}
	frames = binary.AppendUvarint([]byte{byte(frameAck)}, skipped+1)
	p := plainSealed(append(append(appendDataHeader(nil, c.id, 1001, 0), frames...), 0, 2), c.key, 1001)
	a.Receive(now, b.self.At, p)
	if a.channels[ch] != nil || a.Stats().BadFrame != 1 {
		t.Error("an ack of what was never sent is believed")
	}
}
