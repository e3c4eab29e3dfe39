package mercury

import (
	"encoding/binary"
	"testing"
	"time"
)

// A peer that acks a number which was left out has not seen what it acks.
func TestAckOfANumberLeftOut(t *testing.T) {
	a, b, ch := openPair(t)
	c := a.channels[ch]
	now := time.Duration(0)
	for range 5 * skipEvery {
		now += 10 * time.Millisecond
		_ = a.Send(ch, []byte("tick"))
		exchange(now, a, b)
	}
	if n := len(c.out.skips.list); n < 2 || a.channels[ch] == nil || a.Stats().Resends > 0 {
		t.Fatalf("%d numbers were left out of %d, %d resends", n, c.out.number, a.Stats().Resends)
	}
	skipped := c.out.skips.list[1]
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
