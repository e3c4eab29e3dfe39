package mercurytest

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Recorder is a mercury.Handler that keeps what it is told, per channel. The zero value is ready.
type Recorder struct {
	// Order lists the channels in the order in which they were first heard of.
	Order []mercury.ChannelID
	// OnMessage and OnOpened, when set, are called after the event was kept.
	OnMessage func(ch mercury.ChannelID, reliable bool, msg []byte)
	OnOpened  func(ch mercury.ChannelID, peer mercury.Address)

	seen map[mercury.ChannelID]*Seen
}

// Seen is what a Recorder was told of one channel.
type Seen struct {
	Opened     int
	Peer       mercury.Address
	Reliable   [][]byte
	Unreliable [][]byte
	Rooms      int
	Closed     []error
	// Late counts callbacks after Closed, and messages before Opened; both must stay 0.
	Late int
}

// Of is what was told of a channel; the zero value for an unknown one.
func (r *Recorder) Of(ch mercury.ChannelID) *Seen {
	s := r.seen[ch]
	if s == nil {
		if r.seen == nil {
			r.seen = make(map[mercury.ChannelID]*Seen)
		}
		s = &Seen{}
		r.seen[ch] = s
		r.Order = append(r.Order, ch)
	}
	return s
}

// Opened implements mercury.Handler.
func (r *Recorder) Opened(_ time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	s := r.Of(ch)
	s.Opened++
	s.Peer = peer
	if len(s.Closed) > 0 {
		s.Late++
	}
	if r.OnOpened != nil {
		r.OnOpened(ch, peer)
	}
}

// Message implements mercury.Handler.
func (r *Recorder) Message(_ time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	s := r.Of(ch)
	if len(s.Closed) > 0 || s.Opened == 0 {
		s.Late++
	}
	if reliable {
		s.Reliable = append(s.Reliable, slices.Clone(msg))
	} else {
		s.Unreliable = append(s.Unreliable, slices.Clone(msg))
	}
	if r.OnMessage != nil {
		r.OnMessage(ch, reliable, msg)
	}
}

// Room implements mercury.RoomHandler.
func (r *Recorder) Room(_ time.Duration, ch mercury.ChannelID) {
	s := r.Of(ch)
	if s.Rooms++; len(s.Closed) > 0 {
		s.Late++
	}
}

// Closed implements mercury.Handler.
func (r *Recorder) Closed(_ time.Duration, ch mercury.ChannelID, reason error) {
	s := r.Of(ch)
	s.Closed = append(s.Closed, reason)
}
