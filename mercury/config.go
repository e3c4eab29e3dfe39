package mercury

import (
	"errors"
	"fmt"
	"time"
)

// Defaults and bounds of Config.
const (
	// DefaultMTU fills an Ethernet frame of 1500 bytes over IPv6. Channels begin with
	// DefaultSafeMTU and find out whether this size passes.
	DefaultMTU = 1452
	// JumboMTU fills a frame of 9000 bytes over IPv6. It is for servers among themselves: the
	// loopback carries it, and so do networks that are set up for it.
	JumboMTU = 8952
	// MinMTU is what IPv4 must carry unfragmented (576), less IP and UDP headers.
	MinMTU = 548
	// MaxMTU is the largest UDP payload over IPv4.
	MaxMTU = 65507
	// DefaultWindow is how many segments of a stream may be in flight: 1.4 MB, which fills a link
	// of 100 MB/s at 14 ms.
	DefaultWindow = 1024
	// MinWindow leaves enough packets in flight to detect losses by later acks.
	MinWindow = 8
	// MaxWindow bounds what one peer can make the receiver hold: 16384 segments of 1400 bytes are
	// 23 MB a stream. The peer has to send all that is held, except for 448 bytes of each segment.
	MaxWindow = 16384
	// ServerFlight, as Config.LeastFlight, holds a tick of a crowd of two thousand at 20 kbit/s
	// each, and is a quarter of what a socket's buffer holds by default.
	ServerFlight = 1 << 20
	// MaxLeastFlight bounds LeastFlight: a socket's buffer holds no more by default.
	MaxLeastFlight = 4 << 20
	// DefaultMaxQueued is a backlog that a healthy peer works off in well under a second.
	DefaultMaxQueued = 8 << 20
	// DefaultMaxMessage is enough for the biggest entity that a game should have.
	DefaultMaxMessage = 1 << 20
	// MaxMaxMessage keeps the length in front of a message within four bytes.
	MaxMaxMessage = 64 << 20
	// DefaultMaxChannels is above the number of clients of one BaseApp.
	DefaultMaxChannels = 65536
	// DefaultInactivity is longer than a garbage collection, a core dump of a neighbour, or a
	// flapping route takes.
	DefaultInactivity = 10 * time.Second
	// DefaultKeepAlive gives a peer ten chances within DefaultInactivity.
	DefaultKeepAlive = time.Second
	// DefaultAckDelay is how long an ack waits for a packet to ride on.
	DefaultAckDelay = 20 * time.Millisecond
	// DefaultMinRTO spares a peer that garbage collection or a neighbour keeps from its socket for
	// a moment. The time for which it holds acks back on purpose is measured and added to the round
	// trip.
	DefaultMinRTO = 50 * time.Millisecond
	// DefaultMaxRTO bounds the silence after a pause of the peer or an outage: the first resend
	// comes at most this much later.
	DefaultMaxRTO = time.Second
	// DefaultCloseWait bounds the life of a condemned channel.
	DefaultCloseWait = 10 * time.Second
)

