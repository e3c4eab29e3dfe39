package mercury

import (
	"errors"
	"fmt"
	"time"
)

// Defaults and bounds of Config.
const (
	// DefaultMTU fills an Ethernet frame of 1500 bytes over IPv6. Channels begin with
	// DefaultSafeMTU and find out whether it passes.
	DefaultMTU = 1452
	// MinMTU is what IPv4 must carry unfragmented (576) without IP and UDP headers.
	MinMTU = 548
	// MaxMTU is the largest UDP payload over IPv4.
	MaxMTU = 65507
	// DefaultWindow is the number of segments of a stream in flight: 1.4 MB, which fills a link of
	// 100 MB/s at 14 ms.
	DefaultWindow = 1024
	// MinWindow keeps resending by later acks possible.
	MinWindow = 8
	// MaxWindow bounds what one peer can make the receiver hold: 16384 segments of 1400 bytes are
	// 23 MB a stream. It has to send what is held, but for 448 bytes each.
	MaxWindow = 16384
	// DefaultMaxQueued is a backlog that a healthy peer works off in well under a second.
	DefaultMaxQueued = 8 << 20
	// DefaultMaxMessage holds the biggest entity a game should think of.
	DefaultMaxMessage = 1 << 20
	// MaxMaxMessage keeps the length before a message within four bytes.
	MaxMaxMessage = 64 << 20
	// DefaultMaxChannels is above what the clients of one BaseApp come to.
	DefaultMaxChannels = 65536
	// DefaultInactivity outlives a garbage collection, a core dump of a neighbour, a route that
	// flaps.
	DefaultInactivity = 10 * time.Second
	// DefaultKeepAlive gives a peer ten chances within DefaultInactivity.
	DefaultKeepAlive = time.Second
	// DefaultAckDelay is how long an ack waits for a packet to ride on.
	DefaultAckDelay = 20 * time.Millisecond
	// DefaultMinRTO spares a peer that garbage collection or a neighbour keeps from its socket for
	// a moment. How long it holds acks back on purpose is measured and comes on top of the round
	// trip.
	DefaultMinRTO = 50 * time.Millisecond
	// DefaultMaxRTO bounds the silence after a pause of the peer or a cut: the first resend after
	// it comes this soon.
	DefaultMaxRTO = time.Second
	// DefaultCloseWait bounds the life of a condemned channel.
	DefaultCloseWait = 10 * time.Second
)

// Config says how an Endpoint behaves. Zero values mean the default named beside each field.
// Endpoints that talk to each other should agree in MaxMessage; windows are agreed on when a
// channel opens.
type Config struct {
	// Salt tells this start of the app from earlier ones at the same address. Required, not zero;
	// draw it at random.
	Salt uint32
	// Secret keys the cookies that diallers must return and the keys of channels. Draw it at
	// random; the zero value is guessable and fit for tests only.
	Secret [16]byte
	// Guard protects the channels; nil: packets are only checksummed. Both ends have one or
	// neither.
	Guard Guard
	// MTU is the largest datagram in bytes (DefaultMTU). A channel uses it once it has found that
	// it passes.
	MTU int
	// SafeMTU is the largest datagram that passes everywhere (DefaultSafeMTU, or MTU if that is
	// less). With SafeMTU equal to MTU there is no search.
	SafeMTU int
	// Copies is the most that a short message rides again before anything is known of its loss, on
	// a path that loses packets: 1 or 2 (DefaultCopies), NoCopies for never.
	Copies int
	// Window is the largest number of segments in flight for each of a channel's two streams
	// (DefaultWindow).
	Window int
	// MaxQueued is the number of bytes of reliable messages that may wait for a first sending, per
	// channel (DefaultMaxQueued). What would go above it is refused with ErrFull.
	MaxQueued int
	// MaxMessage is the largest reliable message in bytes, sent or received (DefaultMaxMessage).
	MaxMessage int
	// MaxChannels is the largest number of channels of the Endpoint (DefaultMaxChannels). Further
	// opens are refused and counted.
	MaxChannels int
	// Inactivity is how long a peer may be silent (DefaultInactivity), counted in time during which
	// this Endpoint was awake.
	Inactivity time.Duration
	// KeepAlive is how long a channel sends nothing before it sends a ping (DefaultKeepAlive).
	KeepAlive time.Duration
	// AckDelay is how long an ack may wait for a packet to ride on (DefaultAckDelay).
	AckDelay time.Duration
	// MinRTO and MaxRTO bound the time without an ack after which the oldest packets are sent again
	// (DefaultMinRTO, DefaultMaxRTO).
	MinRTO, MaxRTO time.Duration
	// CloseWait is how long a condemned channel may take to bring over what was sent
	// (DefaultCloseWait).
	CloseWait time.Duration
}

