package mercury

import (
	"errors"
	"fmt"
	"time"
)

// ChannelID is a transport's handle of one channel. It is never used again in the life of the
// transport; 0 means none.
type ChannelID uint32

// Handler is an app to which a transport delivers. An Endpoint calls it only inside Receive and
// Advance, on the caller's goroutine.
//
// A callback may call any method of Transport, even Close or Abort of the channel that is being
// delivered. Nothing more is then delivered from that channel.
type Handler interface {
	// Opened tells of a channel that was accepted from outside, or of a successful Dial. The salt
	// of peer is known.
	Opened(now time.Duration, ch ChannelID, peer Address)
	// Message delivers one message, whole. msg is valid only during the call. Reliable messages of
	// a channel come exactly once and in the order of their sending; unreliable ones at most once,
	// as they come.
	Message(now time.Duration, ch ChannelID, reliable bool, msg []byte)
	// Closed tells once that an opened or dialled channel has ended, unless this side closed it.
	// reason is one of the Err values below, perhaps wrapped.
	Closed(now time.Duration, ch ChannelID, reason error)
}

// BulkHandler is a Handler that takes bulk messages (Endpoint.SendBulk). Without it they are
// dropped.
type BulkHandler interface {
	// Bulk delivers one bulk message, whole, exactly once, in the order of sending among bulk
	// messages. msg is valid only during the call.
	Bulk(now time.Duration, ch ChannelID, msg []byte)
}

// MoveHandler is a Handler that wants to be told when a peer has changed its address.
type MoveHandler interface {
	// Moved tells that the channel's peer is now at another place. The channel goes on.
	Moved(now time.Duration, ch ChannelID, peer Address)
}

// Transport is what an app may do with its channels. Endpoint is one over datagrams. Adapters of
// other protocols and in-memory fakes are others; mercurytest.TestTransport checks them all.
//
// Call its methods on the goroutine that owns the app, inside or outside of a callback. None of
// them calls back.
type Transport interface {
	// Self is the address of this start, as others should dial it.
	Self() Address
	// Dial returns a channel to the app at an address, at once. Messages are queued until it is
	// open. Opened or Closed follows. A second Dial of exactly the same address returns the same
	// channel while it lives.
	Dial(to Address) ChannelID
	// Send queues a reliable message; msg is copied. It fails with ErrNoChannel, ErrMessageTooLong,
	// or ErrFull. A refused message leaves no trace: the channel lives on with all that was queued
	// before, without a gap.
	Send(ch ChannelID, msg []byte) error
	// Queued returns how many bytes of a channel's reliable messages wait for a first sending, and
	// how many may wait before Send fails with ErrFull. Senders of much data should check it before
	// the queue is full, and again later: it falls as the peer takes what was sent. It is 0 bytes
	// for an unknown channel.
	Queued(ch ChannelID) (bytes, limit int)
	// SendUnreliable queues a message that may be lost, but never comes twice. It fails with
	// ErrMessageTooLong if the message does not fit into one packet. If too much waits, unreliable
	// messages are dropped here: dropped is how many of the channel were since the last call,
	// perhaps including this one.
	SendUnreliable(ch ChannelID, msg []byte) (dropped int, err error)
	// MaxUnreliable is the largest message that SendUnreliable takes on that channel now without
	// pushing out a waiting one. It is less than a packet if much already waits, and 0 for a
	// channel that takes none. Check it before each message that must not be lost here: only the
	// network can lose a message within it.
	MaxUnreliable(ch ChannelID) int
	// Pause stops all delivery from a channel until Resume, including what has already come. It is
	// for an app that can take no more from this peer, but goes on with others. Reliable messages
	// are held here up to a bound; beyond it they wait at the peer, whose queue fills. Unreliable
	// ones are dropped or come late. A pause ends with the channel: what was held is delivered
	// before Closed with ErrPeerClosed.
	Pause(ch ChannelID)
	// Resume ends a pause. Delivery goes on with the next turn of the transport.
	Resume(ch ChannelID)
	// Close condemns a channel. Nothing more is delivered from it. What was sent reliably still
	// goes to the peer within a bounded time, and then the peer is told. The closer gets no Closed.
	Close(ch ChannelID)
	// Abort ends a channel at once. The peer is told once, which may be lost. The caller gets no
	// Closed.
	Abort(ch ChannelID)
	// Peer is the address at the other end, without the salt while that is unknown; false if there
	// is no such channel.
	Peer(ch ChannelID) (Address, bool)
	// Standing is what the peer of an open channel has proved to be; Stranger for a channel that
	// does not exist or has no keys yet.
	Standing(ch ChannelID) Standing
}

// Reasons and refusals. Callers branch on them with errors.Is.
var (
	// ErrNoChannel is returned for a channel that does not (or no longer) exist, or was closed by
	// this side.
	ErrNoChannel = errors.New("mercury: no such channel")
	// ErrMessageTooLong is returned for a message above Config.MaxMessage, or an unreliable one
	// that does not fit into one packet. It is the reason of Closed if the peer announced such a
	// message.
	ErrMessageTooLong = errors.New("mercury: message too long")
	// ErrFull is returned for a message without room in its channel's queue, because the peer does
	// not keep up. The channel lives on; it never ends for want of room.
	ErrFull = errors.New("mercury: too much queued for a peer that does not keep up")
	// ErrTimeout is the reason if the peer was silent for Config.Inactivity, or never answered a
	// Dial.
	ErrTimeout = errors.New("mercury: peer is silent")
	// ErrPeerClosed is the reason if the peer closed the channel properly.
	ErrPeerClosed = errors.New("mercury: peer closed the channel")
	// ErrPeerAborted is the reason if the peer dropped the channel, or no longer knows it.
	ErrPeerAborted = errors.New("mercury: peer aborted the channel")
	// ErrPeerRestarted is the reason if a start with another salt now has the peer's address.
	ErrPeerRestarted = errors.New("mercury: peer has restarted")
	// ErrKey is the reason of a dialled channel if its two ends have no common key: only one has a
	// Guard, the peer's key is not the one that it was dialled by, or its certificate is not trusted.
	// The text says which.
	ErrKey = errors.New("mercury: no common key with the peer")
	// ErrTooManyChannels is the reason of a dialled channel beyond Config.MaxChannels, here or at
	// the peer.
	ErrTooManyChannels = errors.New("mercury: too many channels")
	// ErrAddress is the reason if the dialled address names no place.
	ErrAddress = errors.New("mercury: address cannot be dialled")
	// ErrProtocol is the reason if the peer sent what no sound peer sends.
	ErrProtocol = errors.New("mercury: peer broke the protocol")
	// ErrFutureAck is the ErrProtocol of a peer that acked what was never sent.
	ErrFutureAck = fmt.Errorf("%w: it acked what was never sent", ErrProtocol)
	// ErrUnacked is the reason if the peer still sends, but has acked nothing for Config.Inactivity
	// while something was in flight.
	ErrUnacked = errors.New("mercury: peer acks nothing")
)
