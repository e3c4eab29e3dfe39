package cluster

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/udp"
)

// ears note when their channel is open.
type ears struct{ ch mercury.ChannelID }

func (x *ears) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { x.ch = ch }
func (x *ears) Message(time.Duration, mercury.ChannelID, bool, []byte)          {}
func (x *ears) Closed(time.Duration, mercury.ChannelID, error)                  {}

// Apps on one machine speak in datagrams that are as long as its loopback carries, and may have a
// tick in flight.
func TestInnerCarriersAreWide(t *testing.T) {
	t.Parallel()
	start := time.Now()
	clock := func() time.Duration { return time.Since(start) }
	var ends [2]*udp.Carrier
	var heard [2]ears
	for i := range ends {
		c, err := listenInnerUDP("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = c.(*udp.Carrier)
		defer func() { _ = c.Release() }()
		if err := c.Begin(mercury.Start{Salt: uint32(i + 1), Clock: clock, Handler: &heard[i]}); err != nil {
			t.Fatal(err)
		}
	}
	ends[0].Dial(ends[1].Self())
	var s mercury.ChannelStats
	for deadline := clock() + 10*time.Second; clock() < deadline && s.MTU < mercury.JumboMTU; {
		for _, c := range ends {
			if _, err := c.Receive(clock() + time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		s, _ = ends[0].ChannelStats(heard[0].ch)
	}
	if s.MTU != mercury.JumboMTU || s.Window < mercury.ServerFlight {
		t.Errorf("a channel between two apps has datagrams of up to %d bytes and a window of %d, want %d and %d", s.MTU, s.Window, mercury.JumboMTU, mercury.ServerFlight)
	}
}

// A process that can listen nowhere says so once, by its error.
func TestListenNowhere(t *testing.T) {
	var said bytes.Buffer
	c := Config{Listen: "192.0.2.1", Inner: UDP, Log: slog.New(slog.NewTextHandler(&said, nil))} // of documentation
	if _, _, err := c.listenLined(Ports{}); err == nil || said.Len() > 0 {
		t.Errorf("%v, and the log says %q", err, said.String())
	}
}
