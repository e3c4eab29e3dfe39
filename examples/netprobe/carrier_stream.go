package main

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/tcp"
)

// streamCarrier is an adapter of package stream.
type streamCarrier struct {
	*stream.Transport
	below   uint64 // bytes of the headers below what Info counts, of each packet
	handler mercury.Handler
	open    []looked // now
	gone    counters // of those that were
}

// looked is an open channel and what was last seen of its connection.
type looked struct {
	ch   mercury.ChannelID
	last counters
}

// newStreamCarrier takes a Transport whose Info leaves out so many bytes of headers.
func newStreamCarrier(t *stream.Transport, below int) carrier {
	return &streamCarrier{Transport: t, below: uint64(below)}
}

// listenAt is where an adapter listens: nowhere at a client.
func listenAt(r role) string {
	if r.server {
		return r.at.String()
	}
	return ""
}

func tcpTransport() transport {
	return transport{
		name: "tcp",
		open: func(o options, r role) (carrier, error) {
			t, err := tcp.Listen(listenAt(r), tcp.Config{}, nil)
			if err != nil {
				return nil, err
			}
			return newStreamCarrier(t.Transport, ipHeader(r.at)), nil
		},
		protection: func(options) string { return "none" },
		wire:       tcpNote,
	}
}

// tcpNote says how exact the counters are.
const tcpNote = "wire_bytes are from TCP_INFO (Linux; 0 elsewhere): segments with headers and timestamps, without other options and connections that failed"

// Begin puts the carrier between, so that it knows its channels.
func (c *streamCarrier) Begin(s mercury.Start) error {
	c.handler, s.Handler = s.Handler, c
	return c.Transport.Begin(s)
}

// Opened implements mercury.Handler.
func (c *streamCarrier) Opened(now time.Duration, ch mercury.ChannelID, peer mercury.Address) {
	c.open = append(c.open, looked{ch: ch})
	c.handler.Opened(now, ch, peer)
}

// Message implements mercury.Handler.
func (c *streamCarrier) Message(now time.Duration, ch mercury.ChannelID, reliable bool, msg []byte) {
	c.handler.Message(now, ch, reliable, msg)
}

// Closed implements mercury.Handler.
func (c *streamCarrier) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	if i := slices.IndexFunc(c.open, func(l looked) bool { return l.ch == ch }); i >= 0 {
		c.gone.add(c.open[i].last)
		c.open = slices.Delete(c.open, i, i+1)
	}
	c.handler.Closed(now, ch, reason)
}

func (c *streamCarrier) counters(one mercury.ChannelID) counters {
	sum := c.gone
	sum.Path = path{}
	for i := range c.open {
		l := &c.open[i]
		if info, ok := c.Info(l.ch); ok {
			l.last = counters{
				Packets: info.PacketsOut, Bytes: info.BytesOut + c.below*info.PacketsOut,
				Resends: info.Resends, Lost: info.Lost,
			}
			if l.ch == one {
				sum.Path = path{RTT: toMS(info.RTT), MinRTT: toMS(info.MinRTT)}
			}
		}
		sum.add(l.last)
	}
	return sum
}
