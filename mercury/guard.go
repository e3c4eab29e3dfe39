package mercury

import (
	"errors"
	"net/netip"
	"time"
)

// Sizes that a Guard must keep to, so that an accept is never longer than its open and the first
// packets of a channel still have room for messages.
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

// ErrPass is returned by Guard.Admit for a pass that is not, or no longer, good. The dialler is
// told and dials again.
var ErrPass = errors.New("mercury: pass is not good")

// Guard protects the channels of an Endpoint from outsiders. It makes the keys of each channel
// during its handshake. Package secure has one. Without a Guard packets have only checksums, which
// is for networks where everyone is trusted. Either both ends have a Guard or neither.
//
// A Guard belongs to one Endpoint and is called on its goroutine. Bad input from outside causes
// errors, never panics.
type Guard interface {
	// Overhead is the number of bytes that a Sealer adds to a packet.
	Overhead() int
	// Dial begins a handshake with the app at to. bind is what the packet with the hello says in
	// the clear about the channel. A Guard makes sure that Answer and Admit see the same.
	Dial(now time.Duration, to Address, bind []byte) (Dialling, error)
	// Answer takes the hello of an open and appends a reply to b, at most MaxReply bytes. It keeps
	// nothing. The reply contains a pass, sealed by the acceptor for itself, which the dialler
	// shows with its first packets. The dialler is told of an error that is ErrKey: its hello is
	// for another key or none, and will never be answered.
	Answer(b []byte, now time.Duration, from netip.AddrPort, bind, hello []byte) ([]byte, error)
	// Admit makes the session from a pass: one of Answer's, or a ticket of an earlier channel. from
	// must be the place that it was made for: IP and port for Answer's, the IP for a ticket. A
	// ticket is good once. A pass of Answer's is good within its life; the Endpoint recognises a
	// second use. ErrPass means that the dialler must dial again.
	Admit(now time.Duration, from netip.AddrPort, bind, pass []byte) (Sealer, error)
	// Ticket appends a ticket with which the peer at from may open its next channel without a round
	// trip, or nothing. It is sent to the peer once the channel is open, under its seal.
	Ticket(b []byte, now time.Duration, from netip.AddrPort) []byte
	// Keep stores a ticket that came from the app at to, for the next Dial of that place. ticket is
	// valid only during the call.
	Keep(now time.Duration, to Address, ticket []byte)
}

// Dialling is one handshake of a dialler.
type Dialling interface {
	// Hello is what goes into the open, at most MaxHello bytes.
	Hello() []byte
	// Early returns a pass that is already at hand, with its keys. The first packets then leave at
	// once.
	Early() (pass []byte, s Sealer, ok bool)
	// Issuer is the salt of the start that the early pass came from, as Keep was told; 0 if
	// unknown. If another start refuses the pass, the first may have received what was sent with
	// it, and the dial ends.
	Issuer() uint32
	// Finish takes the reply of Guard.Answer.
	Finish(now time.Duration, reply []byte) (pass []byte, s Sealer, err error)
	// Again forgets the refused early pass, or the handshake that failed. Hello begins a new one.
	Again()
}

// Sealer protects the packets of one channel in both directions. Its keys follow from the packet
// number alone, so a change of keys needs no signal.
type Sealer interface {
	// Seal protects packet[head:] in place, authenticates packet[:head] and number, and returns
	// packet with the tag appended, for which it has room.
	Seal(packet []byte, head int, number uint64) []byte
	// Open checks packet, opens packet[head:] in place and returns what Seal was given there.
	Open(packet []byte, head int, number uint64) ([]byte, error)
	// Standing is what the peer has proved by the handshake that the keys come from.
	Standing() Standing
}
