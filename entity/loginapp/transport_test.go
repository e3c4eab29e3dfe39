package loginapp

import (
	"net/netip"
	"testing"

	"github.com/cellscape/cellscape/mercury"
)

// fakeTransport records what an app does with its channels; the test plays the
// other ends.
type fakeTransport struct {
	self  mercury.Address
	last  mercury.ChannelID
	peers map[mercury.ChannelID]mercury.Address
	ended map[mercury.ChannelID]bool
	dials []mercury.ChannelID
	sent  []sentMessage
}

type sentMessage struct {
	ch       mercury.ChannelID
	reliable bool
	msg      []byte
}

func newFake() *fakeTransport {
	return &fakeTransport{
		self:  address(9, 1),
		peers: make(map[mercury.ChannelID]mercury.Address),
		ended: make(map[mercury.ChannelID]bool),
	}
}

// address is 10.0.0.n:20000 with a salt.
func address(n byte, salt uint32) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 20000), Salt: salt}
}

// accept is a channel from outside.
func (f *fakeTransport) accept(peer mercury.Address) mercury.ChannelID {
	f.last++
	f.peers[f.last] = peer
	return f.last
}

func (f *fakeTransport) Self() mercury.Address { return f.self }

func (f *fakeTransport) Dial(to mercury.Address) mercury.ChannelID {
	for _, ch := range f.dials {
		if f.peers[ch] == to && !f.ended[ch] {
			return ch
		}
	}
	ch := f.accept(to)
	f.dials = append(f.dials, ch)
	return ch
}

func (f *fakeTransport) Send(ch mercury.ChannelID, msg []byte) error {
	return f.record(ch, true, msg)
}

func (f *fakeTransport) SendUnreliable(ch mercury.ChannelID, msg []byte) error {
	return f.record(ch, false, msg)
}

func (f *fakeTransport) record(ch mercury.ChannelID, reliable bool, msg []byte) error {
	if _, ok := f.Peer(ch); !ok {
		return mercury.ErrNoChannel
	}
	f.sent = append(f.sent, sentMessage{ch, reliable, append([]byte(nil), msg...)})
	return nil
}

func (f *fakeTransport) Close(ch mercury.ChannelID) { f.ended[ch] = true }
func (f *fakeTransport) Abort(ch mercury.ChannelID) { f.ended[ch] = true }

func (f *fakeTransport) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := f.peers[ch]
	return a, ok && !f.ended[ch]
}

// take returns and forgets what was sent on a channel.
func (f *fakeTransport) take(ch mercury.ChannelID) (msgs [][]byte) {
	var rest []sentMessage
	for _, s := range f.sent {
		if s.ch == ch {
			msgs = append(msgs, s.msg)
		} else {
			rest = append(rest, s)
		}
	}
	f.sent = rest
	return msgs
}

// one returns the only message that was sent on a channel.
func (f *fakeTransport) one(t testing.TB, ch mercury.ChannelID) []byte {
	t.Helper()
	msgs := f.take(ch)
	if len(msgs) != 1 {
		t.Fatalf("%d messages sent on channel %d, want 1", len(msgs), ch)
	}
	return msgs[0]
}
