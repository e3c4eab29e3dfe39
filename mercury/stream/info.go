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
	Acked       uint64 // bytes of its payload that the peer has acked
	Unsent      int    // bytes that it has taken and not sent
}

// add adds the counters of b. Round trips are those of one connection and stay out.
func (i *Info) add(b Info) {
	i.PacketsOut += b.PacketsOut
	i.BytesOut += b.BytesOut
	i.PacketsIn += b.PacketsIn
	i.BytesIn += b.BytesIn
	i.Resends += b.Resends
	i.Lost += b.Lost
}

// Informer is a Conn that knows its Info.
type Informer interface {
	Info() (Info, bool)
}

// Info tells of the connection below an open channel; false when there is none, or the system does
// not tell.
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

// Survey implements mercury.Surveyor. It asks the system.
func (t *Transport) Survey(ch mercury.ChannelID) (mercury.Survey, bool) {
	c := t.channels[ch]
	if c == nil || c.state != open {
		return mercury.Survey{}, false
	}
	i, _ := t.Info(ch)
	waiting := c.backlog() + len(c.loose) + int(c.link.looseQueued.Load())
	return mercury.Survey{
		RTT: i.RTT, MinRTT: i.MinRTT, Packets: i.PacketsOut, Lost: i.Lost,
		Delivered: i.Acked, Waiting: waiting + i.Unsent, Dropped: c.dropped,
	}, true
}

// Infos sums up the counters of all connections of the start, those included that are no more; RTT
// is the mean of those that know theirs. It asks the system about each.
func (t *Transport) Infos() Info {
	sum := t.gone
	var known time.Duration
	for _, c := range t.order {
		i, ok := t.Info(c.id)
		sum.add(i)
		if ok && i.RTT > 0 {
			sum.RTT, known = sum.RTT+i.RTT, known+1
		}
	}
	sum.RTT /= max(known, 1)
	return sum
}
