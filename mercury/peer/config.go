package peer

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/host"
)

// Config says how a Server or a Conn behaves. Zero values mean the default named beside each field.
type Config struct {
	// Opened is told of a channel that is open, on the goroutine of the events, as all of these are.
	Opened func(c Channel)
	// Message is given one message, whole, which is valid during the call only. Required.
	Message func(c Channel, reliable bool, msg []byte)
	// Answer is asked what the peer's Ask asks; request is valid during the call only. An error fails the Ask, and its text is
	// told. Default: every Ask fails.
	Answer func(c Channel, request []byte) (reply []byte, err error)
	// Room is told that a channel which refused a message with mercury.ErrFull takes more.
	Room func(c Channel)
	// Closed is told that a channel has ended, unless this side closed it; the reason is one of mercury's Err values. Of a Conn
	// it is told once it was open.
	Closed func(c Channel, reason error)

	// Clear sends everything in the clear, for who has no secrets. Both ends do or neither, and there is no key then.
	Clear bool
	// Limits are the limits and times of the channels; their defaults are those of mercury. Salt, Secret and Guard are made
	// at each start and stay zero here.
	Limits mercury.Config
	// Advertise is the address under which others reach a Server that listens at all addresses, for Server.Address alone.
	// Default: that of the loopback.
	Advertise netip.Addr
	// Pace is the least time between two wakings, so that under load messages share packets (0: each is answered at once).
	Pace time.Duration
	// StopTimeout is how long Close waits until the peers have everything (host.DefaultStopTimeout).
	StopTimeout time.Duration
	// Log gets a line for each channel at level debug, and for what goes wrong. Default: nothing is logged.
	Log *slog.Logger
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("peer: Config."+format, args...))
		}
	}
	fault(c.Message == nil, "Message is nil: give what takes messages")
	fault(c.Pace < 0, "Pace is %v: take a positive time, or 0 for none", c.Pace)
	l := c.Limits
	fault(l.Salt != 0 || l.Secret != [16]byte{} || l.Guard != nil, "Limits has Salt, Secret or Guard: leave them out, each start makes its own")
	l.Salt = 1
	return errors.Join(append(faults, l.Validate(), host.Config{StopTimeout: c.StopTimeout}.Validate())...)
}
