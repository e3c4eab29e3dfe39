package mercurytest

import (
	"bytes"
	"errors"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// siegeSlack is what the bookkeeping of the endpoints may keep: spare buffers, memories of what
	// has ended.
	siegeSlack = 12 << 20
	// siegePlaces is where the strangers are whose addresses are forged.
	siegePlaces = 1000
)

// siege is an acceptor in a world, and who comes to it.
type siege struct {
	t      *testing.T
	config func(t testing.TB, n int) mercury.Config
	w      *World
	a      *mercury.Endpoint
	atA    Recorder
	limit  func(*mercury.Config) // changes the acceptor's
	tape   []taped
	out    map[netip.AddrPort]int // bytes that the acceptor sent to each
	sent   int
}

// taped is a datagram that was on the wire.
type taped struct {
	from, to netip.AddrPort
	data     []byte
}

func newSiege(t *testing.T, config func(t testing.TB, n int) mercury.Config) *siege {
	s := &siege{t: t, config: config}
	s.begin()
	return s
}

// begin makes the world anew.
func (s *siege) begin() {
	s.w = NewWorld(1)
	s.w.Net.SetLink(Link{Delay: 5 * time.Millisecond})
	s.atA = Recorder{}
	s.a = s.add(1, &s.atA, s.limit)
	s.out = make(map[netip.AddrPort]int)
	s.tape, s.sent = nil, 0
	s.w.Net.Watch(func(_ time.Duration, from, to netip.AddrPort, p []byte) {
		if from == Place(1) {
			s.out[to] += len(p)
			s.sent += len(p)
		}
	})
}

// add puts endpoint n at its place.
func (s *siege) add(n int, h mercury.Handler, change func(*mercury.Config)) *mercury.Endpoint {
	s.t.Helper()
	e := s.endpoint(n, h, change)
	s.w.Add(e)
	return e
}

func (s *siege) endpoint(n int, h mercury.Handler, change func(*mercury.Config)) *mercury.Endpoint {
	s.t.Helper()
	cfg := s.config(s.t, n)
	cfg.Salt = uint32(1000 + n)
	if change != nil {
		change(&cfg)
	}
	e, err := mercury.NewEndpoint(cfg, Place(n), h)
	if err != nil {
		s.t.Fatal(err)
	}
	return e
}

// record keeps all datagrams from now on.
func (s *siege) record() {
	s.w.Net.Watch(func(_ time.Duration, from, to netip.AddrPort, p []byte) {
		s.tape = append(s.tape, taped{from, to, bytes.Clone(p)})
	})
}

// meter counts again what the acceptor sends, from nothing.
func (s *siege) meter() {
	clear(s.out)
	s.sent = 0
	s.w.Net.Watch(func(_ time.Duration, from, to netip.AddrPort, p []byte) {
		if from == Place(1) {
			s.out[to] += len(p)
			s.sent += len(p)
		}
	})
}

// visitor is a dialler with an open channel to the acceptor.
type visitor struct {
	e    *mercury.Endpoint
	at   Recorder
	ch   mercury.ChannelID // its end
	ours mercury.ChannelID // the acceptor's end
}

// visit opens a channel to the acceptor from endpoint n.
func (s *siege) visit(n int, change func(*mercury.Config)) *visitor {
	s.t.Helper()
	v := &visitor{}
	v.e = s.add(n, &v.at, change)
	known := len(s.atA.Order)
	v.ch = v.e.Dial(s.a.Self())
	if err := v.e.Send(v.ch, []byte("here I am")); err != nil {
		s.t.Fatal(err)
	}
	if !s.w.RunUntil(10*time.Second, func() bool {
		return v.at.Of(v.ch).Opened > 0 && len(s.atA.Order) > known && len(s.atA.Of(s.atA.Order[known]).Reliable) > 0
	}) {
		s.t.Fatalf("endpoint %d did not get in: %+v", n, v.at.Of(v.ch))
	}
	v.ours = s.atA.Order[known]
	return v
}

// talk sends a message each way and demands that both come within a second.
func (s *siege) talk(v *visitor, when string) {
	s.t.Helper()
	here, there := len(s.atA.Of(v.ours).Reliable), len(v.at.Of(v.ch).Reliable)
	if err := errors.Join(s.a.Send(v.ours, []byte("to them")), v.e.Send(v.ch, []byte("to us"))); err != nil {
		s.t.Fatalf("%s: %v", when, err)
	}
	if !s.w.RunUntil(time.Second, func() bool {
		return len(s.atA.Of(v.ours).Reliable) > here && len(v.at.Of(v.ch).Reliable) > there
	}) {
		s.t.Fatalf("%s: messages do not come any more", when)
	}
	if len(s.atA.Of(v.ours).Reliable) != here+1 || len(v.at.Of(v.ch).Reliable) != there+1 {
		s.t.Fatalf("%s: more came than was sent", when)
	}
}

// chat is some seconds of all kinds of messages.
func (s *siege) chat(v *visitor) {
	s.t.Helper()
	for i := range 60 {
		_, errHere := s.a.SendUnreliable(v.ours, numbered(i, 50))
		_, errThere := v.e.SendUnreliable(v.ch, numbered(i, 70))
		err := errors.Join(s.a.Send(v.ours, numbered(i, 100)), v.e.Send(v.ch, numbered(i, 60)), errHere, errThere)
		if i%20 == 0 {
			err = errors.Join(err, s.a.Send(v.ours, make([]byte, 5000)), v.e.Send(v.ch, make([]byte, 7000)))
		}
		if err != nil {
			s.t.Fatal(err)
		}
		s.w.Run(30 * time.Millisecond)
	}
	s.w.Run(time.Second)
}

// heard sums up what both ends of a channel were told, to compare.
type heard struct{ opened, reliable, unreliable, closed, channels int }

func (s *siege) heard(v *visitor) (h heard) {
	for _, r := range []*Recorder{&s.atA, &v.at} {
		for _, ch := range r.Order {
			seen := r.Of(ch)
			h.opened += seen.Opened
			h.reliable += len(seen.Reliable)
			h.unreliable += len(seen.Unreliable)
			h.closed += len(seen.Closed)
		}
	}
	h.channels = s.a.Stats().Channels + v.e.Stats().Channels
	return h
}

// heapInUse is the memory in use.
func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// stranger is the n-th forged address.
func stranger(n int) netip.AddrPort { return Place(siegePlaces + n) }

// wantFrugal checks that nobody got more bytes from the acceptor than came in their name.
func (s *siege) wantFrugal(in map[netip.AddrPort]int) {
	s.t.Helper()
	worst, total := 0.0, 0
	for n := range 2 * siegePlaces {
		at := stranger(n)
		total += in[at]
		if s.out[at] > in[at] {
			s.t.Errorf("%v was sent %d bytes for %d in its name", at, s.out[at], in[at])
			return
		}
		if in[at] > 0 {
			worst = max(worst, float64(s.out[at])/float64(in[at]))
		}
	}
	s.t.Logf("%d bytes in forged names were answered by %d, at most %.2f for each", total, s.sent, worst)
}
