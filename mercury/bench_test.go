package mercury_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// star is one endpoint with a channel to each of many others, joined by calls without a network
// between.
type star struct {
	hub    *mercury.Endpoint
	leaves []*mercury.Endpoint
	byAt   map[netip.AddrPort]*mercury.Endpoint
	out    []mercury.ChannelID // of the hub
	back   []mercury.ChannelID // of the leaves
	now    time.Duration
	from   netip.AddrPort
	emit   func(to netip.AddrPort, datagram []byte)
}

// quietHandler remembers the last channel that was opened.
type quietHandler struct{ opened mercury.ChannelID }

func (q *quietHandler) Opened(_ time.Duration, ch mercury.ChannelID, _ mercury.Address) {
	q.opened = ch
}
func (q *quietHandler) Message(time.Duration, mercury.ChannelID, bool, []byte) {}
func (q *quietHandler) Closed(time.Duration, mercury.ChannelID, error)         {}

func newStar(t testing.TB, n int) *star {
	s := &star{byAt: map[netip.AddrPort]*mercury.Endpoint{}}
	s.emit = func(to netip.AddrPort, p []byte) { s.byAt[to].Receive(s.now, s.from, p) }
	s.hub = newEndpoint(t, 0, 1, &quietHandler{}, mercury.Config{})
	s.byAt[s.hub.Self().At] = s.hub
	var handlers []*quietHandler
	for i := range n {
		h := &quietHandler{}
		leaf := newEndpoint(t, i+1, uint32(i+2), h, mercury.Config{})
		s.leaves, handlers = append(s.leaves, leaf), append(handlers, h)
		s.byAt[leaf.Self().At] = leaf
		s.out = append(s.out, s.hub.Dial(leaf.Self()))
	}
	for range 10 {
		s.round(20 * time.Millisecond)
	}
	for _, h := range handlers {
		if h.opened == 0 {
			t.Fatal("a channel did not open")
		}
		s.back = append(s.back, h.opened)
	}
	return s
}

// round moves time on and lets everyone speak.
func (s *star) round(d time.Duration) {
	s.now += d
	s.hub.Advance(s.now)
	s.from = s.hub.Self().At
	s.hub.Flush(s.now, s.emit)
	for _, leaf := range s.leaves {
		leaf.Advance(s.now)
		s.from = leaf.Self().At
		leaf.Flush(s.now, s.emit)
	}
}

// tick is a tenth of a second: all send some messages, then acks that found no packet go out on
// their own.
func (s *star) tick(t testing.TB, msg []byte) {
	for i, ch := range s.out {
		for range 5 {
			if s.hub.Send(ch, msg) != nil || s.leaves[i].Send(s.back[i], msg) != nil {
				t.Fatal("Send failed")
			}
		}
		if _, err := s.hub.SendUnreliable(ch, msg); err != nil {
			t.Fatal("SendUnreliable failed")
		}
	}
	s.round(75 * time.Millisecond)
	s.round(25 * time.Millisecond)
}

// BenchmarkTick300 is a tick of an endpoint with 300 channels, five reliable messages of 50 bytes
// each way and an unreliable one on each, together with the 300 peers.
func BenchmarkTick300(b *testing.B) {
	s := newStar(b, 300)
	msg := make([]byte, 50)
	for range 20 {
		s.tick(b, msg)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.tick(b, msg)
	}
}

// BenchmarkIdle300 is a tick of an endpoint with 300 channels on which nothing happens but
// keep-alives.
func BenchmarkIdle300(b *testing.B) {
	s := newStar(b, 300)
	b.ReportAllocs()
	for b.Loop() {
		s.now += 100 * time.Millisecond
		s.hub.Advance(s.now)
		s.from = s.hub.Self().At
		s.hub.Flush(s.now, s.emit)
		if _, ok := s.hub.NextDeadline(); !ok {
			b.Fatal("no deadline")
		}
		for _, leaf := range s.leaves {
			if d, _ := leaf.NextDeadline(); d <= s.now {
				leaf.Advance(s.now)
				s.from = leaf.Self().At
				leaf.Flush(s.now, s.emit)
			}
		}
	}
}

// BenchmarkTransfer is 1 MiB in one message, until it is delivered.
func BenchmarkTransfer(b *testing.B) {
	s := newStar(b, 1)
	msg := make([]byte, 1<<20)
	b.SetBytes(int64(len(msg)))
	for b.Loop() {
		if err := s.hub.Send(s.out[0], msg); err != nil {
			b.Fatal(err)
		}
		for arrived := s.leaves[0].Stats().MessagesIn; s.leaves[0].Stats().MessagesIn == arrived; {
			s.round(time.Millisecond)
		}
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	s := newStar(t, 20)
	msg := make([]byte, 50)
	for range 200 {
		s.tick(t, msg)
	}
	if n := testing.AllocsPerRun(100, func() { s.tick(t, msg) }); n > 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

func TestReaderDoesNotAllocate(t *testing.T) {
	b := mercury.AppendAddress(codec.AppendBytes(nil, make([]byte, 100)), mercury.Address{At: mercurytest.Place(1), Salt: 1})
	if n := testing.AllocsPerRun(100, func() {
		r := codec.NewReader(b)
		r.Bytes(100)
		mercury.ReadAddress(&r)
		if r.Close() != nil {
			t.Error(r.Err())
		}
	}); n > 0 {
		t.Errorf("%v allocations a message", n)
	}
}
