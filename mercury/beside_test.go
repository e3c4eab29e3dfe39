package mercury_test

import (
	"encoding/binary"
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

func endpointOf(t *testing.T, w *mercurytest.World, n int, h mercury.Handler) *mercury.Endpoint {
	t.Helper()
	e, err := mercury.NewEndpoint(mercury.Config{Salt: uint32(n)}, mercurytest.Place(n), h)
	if err != nil {
		t.Fatal(err)
	}
	w.Add(e)
	return e
}

// Unreliable messages wait for no pace. However many there are, reliable ones must get their share
// of it, or a channel that a bad time has made slow stays so for ever: nothing is acked, so nothing
// shows that the path is good again.
func TestReliableGetsThroughBesideUnreliable(t *testing.T) {
	w := mercurytest.NewWorld(1)
	var heard collected
	a, b := endpointOf(t, w, 1, new(collected)), endpointOf(t, w, 2, &heard)
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

// paced notes how late the game's messages come, and counts bulk.
type paced struct {
	collected
	from, late time.Duration // of those that came after from
	bulk       int
	bulkAt     time.Duration
}

func (p *paced) Message(now time.Duration, _ mercury.ChannelID, _ bool, msg []byte) {
	if sent := time.Duration(binary.LittleEndian.Uint64(msg)); now >= p.from {
		p.late = max(p.late, now-sent)
	}
}

func (p *paced) Bulk(now time.Duration, _ mercury.ChannelID, msg []byte) {
	p.bulk += len(msg)
	p.bulkAt = now
}

// Bulk leaves a narrow path to the game beside it, however long a queue the path could hold: after
// the first round trips the game is late by a few packets of bulk, and bulk takes most of the rest.
func TestBulkYieldsOnNarrowPath(t *testing.T) {
	for _, c := range []struct {
		rate  int // bytes a second
		delay time.Duration
		late  time.Duration // the game, at most
	}{
		{12_000, 100 * time.Millisecond, 600 * time.Millisecond},
		{12_000, 20 * time.Millisecond, 450 * time.Millisecond},
		{40_000, 100 * time.Millisecond, 400 * time.Millisecond},
	} {
		w := mercurytest.NewWorld(1)
		var heard paced
		a, b := endpointOf(t, w, 1, new(collected)), endpointOf(t, w, 2, &heard)
		w.Net.SetLink(mercurytest.Link{Delay: c.delay, Rate: c.rate, Queue: 4 * c.rate})
		ch := a.Dial(b.Self())
		game := func(ticks int) {
			for range ticks {
				if err := a.Send(ch, append(binary.LittleEndian.AppendUint64(nil, uint64(w.Now())), make([]byte, 100)...)); err != nil {
					t.Fatal(err)
				}
				w.Run(100 * time.Millisecond)
			}
		}
		game(50)
		const piece = 1000
		for range 20 * c.rate / piece {
			if err := a.SendBulk(ch, make([]byte, piece)); err != nil {
				t.Fatal(err)
			}
		}
		heard.from = w.Now() + 8*time.Second
		game(400)
		t.Logf("%d bytes/s, %v: the game is late by %v, %d bytes of bulk until %v", c.rate, c.delay, heard.late, heard.bulk, heard.bulkAt)
		if heard.late > c.late {
			t.Errorf("%d bytes/s, %v: the game is late by %v, more than %v", c.rate, c.delay, heard.late, c.late)
		}
		if want := 18 * c.rate; heard.bulk < want {
			t.Errorf("%d bytes/s, %v: %d bytes of bulk, less than %d", c.rate, c.delay, heard.bulk, want)
		}
	}
}
