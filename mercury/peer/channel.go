package peer

import (
	"net/netip"

	"github.com/cellscape/cellscape/mercury"
)

// Channel is one end of a channel. It is a small comparable value, which can be the key of a map.
// Call its methods on the goroutine of the events.
type Channel struct {
	app *app
	id  mercury.ChannelID
}

// Send queues a reliable message; msg is copied. It fails with mercury.ErrFull,
// mercury.ErrMessageTooLong or mercury.ErrNoChannel. A refused message does not change the channel.
func (c Channel) Send(msg []byte) error { return c.app.net.Send(c.id, c.app.escape(msg)) }

// SendUnreliable queues a message that may be lost, of at most MaxUnreliable bytes. dropped is how
// many of the channel's unreliable messages were dropped here for want of room since the last call.
func (c Channel) SendUnreliable(msg []byte) (dropped int, err error) {
	return c.app.net.SendUnreliable(c.id, msg)
}

// MaxUnreliable is the largest message that SendUnreliable takes now without dropping one.
func (c Channel) MaxUnreliable() int { return c.app.net.MaxUnreliable(c.id) }

// Queued is how many bytes of reliable messages wait to be sent, and how many may.
func (c Channel) Queued() (bytes, limit int) { return c.app.net.Queued(c.id) }

// Pause stops delivery from this channel until Resume, while all others go on. In the meantime the
// peer's queue fills.
func (c Channel) Pause() { c.app.net.Pause(c.id) }

// Resume ends a Pause.
func (c Channel) Resume() { c.app.net.Resume(c.id) }

// Flush sends at once what all channels have queued. Call it inside Do; what is sent inside an
// event leaves right after the event.
func (c Channel) Flush() error { return c.app.net.Flush() }

// Close ends the channel properly: what was sent is delivered, and then the peer is told. Closed is
// not called.
func (c Channel) Close() {
	c.app.net.Close(c.id)
	c.app.calls.Closed(0, c.id, mercury.ErrNoChannel)
}

// Abort ends the channel at once.
func (c Channel) Abort() {
	c.app.net.Abort(c.id)
	c.app.calls.Closed(0, c.id, mercury.ErrNoChannel)
}

// Peer is the address of the other end; the zero AddrPort after the channel has ended.
func (c Channel) Peer() netip.AddrPort {
	a, _ := c.app.net.Peer(c.id)
	return a.At
}
