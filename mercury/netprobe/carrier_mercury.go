package main

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/udp"
)

func mercuryTransport() transport {
	return transport{
		name: "mercury", datagrams: true,
		open: openMercury,
		protection: func(o options) string {
			if o.plain {
				return "none"
			}
			return "AEAD"
		},
	}
}

// mercuryCarrier is an Endpoint over a UDP socket.
type mercuryCarrier struct {
	*udp.Carrier
	headers uint64 // of each packet, below mercury
}

// What a socket of thousands in one process makes do with: its server sends it a packet or two at a time.
const (
	smallBuffer = 64 << 10
	smallBatch  = 1
)

func openMercury(o options, r role) (carrier, error) {
	at, err := localFor(r)
	if err != nil {
		return nil, err
	}
	var system udp.Config
	if r.small {
		system = udp.Config{ReadBuffer: smallBuffer, WriteBuffer: smallBuffer, Batch: smallBatch, NoAlarm: true}
	}
	socket, err := system.Listen(at)
	if err != nil {
		return nil, err
	}
	cfg := mercury.Config{Copies: o.copies, MTU: o.mtu}
	if cfg.Guard, err = o.guard(r.server); err != nil {
		_ = socket.Close()
		return nil, err
	}
	return &mercuryCarrier{Carrier: udp.NewCarrier(socket, cfg), headers: uint64(ipHeader(r.at) + udpHeader)}, nil
}

func (c *mercuryCarrier) counters(ch mercury.ChannelID) counters {
	s, u := c.Stats(), c.Socket().Counters()
	sum := counters{
		Packets: s.PacketsOut, Bytes: s.BytesOut + c.headers*s.PacketsOut,
		Resends: s.Resends, Copies: s.Copies, Lost: s.Lost, Spurious: s.Spurious,
		Dropped: u.Dropped, Overflow: u.Overflow, Calls: u.ReadCalls + u.WriteCalls,
	}
	if d, ok := c.ChannelStats(ch); ok {
		sum.Path = path{
			RTT: toMS(d.RTT), MinRTT: toMS(d.MinRTT), Loss: round(d.Loss, 4), Copies: d.Copies,
			Window: d.Window, Rate: d.Rate, MTU: d.MTU,
		}
	}
	return sum
}

// outgoing is "host:0" with the address of this host from which packets to another place leave. It
// sends nothing.
func outgoing(to netip.AddrPort) (string, error) {
	c, err := net.Dial("udp", to.String())
	if err != nil {
		return "", fmt.Errorf("no way to %v: %w", to, err)
	}
	defer c.Close()
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, "0"), nil
}
