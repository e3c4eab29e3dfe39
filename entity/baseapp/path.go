package baseapp

import (
	"github.com/cellscape/cellscape/entity/baseapp/internal/allowance"
	"github.com/cellscape/cellscape/mercury"
)

// survey looks how the path to the client fares, in each allowance.Period. Over a transport that
// tells nothing of its paths, only what waits here shows that one is narrow.
func (c *client) survey() {
	a := c.app
	if !c.allowance.Due(a.now) {
		return
	}
	l := allowance.Look{Sent: c.sent}
	if s, ok := a.cfg.Transport.(mercury.Surveyor); ok {
		l.Survey, _ = s.Survey(c.ch)
	} else {
		l.Waiting, _ = a.net.Queued(c.ch)
	}
	c.allowance.Look(a.now, l)
}

// tellPath tells the cell part when the client's channel takes longer or shorter packets than it
// believes, or when the path carries more or less, at most once in each RoomPeriod; less it is told
// at once. To the client, a packet that found no room is a lost packet: newer ones follow, and where
// an entity comes to rest is told reliably. But if packets never found room, the client would see
// nothing move.
func (b *base) tellPath() {
	c := b.client()
	room, rate := uint32(b.app.net.MaxUnreliable(c.ch)), uint32(c.allowance.Rate())
	if b.app.frozen {
		rate = b.rate // nothing moves then, and whoever waits until all is settled would hear of each step
	}
	less := rate != 0 && (b.rate == 0 || rate < b.rate)
	if !less && (b.app.now < c.roomAt || room == b.room && !grown(b.rate, rate)) {
		return
	}
	c.roomAt = b.app.now + RoomPeriod
	b.room, b.rate = room, rate
	b.setCellClient()
}

// grown reports whether a rate has risen by enough to tell, an eighth.
func grown(was, is uint32) bool { return was != 0 && (is == 0 || is > was+was/8) }
