package peer

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// Config sets how a Server or a Conn behaves. Zero values mean the default named in each field.
type Config struct {
	// Opened is called when a channel is open. Like all these functions it is called on the
	// goroutine of the events.
	Opened func(c Channel)
	// Message is called with one whole message, which is valid only during the call. Required.
	Message func(c Channel, reliable bool, msg []byte)
	// Answer answers the peer's Ask; request is valid only during the call. An error fails the Ask,
	// and its text is sent. Default: every Ask fails.
	Answer func(c Channel, request []byte) (reply []byte, err error)
	// Room is called when a channel that refused a message with mercury.ErrFull takes more.
	Room func(c Channel)
	// Closed is called when a channel has ended, unless this side closed it. The reason is one of
	// mercury's Err values. For a Conn it is called only if the channel was open.
	Closed func(c Channel, reason error)

	// Clear sends everything in the clear, without a key. Either both ends set it or neither.
	Clear bool
	// Limits are the limits and times of the channels, with mercury's defaults. Salt, Secret and
	// Guard must be zero; each start makes its own.
	Limits mercury.Config
	// Advertise is the address at which others reach a Server that listens at all addresses. Only
	// Server.Address uses it. Default: the loopback.
	Advertise netip.Addr
	// Pace is the least time between two wake-ups, so that messages share packets under load. With
	// 0 each message is handled at once.
	Pace time.Duration
	// StopTimeout is how long Close waits until the peers have everything
	// (host.DefaultStopTimeout).
	StopTimeout time.Duration
	// Log gets a line for each channel at level debug, and for each fault. Default: nothing is
	// logged.
	Log *slog.Logger
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	all := faults.In("peer: Config.")
	fault := all.If
	fault(c.Message == nil, "Message is nil: give the function that takes messages")
	fault(c.Pace < 0, "Pace is %v: take a positive time, or 0 for none", c.Pace)
	l := c.Limits
	fault(l.Salt != 0 || l.Secret != [16]byte{} || l.Guard != nil, "Limits has Salt, Secret or Guard: leave them out, each start makes its own")
	l.Salt = 1
	all.Add(l.Validate(), host.Config{StopTimeout: c.StopTimeout}.Validate())
	return all.Err()
}