// withDefaults returns c with every zero field set.
func (c Config) withDefaults() Config {
	orInt := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	orTime := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	orInt(&c.MTU, DefaultMTU)
	orInt(&c.SafeMTU, max(min(c.MTU, DefaultSafeMTU), c.MTU/(maxParts-3)))
	orInt(&c.Copies, DefaultCopies)
	orInt(&c.Window, DefaultWindow)
	orInt(&c.MaxQueued, DefaultMaxQueued)
	orInt(&c.MaxMessage, DefaultMaxMessage)
	orInt(&c.MaxChannels, DefaultMaxChannels)
	orTime(&c.Inactivity, DefaultInactivity)
	orTime(&c.KeepAlive, DefaultKeepAlive)
	orTime(&c.AckDelay, DefaultAckDelay)
	orTime(&c.MinRTO, DefaultMinRTO)
	orTime(&c.MaxRTO, DefaultMaxRTO)
	orTime(&c.CloseWait, DefaultCloseWait)
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("mercury: Config."+format, args...))
		}
	}
	fault(c.Salt == 0, "Salt is 0: draw a non-zero salt at each start")
	d := c.withDefaults()
	fault(d.MTU < MinMTU || d.MTU > MaxMTU, "MTU is %d: take %d to %d bytes", d.MTU, MinMTU, MaxMTU)
	fault(d.MTU >= MinMTU && (d.SafeMTU < MinMTU || d.SafeMTU > d.MTU), "SafeMTU is %d: take %d bytes up to MTU (%d)", d.SafeMTU, MinMTU, d.MTU)
	fault(d.SafeMTU < d.MTU/(maxParts-3), "SafeMTU is %d: take at least a %dth of MTU (%d), so that a segment can go in parts", d.SafeMTU, maxParts-3, d.MTU)
	fault(d.Copies < NoCopies || d.Copies > DefaultCopies, "Copies is %d: take 1 or %d, or NoCopies", d.Copies, DefaultCopies)
	fault(d.Guard != nil && d.SafeMTU < minGuardedMTU, "SafeMTU is %d: take at least %d with a Guard, whose first packets carry a pass", d.SafeMTU, minGuardedMTU)
	fault(d.Window < MinWindow || d.Window > MaxWindow, "Window is %d: take %d to %d packets", d.Window, MinWindow, MaxWindow)
	fault(d.MaxMessage < 1 || d.MaxMessage > MaxMaxMessage, "MaxMessage is %d: take 1 to %d bytes", d.MaxMessage, MaxMaxMessage)
	fault(d.MaxQueued < d.MaxMessage, "MaxQueued is %d: take at least MaxMessage (%d), else such a message never finds room", d.MaxQueued, d.MaxMessage)
	fault(d.MaxChannels < 1, "MaxChannels is %d: take at least 1", d.MaxChannels)
	fault(d.KeepAlive < 0, "KeepAlive is %v: take a positive time", d.KeepAlive)
	fault(d.Inactivity < 2*d.KeepAlive, "Inactivity is %v: take at least twice KeepAlive (%v), else one lost ping closes a channel", d.Inactivity, d.KeepAlive)
	fault(d.AckDelay < 0 || d.AckDelay > maxAckDelay, "AckDelay is %v: take up to %v", d.AckDelay, maxAckDelay)
	fault(d.MinRTO < time.Millisecond, "MinRTO is %v: take at least 1ms", d.MinRTO)
	fault(d.MaxRTO < d.MinRTO, "MaxRTO is %v: take at least MinRTO (%v)", d.MaxRTO, d.MinRTO)
	fault(d.CloseWait < 0, "CloseWait is %v: take a positive time", d.CloseWait)
	return errors.Join(faults...)
}

// maxAckDelay bounds Config.AckDelay: a sender waits this much longer before it takes an ack for
// lost.
const maxAckDelay = time.Second

// NoCopies as Config.Copies switches early resends off.
const NoCopies = -1

// minGuardedMTU leaves half of a first packet to messages.
const minGuardedMTU = 2 * (firstFixed + MaxPass)

// maxSeal is more than any Sealer adds.
const maxSeal = 64

// copies is Copies as a number.
func (c *Config) copies() int8 { return int8(max(0, c.Copies)) }