// Config sets how an Endpoint behaves. Zero values mean the default named in each field. Endpoints
// that talk to each other should have the same MaxMessage; windows are agreed on when a channel
// opens.
type Config struct {
	// Salt distinguishes this start of the app from earlier ones at the same address. Required and
	// not zero; draw it at random.
	Salt uint32
	// Secret keys the cookies that diallers must return and the keys of channels. Draw it at
	// random; the zero value can be guessed, and is only for tests.
	Secret [16]byte
	// Guard protects the channels. With nil, packets only have checksums. Either both ends have one
	// or neither.
	Guard Guard
	// MTU is the largest datagram in bytes (DefaultMTU). A channel uses it after it has found that
	// this size passes. Above DefaultMTU it is tried when DefaultMTU has passed. Many small messages
	// cost a third less in datagrams of JumboMTU.
	MTU int
	// SafeMTU is the largest datagram that passes everywhere (DefaultSafeMTU, or MTU if that is
	// less). With SafeMTU equal to MTU there is no search.
	SafeMTU int
	// Copies is how often at most a short message is copied into later packets before its loss is
	// known, on a path that loses packets: 1 or 2 (DefaultCopies); NoCopies means never.
	Copies int
	// Window is the largest number of segments in flight for each of a channel's two streams
	// (DefaultWindow).
	Window int
	// LeastFlight is how many bytes of a channel may be in flight, and leave in 10 ms, whatever
	// round trips and rates say (0: 32 packets), unless many are lost or the peer is silent. It is
	// for servers among themselves, who read what has come between two pieces of work: such a peer
	// looks like a slow path. ServerFlight is a good one.
	LeastFlight int
	// MaxQueued is the number of bytes of reliable messages that may wait for a first sending, per
	// channel (DefaultMaxQueued). Messages beyond it are refused with ErrFull.
	MaxQueued int
	// MaxMessage is the largest reliable message in bytes, sent or received (DefaultMaxMessage).
	MaxMessage int
	// MaxChannels is the largest number of channels of the Endpoint (DefaultMaxChannels). Further
	// opens are refused and counted.
	MaxChannels int
	// Inactivity is how long a peer may be silent (DefaultInactivity). Only time in which this
	// Endpoint was awake counts.
	Inactivity time.Duration
	// KeepAlive is how long a channel sends nothing before it sends a ping (DefaultKeepAlive).
	KeepAlive time.Duration
	// AckDelay is how long an ack may wait for a packet to ride on (DefaultAckDelay).
	AckDelay time.Duration
	// MinRTO and MaxRTO bound the time without an ack after which the oldest packets are sent again
	// (DefaultMinRTO, DefaultMaxRTO).
	MinRTO, MaxRTO time.Duration
	// CloseWait is how long a condemned channel may take to deliver what was sent
	// (DefaultCloseWait).
	CloseWait time.Duration
}

// withDefaults returns c with its zero fields filled in.
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
	fault(d.LeastFlight < 0 || d.LeastFlight > MaxLeastFlight, "LeastFlight is %d: take up to %d bytes, or 0 for 32 packets", d.LeastFlight, MaxLeastFlight)
	fault(d.MaxMessage < 1 || d.MaxMessage > MaxMaxMessage, "MaxMessage is %d: take 1 to %d bytes", d.MaxMessage, MaxMaxMessage)
	fault(d.MaxQueued < d.MaxMessage, "MaxQueued is %d: take at least MaxMessage (%d), or such a message never finds room", d.MaxQueued, d.MaxMessage)
	fault(d.MaxChannels < 1, "MaxChannels is %d: take at least 1", d.MaxChannels)
	fault(d.KeepAlive < 0, "KeepAlive is %v: take a positive time", d.KeepAlive)
	fault(d.Inactivity < 2*d.KeepAlive, "Inactivity is %v: take at least twice KeepAlive (%v), or one lost ping closes a channel", d.Inactivity, d.KeepAlive)
	fault(d.AckDelay < 0 || d.AckDelay > maxAckDelay, "AckDelay is %v: take up to %v", d.AckDelay, maxAckDelay)
	fault(d.MinRTO < time.Millisecond, "MinRTO is %v: take at least 1ms", d.MinRTO)
	fault(d.MaxRTO < d.MinRTO, "MaxRTO is %v: take at least MinRTO (%v)", d.MaxRTO, d.MinRTO)
	fault(d.CloseWait < 0, "CloseWait is %v: take a positive time", d.CloseWait)
	return errors.Join(faults...)
}

// maxAckDelay bounds Config.AckDelay. A sender waits this much longer before it considers an ack
// lost.
const maxAckDelay = time.Second

// NoCopies, as Config.Copies, switches copies off.
const NoCopies = -1

// minGuardedMTU leaves half of a first packet for messages.
const minGuardedMTU = 2 * (firstFixed + MaxPass)

// maxSeal is more than any Sealer adds.
const maxSeal = 64

// copies is Copies as a number.
func (c *Config) copies() int8 { return int8(max(0, c.Copies)) }
