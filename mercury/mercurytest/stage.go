package mercurytest

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/mercury"
)

// Stage is a transport for the test of one app alone: it records what the app does with its
// channels, and the test plays the other ends, by calling the app's Opened, Message and Closed
// itself. Make it with NewStage.
type Stage struct {
	// Last is the channel that was made last; channels count from 1.
	Last mercury.ChannelID
	// Dials lists the channels that the app dialled, in order.
	Dials []mercury.ChannelID
	// Ended has the channels that the app closed or aborted, and those that the test put there.
	Ended map[mercury.ChannelID]bool
	// Sent is what the app sent, in order.
	Sent []Sent
	// Waiting is how many bytes wait on a channel, of StageLimit; the test sets it.
	Waiting map[mercury.ChannelID]int
	// Paused has the channels that the app has paused.
	Paused map[mercury.ChannelID]bool
	// Standings is what peers have proved; mercury.Trusted where the test puts nothing.
	Standings map[mercury.ChannelID]mercury.Standing

	self  mercury.Address
	peers map[mercury.ChannelID]mercury.Address
}

// StageLimit is how many bytes may wait on a channel of a Stage.
const StageLimit = 1 << 20

// Sent is one message that an app sent on a Stage.
type Sent struct {
	Channel  mercury.ChannelID
	Reliable bool
	Message  []byte
}

// NewStage returns a transport without channels for an app at an address.
func NewStage(self mercury.Address) *Stage {
	return &Stage{self: self, peers: make(map[mercury.ChannelID]mercury.Address), Ended: make(map[mercury.ChannelID]bool), Waiting: make(map[mercury.ChannelID]int), Paused: make(map[mercury.ChannelID]bool), Standings: make(map[mercury.ChannelID]mercury.Standing)}
}

// Host is the address 10.0.0.n:20000 with a salt, for processes that a test names.
func Host(n byte, salt uint32) mercury.Address {
	return mercury.Address{At: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, n}), 20000), Salt: salt}
}

// Accept makes a channel that a peer dialled. The app does not know of it before the test calls its
// Opened.
func (s *Stage) Accept(peer mercury.Address) mercury.ChannelID {
	s.Last++
	s.peers[s.Last] = peer
	return s.Last
}

// Answer says which start of the peer a channel leads to that the app dialled by place only. The
// test then calls the app's Opened.
func (s *Stage) Answer(ch mercury.ChannelID, peer mercury.Address) { s.peers[ch] = peer }

// Self implements mercury.Transport.
func (s *Stage) Self() mercury.Address { return s.self }

// Dial implements mercury.Transport: one channel to each address, until it ended.
func (s *Stage) Dial(to mercury.Address) mercury.ChannelID {
	for _, ch := range s.Dials {
		if s.peers[ch] == to && !s.Ended[ch] {
			return ch
		}
	}
	ch := s.Accept(to)
	s.Dials = append(s.Dials, ch)
	return ch
}

// Send implements mercury.Transport.
func (s *Stage) Send(ch mercury.ChannelID, msg []byte) error { return s.record(ch, true, msg) }

// SendUnreliable implements mercury.Transport.
func (s *Stage) SendUnreliable(ch mercury.ChannelID, msg []byte) (dropped int, err error) {
	return 0, s.record(ch, false, msg)
}

// MaxUnreliable implements mercury.Transport: a Stage takes what a guarded channel of an Endpoint
// does at least.
func (s *Stage) MaxUnreliable(ch mercury.ChannelID) int {
	if _, ok := s.Peer(ch); !ok {
		return 0
	}
	return 900
}

// Queued implements mercury.Transport: Waiting is what waits, of StageLimit.
func (s *Stage) Queued(ch mercury.ChannelID) (bytes, limit int) { return s.Waiting[ch], StageLimit }

func (s *Stage) record(ch mercury.ChannelID, reliable bool, msg []byte) error {
	if _, ok := s.Peer(ch); !ok {
		return mercury.ErrNoChannel
	}
	if reliable && s.Waiting[ch]+len(msg) > StageLimit {
		return mercury.ErrFull
	}
	s.Sent = append(s.Sent, Sent{ch, reliable, slices.Clone(msg)})
	return nil
}

// Pause implements mercury.Transport: the test calls Message itself, and looks at Paused.
func (s *Stage) Pause(ch mercury.ChannelID) { s.Paused[ch] = true }

// Resume implements mercury.Transport.
func (s *Stage) Resume(ch mercury.ChannelID) { delete(s.Paused, ch) }

// Close implements mercury.Transport.
func (s *Stage) Close(ch mercury.ChannelID) { s.Ended[ch] = true }

// Abort implements mercury.Transport.
func (s *Stage) Abort(ch mercury.ChannelID) { s.Ended[ch] = true }

// Peer implements mercury.Transport.
func (s *Stage) Peer(ch mercury.ChannelID) (mercury.Address, bool) {
	a, ok := s.peers[ch]
	return a, ok && !s.Ended[ch]
}

// Standing implements mercury.Transport: what Standings says, else mercury.Trusted.
func (s *Stage) Standing(ch mercury.ChannelID) mercury.Standing {
	if standing, ok := s.Standings[ch]; ok {
		return standing
	}
	return mercury.Trusted
}

// Take returns and forgets what was sent on a channel.
func (s *Stage) Take(ch mercury.ChannelID) (msgs [][]byte) {
	var rest []Sent
	for _, m := range s.Sent {
		if m.Channel == ch {
			msgs = append(msgs, m.Message)
		} else {
			rest = append(rest, m)
		}
	}
	s.Sent = rest
	return msgs
}

// One returns and forgets the only message that was sent on a channel.
func (s *Stage) One(t testing.TB, ch mercury.ChannelID) []byte {
	t.Helper()
	msgs := s.Take(ch)
	if len(msgs) != 1 {
		t.Fatalf("%d messages sent on channel %d, want 1", len(msgs), ch)
	}
	return msgs[0]
}
