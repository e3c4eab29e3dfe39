package mercury_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// collected counts the reliable bytes that come.
type collected struct {
	from int
	ch   mercury.ChannelID
}

func (c *collected) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) { c.ch = ch }
func (c *collected) Closed(time.Duration, mercury.ChannelID, error)                  {}
func (c *collected) Message(_ time.Duration, _ mercury.ChannelID, reliable bool, msg []byte) {
	if reliable {
		c.from += len(msg)
	}
}

// Unreliable messages wait for no pace. However many there are, reliable ones must get their share
// of it, or a channel that a bad time has made slow stays so for ever: nothing is acked, so nothing
// shows that the path is good again.
func TestReliableGetsThroughBesideUnreliable(t *testing.T) {
	w := mercurytest.NewWorld(1)
	var heard collected
	endpoint := func(n int, h mercury.Handler) *mercury.Endpoint {
		e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(n)}, mercurytest.Place(n), h)
		if err != nil {
			t.Fatal(err)
		}
		w.Add(e)
		return e
	}
	a, b := endpoint(1, new(collected)), endpoint(2, &heard)
	good := mercurytest.Link{Delay: 5 * time.Millisecond}
	w.Net.SetLink(good)
	ch := a.Dial(b.Self())
	w.Run(time.Second)
	send := func(n int) {
		if err := a.Send(ch, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	bad := good
	bad.Delay, bad.Rate, bad.Queue = 2*time.Second, 8<<10, 256<<10
	w.Net.SetLink(bad)
	for range 40 {
		send(8 << 10)
		w.Run(time.Second)
	}
	w.RunUntil(time.Minute, func() bool {
		s, _ := a.ChannelStats(ch)
		return s.InFlight == 0
	})
	w.Net.SetLink(good)
	slow, _ := a.ChannelStats(ch)
	before := heard.from
	for at := range 300 {
		if at == 100 {
			send(100 << 10)
		}
		for range 8 {
			_, _ = a.SendUnreliable(ch, make([]byte, 100)) // what is not sent need not be
		}
		w.Run(10 * time.Millisecond)
	}
	if got := heard.from - before; got != 100<<10 {
		t.Errorf("%d of %d reliable bytes came within 2 s on a good path, after %d bytes a second", got, 100<<10, slow.Rate)
	}
	if now, _ := a.ChannelStats(ch); now.RTT > slow.RTT*3/4 {
		t.Errorf("the round trip is still taken for %v, after %v", now.RTT, slow.RTT)
	}
}
