package mercury

import (
	"errors"
	"net/netip"
	"time"
)

// Sizes that a Guard keeps to, so that an accept is never longer than the open that causes it and
// the first packets of a channel still have room for messages.
const (
	// MaxHello is the most that Dialling.Hello may be.
	MaxHello = 160
	// MaxReply is the most that Guard.Answer may append.
	MaxReply = 240
	// MaxPass is the most that a pass may be.
	MaxPass = 200
	// MaxTicket is the most that Guard.Ticket may append.
	MaxTicket = 240
)

// ErrPass is returned by Guard.Admit for a pass that is not good, or not any more. The dialler is
// told and dials anew.
var ErrPass = errors.New("mercury: pass is not good")

// Guard protects the channels of an Endpoint from those outside of them: it makes the keys of each
// channel during its handshake. Package secure has one. Without a Guard packets are only
// checksummed, which is for networks where all are trusted. Both ends have a Guard or neither.
//
// A Guard belongs to its Endpoint and is called on its goroutine. What comes from outside makes
// errors, never panics.
type Guard interface {
	// Overhead is the number of bytes that a Sealer adds to a packet.
	Overhead() int
	// Dial begins a handshake with the app at to. bind is what the packet with the hello says in
	// the clear about the channel; a Guard makes sure that Answer and Admit see the same.
	Dial(now time.Duration, to Address, bind []byte) (Dialling, error)
	// Answer takes the hello of an open and appends a reply to b, at most MaxReply bytes. It keeps
	// nothing. The reply brings a pass, sealed by the acceptor for itself, which the dialler shows
	// with its first packets. An error that is ErrKey is told to the dialler, whose hello is for
	// another key or none: it will not be answered however often it is sent.
	Answer(b []byte, now time.Duration, from netip.AddrPort, bind, hello []byte) ([]byte, error)
	// Admit makes the session from a pass: one of Answer's, or a ticket of an earlier channel. from
	// must be the place that it was made for: IP and port for Answer's, the IP for a ticket. A
	// ticket is good once. A pass of Answer's is good within its life; the Endpoint tells a second
	// use apart. ErrPass says that the dialler must dial anew.
	Admit(now time.Duration, from netip.AddrPort, bind, pass []byte) (Sealer, error)
	// Ticket appends a ticket with which the peer at from may open its next channel without a round
	// trip, or nothing. It is sent to the peer once the channel is open, under its seal.
	Ticket(b []byte, now time.Duration, from netip.AddrPort) []byte
	// Keep stores a ticket that came from the app at to, for the next Dial of that place. ticket is
	// valid during the call.
	Keep(now time.Duration, to Address, ticket []byte)
}

// Dialling is one handshake of a dialler.
type Dialling interface {
	// Hello is what goes into the open, at most MaxHello bytes.
	Hello() []byte
	// Early is a pass that is at hand already, with the keys that go with it: then the first
	// packets leave at once.
	Early() (pass []byte, s Sealer, ok bool)
	// Issuer is the salt of the start that the early pass came from, as Keep was told it; 0 when
	// that is not known. If another start refuses the pass, what went with it may have been heard
	// by the first, and the dial ends.
	Issuer() uint32
	// Finish takes the reply of Guard.Answer.
	Finish(now time.Duration, reply []byte) (pass []byte, s Sealer, err error)
	// Again forgets the early pass, which was refused, or the handshake of which nothing came:
	// Hello begins anew.
	Again()
}

// Sealer protects the packets of one channel in both directions. Its keys follow from the packet
// number alone, so that a change of keys needs no signal.
type Sealer interface {
	// Seal protects packet[head:] in place, authenticates packet[:head] and number, and returns
	// packet with the tag appended, for which it has room.
	Seal(packet []byte, head int, number uint64) []byte
	// Open checks packet, opens packet[head:] in place and returns what Seal was given there.
	Open(packet []byte, head int, number uint64) ([]byte, error)
	// Standing is what the peer has proved by the handshake that the keys come from.
	Standing() Standing
}
