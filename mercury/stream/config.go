package stream

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
)

// Defaults and bounds of Config. Where mercury.Config has the same field, the default is the same,
// so that a program may change its transport and nothing else.
const (
	// DefaultMaxPending is how many accepted connections may be without a hello. A player's hello
	// takes one round trip, so this admits some thousand a second from 200 ms away.
	DefaultMaxPending = 256
	// DefaultHelloTimeout is how long an accepted connection may take to say who it is: the slowest
	// honest one loses a few packets on the way.
	DefaultHelloTimeout = 5 * time.Second
	// DefaultUnreliableQueued is 50 ms of a link of 10 Mbit/s. What would wait longer is stale when
	// it arrives.
	DefaultUnreliableQueued = 64 << 10
	// minHelloTimeout leaves room for a round trip around the world.
	minHelloTimeout = 10 * time.Millisecond
)

// Config says how a Transport behaves. Zero values mean the default named beside each field.
// Transports that talk to each other should agree in MaxMessage, and KeepAlive of one must be below
// Inactivity of the other.
type Config struct {
	// Salt tells this start of the app from earlier ones at the same address; draw it at random.
	// Zero: Begin brings it, as it does when package host runs the app.
	Salt uint32
	// Self is the place that others should dial, where it is not the one listened at: behind an
	// address translation, or when the listener is at all addresses of its host. Zero: where the
	// listener is.
	Self netip.AddrPort
	// Standing is what whoever gets a connection has proved by the handshake of the adapter's own
	// protocol: mercury.Member where both ends show certificates of one cluster. Zero: nothing, so
	// that the start's Standing holds.
	Standing mercury.Standing
	// MaxQueued is the number of bytes that may wait to be taken by the system, per channel
	// (mercury.DefaultMaxQueued). What would go above it is refused with mercury.ErrFull.
	MaxQueued int
	// UnreliableQueued is the number of bytes of unreliable messages that may wait, per channel
	// (DefaultUnreliableQueued). Above it the oldest are dropped, within one turn the newest. Of
	// datagrams that were received as much waits for the owner.
	UnreliableQueued int
	// MaxMessage is the largest reliable message in bytes, sent or received
	// (mercury.DefaultMaxMessage).
	MaxMessage int
	// MaxChannels is the largest number of channels (mercury.DefaultMaxChannels). Further ones are
	// refused and counted.
	MaxChannels int
	// MaxPending is the largest number of accepted connections that have not said who they are
	// (DefaultMaxPending). A further one takes the place of the oldest.
	MaxPending int
	// Inactivity is how long a peer may be silent (mercury.DefaultInactivity), counted in time
	// during which the owner was awake.
	Inactivity time.Duration
	// KeepAlive is how long a channel sends nothing before it sends a ping
	// (mercury.DefaultKeepAlive).
	KeepAlive time.Duration
	// CloseWait is how long a condemned channel may take to bring over what was sent
	// (mercury.DefaultCloseWait).
	CloseWait time.Duration
	// HelloTimeout is how long a peer may take from the connection to the end of its hello
	// (DefaultHelloTimeout).
	HelloTimeout time.Duration
}

// WithDefaults returns c with every zero field set, Salt and Self excepted.
func (c Config) WithDefaults() Config {
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
	orInt(&c.MaxQueued, mercury.DefaultMaxQueued)
	orInt(&c.UnreliableQueued, DefaultUnreliableQueued)
	orInt(&c.MaxMessage, mercury.DefaultMaxMessage)
	orInt(&c.MaxChannels, mercury.DefaultMaxChannels)
	orInt(&c.MaxPending, DefaultMaxPending)
	orTime(&c.Inactivity, mercury.DefaultInactivity)
	orTime(&c.KeepAlive, mercury.DefaultKeepAlive)
	orTime(&c.CloseWait, mercury.DefaultCloseWait)
	orTime(&c.HelloTimeout, DefaultHelloTimeout)
	return c
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	all := faults.In("stream: Config.")
	fault := all.If
	d := c.WithDefaults()
	fault(d.MaxMessage < 1 || d.MaxMessage > mercury.MaxMaxMessage, "MaxMessage is %d: take 1 to %d bytes", d.MaxMessage, mercury.MaxMaxMessage)
	fault(d.MaxQueued < d.MaxMessage+headerSize, "MaxQueued is %d: take at least MaxMessage and %d (%d), else such a message never finds room", d.MaxQueued, headerSize, d.MaxMessage+headerSize)
	fault(d.UnreliableQueued < 0, "UnreliableQueued is %d: take a positive number of bytes", d.UnreliableQueued)
	fault(d.Standing > mercury.Member, "Standing is %v: take mercury.Member or less", d.Standing)
	fault(d.MaxChannels < 1, "MaxChannels is %d: take at least 1", d.MaxChannels)
	fault(d.MaxPending < 1, "MaxPending is %d: take at least 1", d.MaxPending)
	fault(d.KeepAlive < 0, "KeepAlive is %v: take a positive time", d.KeepAlive)
	fault(d.Inactivity < 2*d.KeepAlive, "Inactivity is %v: take at least twice KeepAlive (%v), else one late ping closes a channel", d.Inactivity, d.KeepAlive)
	fault(d.CloseWait < 0, "CloseWait is %v: take a positive time", d.CloseWait)
	fault(d.HelloTimeout < minHelloTimeout, "HelloTimeout is %v: take at least %v", d.HelloTimeout, minHelloTimeout)
	return all.Err()
}
