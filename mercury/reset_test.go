package mercury

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"
)

// A reset that says that the number is somebody else's ends the channel only if the peer has started
// anew: in one start no number is given twice, so it answers a packet that was damaged, of one who
// has moved.
func TestResetOfATakenNumber(t *testing.T) {
	for _, c := range []struct {
		again, taken, forged bool
		want                 error
	}{
		{again: true, taken: true, want: ErrPeerRestarted},
		{again: true, want: ErrPeerRestarted},
		{want: ErrPeerAborted},
		{taken: true},
		{again: true, taken: true, forged: true},
	} {
		var ear pairEars
		a, b := testEndpoint(t, 1, &ear), testEndpoint(t, 2, nil)
		id := a.Dial(b.self)
		exchange(0, a, b)
		if err := a.Send(id, []byte("is anybody here?")); err != nil {
			t.Fatal(err)
		}
		now := 50 * time.Millisecond
		var sent []byte
		a.Advance(now)
		a.Flush(now, func(_ netip.AddrPort, p []byte) { sent = bytes.Clone(p) })
		reset := resetPacket{Channel: a.channel(id).remote, Tag: endOf(sent), Self: b.self.Salt, Taken: c.taken}
		if c.again {
			reset.Self++
		}
		if c.forged {
			reset.Tag++
		}
		a.Receive(now, b.self.At, reset.append(nil))
		a.Advance(now)
		if why := errors.Join(ear.closed...); !errors.Is(why, c.want) {
			t.Errorf("%+v: closed with %v", c, why)
		}
	}
}
