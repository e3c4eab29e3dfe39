package main

import (
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/stream"
	"github.com/cellscape/cellscape/mercury/tcp"
)

// streamCarrier is an adapter of package stream.
type streamCarrier struct {
	*stream.Transport
	below uint64 // bytes of the headers below what Info counts, of each packet
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

func (c *streamCarrier) counters(one mercury.ChannelID) counters {
	all, path := c.Infos(), c.pathOf(one)
	return counters{
		Packets: all.PacketsOut, Bytes: all.BytesOut + c.below*all.PacketsOut, Resends: all.Resends, Lost: all.Lost, Path: path,
	}
}

// pathOf is what is known of the way of one connection.
func (c *streamCarrier) pathOf(one mercury.ChannelID) path {
	info, ok := c.Info(one)
	if !ok {
		return path{}
	}
	return path{RTT: toMS(info.RTT), MinRTT: toMS(info.MinRTT)}
}
