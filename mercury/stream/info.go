package stream

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Info is what the protocol below knows of one connection. What it does not tell is 0.
type Info struct {
	RTT, MinRTT time.Duration
	PacketsOut  uint64 // with those that went out again
	BytesOut    uint64 // of its payload and its own headers, without those of IP
	PacketsIn   uint64
	BytesIn     uint64
	Resends     uint64 // packets that went out again
	Lost        uint64 // packets that were taken for lost
}

// Informer is a Conn that knows its Info.
type Informer interface {
	Info() (Info, bool)
}

// Info tells of the connection below an open channel; false when there is none, or the system does not tell.
func (t *Transport) Info(ch mercury.ChannelID) (Info, bool) {
	c := t.channels[ch]
	if c == nil || c.state != open {
		return Info{}, false
	}
	i, ok := c.link.conn.(Informer)
	if !ok {
		return Info{}, false
	}
	return i.Info()
}
