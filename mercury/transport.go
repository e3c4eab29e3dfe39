package mercury

import (
	"errors"
	"fmt"
	"time"
)

// ChannelID is a transport's handle of one channel. It is never used again in the life of the
// transport; 0 is none.
type ChannelID uint32

// Handler is what a transport delivers to: an app. An Endpoint calls it only inside Receive and
// Advance, on the caller's goroutine.
//
// A callback may call any method of Transport, also Close or Abort of the channel that is being
// delivered: then nothing more is delivered from that channel.
type Handler interface {
	// Opened tells of a channel that was accepted from outside, or of a Dial that succeeded. The
	// salt of peer is known.
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

// MoveHandler is a Handler that wants to know when a peer has changed its address.
type MoveHandler interface {
	// Moved tells that the channel goes on with its peer at another place.
	Moved(now time.Duration, ch ChannelID, peer Address)
}

// Transport is what an app may do with its channels. Endpoint is one over datagrams; adapters of
// other protocols and in-memory fakes are others, and mercurytest.TestTransport checks them all.
//
// Its methods are called on the goroutine that owns the app, inside or outside of a callback. None
// of them calls back.
type Transport interface {
	// Self is the address of this start, as others should dial it.
	Self() Address
	// Dial returns a channel to the app at an address, at once; what is sent meanwhile is queued
	// until it is open. Opened or Closed follows. A second Dial of exactly the same address gives
	// the same channel while it lives.
	Dial(to Address) ChannelID
	// Send queues a reliable message; msg is copied. It fails with ErrNoChannel, ErrMessageTooLong,
	// or ErrFull. What it refuses leaves no trace: the channel lives on with all that was queued
	// before, and its order has no gap.
	Send(ch ChannelID, msg []byte) error
	// Queued is how many bytes of reliable messages of a channel wait to be sent for the first
	// time, and how many may wait before Send fails with ErrFull. Who fills a queue asks it before
	// it is full, and again when time has passed: it falls as the peer takes what was sent. 0 bytes
	// for a channel that is not there.
	Queued(ch ChannelID) (bytes, limit int)
	// SendUnreliable queues a message that may be lost and is never doubled. It must fit in one
	// packet, else ErrMessageTooLong. When more waits than is good, unreliable messages are dropped
	// here: dropped is how many of the channel were since the last call, this one perhaps among them.
	SendUnreliable(ch ChannelID, msg []byte) (dropped int, err error)
	// MaxUnreliable is the largest message that SendUnreliable takes on that channel now, without
	// pushing out one that waits: less than a packet when much waits already, 0 for a channel that
	// takes none. Ask before each message what must be told apart from lost ones: a message within
	// it is on its way, and only the network can lose it.
	MaxUnreliable(ch ChannelID) int
	// Pause has nothing more delivered from a channel until Resume, the rest of what has come
	// already included: for an app that can take no more from this peer, while it takes from all
	// others. Reliable messages are held here up to a bound, then they wait at the peer, whose queue
	// fills. Unreliable ones are dropped, or come late. A pause ends by itself when the channel
	// does: what was held is delivered before Closed with ErrPeerClosed.
	Pause(ch ChannelID)
	// Resume ends a pause. Delivery goes on with the next turn of the transport.
	Resume(ch ChannelID)
	// Close condemns a channel: nothing more is delivered from it, what was sent reliably is still
	// brought over within a bounded time, then the peer is told. The closer gets no Closed.
	Close(ch ChannelID)
	// Abort ends a channel at once. The peer is told once, which may be lost. The caller gets no
	// Closed.
	Abort(ch ChannelID)
	// Peer is the address at the other end, without a salt while that is not yet known; false when
	// there is no such channel.
	Peer(ch ChannelID) (Address, bool)
	// Standing is what the peer of an open channel has proved to be; Stranger for a channel that is
	// not there, or has no keys yet.
	Standing(ch ChannelID) Standing
}

// Reasons and refusals. Callers branch on them with errors.Is.
var (
	// ErrNoChannel is returned for a channel that is not (or no longer) there, or was closed by
	// this side.
	ErrNoChannel = errors.New("mercury: no such channel")
	// ErrMessageTooLong is returned for a message above Config.MaxMessage, or an unreliable one
	// that does not fit in one packet. It is the reason of a channel whose peer announced such a
	// message.
	ErrMessageTooLong = errors.New("mercury: message too long")
	// ErrFull is returned for a message that has no room in the queue of its channel now, since the
	// peer does not keep up. The channel is as before; it never ends for want of room.
	ErrFull = errors.New("mercury: too much queued for a peer that does not keep up")
	// ErrTimeout is the reason of a channel whose peer was silent for Config.Inactivity, or never
	// answered a Dial.
	ErrTimeout = errors.New("mercury: peer is silent")
	// ErrPeerClosed is the reason of a channel that the peer closed in order.
	ErrPeerClosed = errors.New("mercury: peer closed the channel")
	// ErrPeerAborted is the reason of a channel that the peer dropped or knows no more.
	ErrPeerAborted = errors.New("mercury: peer aborted the channel")
	// ErrPeerRestarted is the reason of a channel whose peer's address is now held by a start with
	// another salt.
	ErrPeerRestarted = errors.New("mercury: peer has restarted")
	// ErrKey is the reason of a dialled channel whose two ends cannot seal it alike: one has a
	// Guard and the other none, or the peer's key is not the one that it was dialled by. The text
	// says which.
	ErrKey = errors.New("mercury: no common key with the peer")
	// ErrTooManyChannels is the reason of a dialled channel above Config.MaxChannels, here or at
	// the peer.
	ErrTooManyChannels = errors.New("mercury: too many channels")
	// ErrAddress is the reason of a channel dialled to an address that names no place.
	ErrAddress = errors.New("mercury: address cannot be dialled")
	// ErrProtocol is the reason of a channel whose peer sent what no sound peer sends.
	ErrProtocol = errors.New("mercury: peer broke the protocol")
	// ErrFutureAck is the ErrProtocol of a peer that acked what was never sent.
	ErrFutureAck = fmt.Errorf("%w: it acked what was never sent", ErrProtocol)
	// ErrUnacked is the reason of a channel whose peer speaks but has acked nothing for
	// Config.Inactivity while something was in flight.
	ErrUnacked = errors.New("mercury: peer acks nothing")
)
