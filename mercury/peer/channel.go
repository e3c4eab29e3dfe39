package peer

import (
	"net/netip"

	"github.com/cellscape/cellscape/mercury"
)

// Channel is one end of a channel. It is a small value, and comparable: use it as the key of a map. Its methods are for the goroutine
// of the events.
type Channel struct {
	app *app
	id  mercury.ChannelID
}

// Send queues a reliable message; msg is copied. It fails with mercury.ErrFull, which leaves the channel as it was,
// mercury.ErrMessageTooLong or mercury.ErrNoChannel.
func (c Channel) Send(msg []byte) error { return c.app.net.Send(c.id, c.app.escape(msg)) }

// SendUnreliable queues a message that may be lost, of at most MaxUnreliable bytes. dropped is how many of the channel's have been
// dropped here for want of room since the last call.
func (c Channel) SendUnreliable(msg []byte) (dropped int, err error) {
	return c.app.net.SendUnreliable(c.id, msg)
}

// MaxUnreliable is the largest message that SendUnreliable takes now without dropping one.
func (c Channel) MaxUnreliable() int { return c.app.net.MaxUnreliable(c.id) }

// Queued is how many bytes of reliable messages wait to leave, and how many may.
func (c Channel) Queued() (bytes, limit int) { return c.app.net.Queued(c.id) }

// Pause has nothing more delivered from this channel until Resume, while all others go on. The peer's queue fills meanwhile.
func (c Channel) Pause() { c.app.net.Pause(c.id) }

// Resume ends a Pause.
func (c Channel) Resume() { c.app.net.Resume(c.id) }

// Flush sends what all channels have to say at once, from inside Do. What is sent inside an event leaves right after it.
func (c Channel) Flush() error { return c.app.net.Flush() }

// Close ends the channel in order: what was sent is brought over, then the peer is told. Closed is not told of it.
func (c Channel) Close() {
	c.app.net.Close(c.id)
	c.app.calls.Closed(0, c.id, mercury.ErrNoChannel)
}

// Abort ends the channel at once.
func (c Channel) Abort() {
	c.app.net.Abort(c.id)
	c.app.calls.Closed(0, c.id, mercury.ErrNoChannel)
}

// Peer is where the other end is; the zero AddrPort when the channel has ended.
func (c Channel) Peer() netip.AddrPort {
	a, _ := c.app.net.Peer(c.id)
	return a.At
}
