package mercury

import (
	"net/netip"
	"time"
)

// Carrier is a Transport over one kind of network, with what a runner needs to run it. Package host
// runs an app over any number of them. The packages udp, tcp, quic and websocket have one each. A
// runner does this, on one goroutine:
//
//	c.Begin(start)
//	for {
//		c.Receive(until)  // wait; the Handler is called in here and nowhere else
//		...               // the app's own work, which sends
//		c.Flush()         // what was sent leaves
//	}
//	c.CloseAll()              // then go on until Channels is 0, or patience ends
//	c.Release()
//
// Call Wake from any goroutine, and all other methods from the owner's. Do not call Begin, Receive,
// CloseAll and Release from inside a callback.
type Carrier interface {
	Transport

	// Network names the kind: "udp", "tcp", "quic", "websocket".
	Network() string
	// Sealed reports whether nobody on the way can read or forge what the channels of this start
	// carry.
	Sealed() bool
	// Begin begins a start of the app at the place where the carrier listens. The channels of an
	// earlier start end without a call of the Handler, and a peer that goes on with one is told of
	// the restart. From then on Self has the new salt.
	Begin(s Start) error
	// Receive waits until something has come, until a time by the clock of the start, until
	// NextDeadline, or until Wake, whichever is first. Then it passes what has come to the Handler,
	// up to a bound, so that a flood does not keep the owner from its work, and does what is due.
	// It does not wait if the time has passed. heard means that a peer has given a sign of life. An
	// error means that the carrier is broken for good.
	Receive(until time.Duration) (heard bool, err error)
	// Flush passes what was sent to the system. An error means that the carrier is broken for good.
	Flush() error
	// NextDeadline is when to call Receive and Flush if nothing comes before; false if there is
	// nothing to wait for. It has already passed if something waits for a Flush.
	NextDeadline() (time.Duration, bool)
	// Wake ends the waiting Receive or, if none is waiting, the next one that would. Any goroutine
	// may call it.
	Wake()
	// Watch makes the carrier call f, on any goroutine, when there is something for Receive, which
	// no longer waits itself. It is for an owner that waits elsewhere. Call it once, before the
	// first Receive.
	Watch(f func())
	// Channels is how many channels there are, including dialling and condemned ones.
	Channels() int
	// CloseAll condemns every channel, oldest first, as Close does, and each one that opens later.
	// The Handler is not called any more.
	CloseAll()
	// CarrierStats returns the figures of the carrier.
	CarrierStats() CarrierStats
	// Release frees sockets and goroutines. Remaining channels end without notice, as when a
	// process is killed. Only Wake may be called after it.
	Release() error
}

// Start is what a Carrier needs for one start of an app.
type Start struct {
	// Salt distinguishes this start from earlier ones. It must not be 0.
	Salt uint32
	// Secret is unpredictable bytes, for carriers that make cookies.
	Secret [16]byte
	// IP is where others reach a carrier that listens at all addresses of the machine, unless the
	// carrier was given an address of its own. The zero Addr leaves it open.
	IP netip.Addr
	// Guard makes the Guard of the start at an address, for carriers of datagrams. Nil: the
	// carrier's own, if it has one.
	Guard func(self Address) (Guard, error)
	// Standing is the standing of peers on a carrier of connections whose handshake proves nothing
	// about them. The zero value is Stranger.
	Standing Standing
	// Clock is the time for Receive, NextDeadline and the Handler. It never runs back, and any
	// goroutine may call it.
	Clock func() time.Duration
	// Handler receives what is delivered.
	Handler Handler
}

// CarrierStats has the figures of a Carrier. A figure that the Carrier does not have is 0. The
// counters begin with the start.
type CarrierStats struct {
	Channels int           // now
	Queued   int           // bytes of reliable messages that wait for a first sending, of all channels
	RTT      time.Duration // round trip, the mean of the channels that know theirs
	Loss     float64       // share of packets lost: lately, as the mean of the channels, or since the start

	MessagesIn, MessagesOut uint64
	BytesIn, BytesOut       uint64 // of packets, or of frames on a stream
	Resends                 uint64 // segments or packets that went out again
	Lost                    uint64 // packets taken for lost
	Full                    uint64 // reliable messages refused with ErrFull
	Refused                 uint64 // refused channels, and datagrams that could not open one
	Dropped                 uint64 // unreliable messages that were dropped here for want of room

	// Endpoint is all that a carrier of datagrams counts, and Socket what its socket lost since it
	// was opened.
	Endpoint Stats
	Socket   SocketStats

	// Unopened counts the connections that came to a carrier of connections and got no channel, by
	// what kept them out. All but Silent and HungUp are in Refused, too.
	Unopened struct {
		Crowded   uint64 // there were too many without a hello: they had to go, or were not let in
		Silent    uint64 // had not said hello in time
		HungUp    uint64 // went without a word, as who looks whether a port is open
		Unsealed  uint64 // TLS failed; most such diallers do not trust the certificate
		Strange   uint64 // said something other than a hello, or asked for what a WebSocket does not give
		Full      uint64 // found as many channels as there may be
		Version   uint64 // spoke another version
		Elsewhere uint64 // had dialled another start
	}
}

// SocketStats counts what a socket for datagrams lost below an Endpoint, which cannot see it.
type SocketStats struct {
	Dropped  uint64 // datagrams that were to be sent and were not
	TooBig   uint64 // of them, those longer than the network device carries
	Cut      uint64 // datagrams that came and were too long to be read
	Overflow uint64 // datagrams that came and found the read buffer full, as far as the system tells
}

// CarrierStats is the part of Stats and ChannelStats that every carrier has. It allocates nothing.
func (e *Endpoint) CarrierStats() CarrierStats {
	s := CarrierStats{
		Channels: len(e.channels), MessagesIn: e.stats.MessagesIn, MessagesOut: e.stats.MessagesOut,
		BytesIn: e.stats.BytesIn, BytesOut: e.stats.BytesOut, Resends: e.stats.Resends, Lost: e.stats.Lost,
		Refused: e.stats.Refused + e.stats.BadHello + e.stats.BadCookie + e.stats.BadKind + e.stats.BadChecksum + e.stats.BadSize,
		Full:    e.stats.Full, Dropped: e.stats.UnreliableDropped, Endpoint: e.Stats(),
	}
	var sum, known time.Duration
	var perMyriad int64
	// order does not show: the sums are of integers
	for _, c := range e.channels {
		s.Queued += c.out.streams[laneGame].queued
		if rtt := c.out.rtt.Smooth; rtt > 0 {
			sum, known = sum+rtt, known+1
			perMyriad += int64(c.out.losses.PerMyriad())
		}
	}
	s.RTT = sum / max(known, 1)
	s.Loss = float64(perMyriad) / float64(max(known, 1)) / 10000
	return s
}
