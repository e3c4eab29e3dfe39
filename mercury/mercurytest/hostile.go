package mercurytest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// TestHostile checks that an acceptor of channels survives those who mean it harm: floods,
// forgeries, replays, peers that break the protocol or go no further. All is made from what sound
// endpoints send, so that it holds for every wire format and every Guard.
//
// config makes the Config of endpoint n: 1 is the acceptor, the others dial it. The suite sets Salt
// and, in some tests, limits. It is called anew for each run, and must then give the same: two runs
// of the same calls are compared, so what a Guard draws at random must come from a seed.
func TestHostile(t *testing.T, config func(t testing.TB, n int) mercury.Config) {
	for _, test := range []struct {
		name string
		run  func(*siege)
	}{
		{"flood of opens", floodOfOpens},
		{"replayed handshakes", replayedHandshakes},
		{"replay", replay},
		{"forgery", forgery},
		{"never acks", func(s *siege) { neverAcks(s, true) }},
		{"never acks a single message", func(s *siege) { neverAcks(s, false) }},
		{"acks the future", acksTheFuture},
		{"announces too much", announcesTooMuch},
		{"slow loris", slowLoris},
		{"half open", halfOpen},
		{"pauses for ever", pausesForEver},
		{"floods pauses", floodsPauses},
		{"pauses another's channel", pausesAnothers},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(newSiege(t, config)) })
	}
}

// opens are the first datagrams of n diallers.
func (s *siege) opens(n int) (all [][]byte) {
	for i := range n {
		d := s.endpoint(2+i, nil, nil)
		d.Dial(s.a.Self())
		d.Flush(s.w.Now(), func(_ netip.AddrPort, p []byte) { all = append(all, bytes.Clone(p)) })
	}
	return all
}

// A flood of opens in forged names makes no channel, takes no memory, sends nobody more than came
// in their name, and a sound dialler gets in soon after.
func floodOfOpens(s *siege) {
	opens := s.opens(50)
	before := heapInUse()
	in := make(map[netip.AddrPort]int)
	s.meter()
	for round := range 20 {
		for n := range siegePlaces {
			p := opens[(n+round)%len(opens)]
			s.w.Inject(stranger(n), Place(1), p)
			in[stranger(n)] += len(p)
		}
		s.w.Run(10 * time.Millisecond)
	}
	if n := s.a.Stats().Channels; n != 0 || len(s.atA.Order) != 0 {
		s.t.Errorf("%d channels, %d told to the app", n, len(s.atA.Order))
	}
	s.wantFrugal(in)
	if grown := heapInUse() - before; grown > siegeSlack {
		s.t.Errorf("20000 opens took %d bytes of memory", grown)
	}
	runtime.KeepAlive(s.a)
	v := s.visit(500, nil)
	s.talk(v, "after the flood")
}

// The datagrams of a whole handshake and of what followed, sent again in forged names when the
// channel is gone, and in its own name too, open nothing.
func replayedHandshakes(s *siege) {
	s.record()
	v := s.visit(2, nil)
	s.chat(v)
	v.e.Close(v.ch)
	s.w.Run(15 * time.Second)
	if n := s.a.Stats().Channels; n != 0 {
		s.t.Fatalf("%d channels after the close", n)
	}
	before := s.heard(v)
	for _, wait := range []time.Duration{0, 30 * time.Second, 10 * time.Minute} {
		s.w.Run(wait)
		s.meter()
		in := make(map[netip.AddrPort]int)
		for i, p := range s.tape {
			if p.to != Place(1) {
				continue
			}
			for k := range 4 {
				from := stranger((i + 250*k) % siegePlaces)
				s.w.Inject(from, Place(1), p.data)
				in[from] += len(p.data)
			}
			s.w.Inject(p.from, Place(1), p.data)
			s.w.Run(time.Millisecond)
		}
		s.w.Run(20 * time.Second)
		s.wantFrugal(in)
		if after := s.heard(v); after != before {
			s.t.Errorf("%v after the close a replay changed %+v to %+v", wait, before, after)
		}
	}
}

// Recorded datagrams, sent again in any order and in any name while the channel lives, change
// nothing.
func replay(s *siege) {
	s.record()
	v := s.visit(2, nil)
	s.chat(v)
	tape := s.tape
	s.w.Net.Watch(nil)
	before := s.heard(v)
	rng := rand.New(rand.NewPCG(1, 4))
	order := make([]int, len(tape))
	for i := range order {
		order[i] = i
	}
	for name, from := range []netip.AddrPort{{}, stranger(0)} {
		for round := range 3 {
			for _, i := range order {
				p := tape[i]
				if from.IsValid() {
					p.from = from
				}
				s.w.Inject(p.from, p.to, p.data)
				if rng.IntN(4) == 0 {
					s.w.Run(time.Millisecond)
				}
			}
			s.w.Run(time.Second)
			if after := s.heard(v); after != before {
				s.t.Fatalf("replay %d, in another name %v: %+v became %+v", round, name > 0, before, after)
			}
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
	}
	s.talk(v, "after the replay")
}

// Damaged, cut, lengthened and made-up datagrams, in the peer's name and in others, change nothing.
func forgery(s *siege) {
	s.record()
	v := s.visit(2, nil)
	s.chat(v)
	tape := s.tape
	s.meter()
	before := s.heard(v)
	rng := rand.New(rand.NewPCG(1, 5))
	in := make(map[netip.AddrPort]int)
	for i := range 20000 {
		p := tape[rng.IntN(len(tape))]
		data := bytes.Clone(p.data)
		switch rng.IntN(5) {
		case 0:
			Corrupt(rng, data)
		case 1:
			data = data[:rng.IntN(len(data))]
		case 2:
			data = append(data, make([]byte, 1+rng.IntN(40))...)
		case 3: // a right beginning, then nonsense
			for k := min(rng.IntN(30), len(data)); k < len(data); k++ {
				data[k] = byte(rng.Uint32())
			}
		default:
			for k := range data {
				data[k] = byte(rng.Uint32())
			}
		}
		if bytes.Equal(data, p.data) {
			continue
		}
		from := p.from
		if rng.IntN(3) == 0 {
			from = stranger(rng.IntN(siegePlaces))
			if p.to == Place(1) {
				in[from] += len(data)
			}
		}
		s.w.Inject(from, p.to, data)
		if i%50 == 0 {
			s.w.Run(time.Millisecond)
		}
	}
	s.w.Run(time.Second)
	if after := s.heard(v); after != before {
		s.t.Errorf("%+v became %+v", before, after)
	}
	s.wantFrugal(in)
	s.talk(v, "after the forgeries")
}

// A peer that lives but never acks is given up at a named limit. An app that goes on sending meets
// its queue's limit until then.
func neverAcks(s *siege, busy bool) {
	s.limit = func(c *mercury.Config) { c.MaxMessage, c.MaxQueued = 1000, 100_000 }
	s.begin()
	v := s.visit(2, func(c *mercury.Config) { c.Inactivity = time.Hour })
	before := heapInUse()
	s.w.Net.SetLinkOneWay(Place(1), Place(2), Link{Loss: 1})
	begun := s.w.Now()
	closed := func() bool { return len(s.atA.Of(v.ours).Closed) > 0 }
	refused := s.a.Send(v.ours, make([]byte, 1000))
	for !closed() && s.w.Now()-begun < 2*time.Minute {
		if busy {
			if err := s.a.Send(v.ours, make([]byte, 1000)); err != nil && refused == nil {
				refused = err
			}
		}
		s.w.Run(10 * time.Millisecond)
	}
	if grown := heapInUse() - before; grown > siegeSlack {
		s.t.Errorf("the channel took %d bytes of memory", grown)
	}
	if !closed() {
		s.t.Fatalf("two minutes without an ack and the channel is still there")
	}
	reason := s.atA.Of(v.ours).Closed[0]
	s.t.Logf("closed after %v: %v", s.w.Now()-begun, reason)
	if busy && !errors.Is(refused, mercury.ErrFull) {
		s.t.Errorf("a queue that nobody empties: %v", refused)
	}
	want := []error{mercury.ErrTimeout, mercury.ErrUnacked}
	for _, err := range want {
		if errors.Is(reason, err) {
			return
		}
	}
	s.t.Errorf("closed with %v, want one of %v", reason, want)
}

// An ack of what was never sent ends the channel with ErrProtocol. Such an ack is taken from
// another run, which was the same up to the moment in which the acceptor began to send.
func acksTheFuture(s *siege) {
	v := s.visit(2, nil)
	s.w.Run(100 * time.Millisecond)
	s.record()
	for i := range 200 {
		if err := s.a.Send(v.ours, numbered(i, 20)); err != nil {
			s.t.Fatal(err)
		}
		s.w.Run(5 * time.Millisecond)
	}
	s.w.Run(40 * time.Millisecond)
	var last []byte
	for _, p := range s.tape {
		if p.to == Place(1) {
			last = p.data
		}
	}

	s.begin()
	v = s.visit(2, nil)
	s.w.Run(100 * time.Millisecond)
	s.w.Remove(Place(2))
	s.w.Inject(Place(2), Place(1), last)
	s.w.Run(10 * time.Millisecond)
	if closed := s.atA.Of(v.ours).Closed; len(closed) != 1 || !errors.Is(closed[0], mercury.ErrProtocol) {
		s.t.Errorf("an ack of packets that were not sent: closed with %v, want ErrProtocol", closed)
	}
}

// A peer that announces a message above MaxMessage loses its channel with ErrMessageTooLong, before
// the message is there.
func announcesTooMuch(s *siege) {
	s.limit = func(c *mercury.Config) { c.MaxMessage = 1000 }
	s.begin()
	v := s.visit(2, func(c *mercury.Config) { c.MaxMessage, c.MaxQueued = 4<<20, 8<<20 })
	err := v.e.Send(v.ch, make([]byte, 4<<20))
	if errors.Is(err, mercury.ErrMessageTooLong) {
		return // the peers have told each other
	}
	s.w.Run(time.Second)
	if closed := s.atA.Of(v.ours).Closed; len(closed) != 1 || !errors.Is(closed[0], mercury.ErrMessageTooLong) {
		s.t.Errorf("closed with %v, want ErrMessageTooLong", closed)
	}
	if got := s.a.Stats().BytesIn; got > 200_000 {
		s.t.Errorf("%d bytes were taken in of a message that is too long", got)
	}
}

// Many peers that announce a megabyte and then send no more hold no more memory than they have
// sent, and are given up.
func slowLoris(s *siege) {
	const peers = 200
	before := heapInUse()
	var visitors []*visitor
	for n := range peers {
		visitors = append(visitors, s.visit(2+n, nil))
	}
	bytesBefore := s.a.Stats().BytesIn
	for _, v := range visitors {
		s.w.Net.SetLinkOneWay(Place(1), v.e.Self().At, Link{Loss: 1}) // no ack: the window closes after its first packets
		if err := v.e.Send(v.ch, make([]byte, mercury.DefaultMaxMessage)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.w.Run(50 * time.Millisecond)
	took := int(s.a.Stats().BytesIn - bytesBefore)
	for i, v := range visitors {
		s.w.Remove(v.e.Self().At)
		visitors[i] = nil
	}
	// What the diallers held is free again; before they came the acceptor had next to nothing.
	grown := heapInUse() - before
	s.t.Logf("%d peers sent %d bytes; memory grew by %d", peers, took, grown)
	if grown > 2*took+siegeSlack {
		s.t.Errorf("%d bytes that arrived take %d of memory", took, grown)
	}
	s.w.Run(2 * mercury.DefaultInactivity)
	if n := s.a.Stats().Channels; n != 0 {
		s.t.Errorf("%d channels to peers that have gone", n)
	}
	if kept := heapInUse() - before; kept > siegeSlack {
		s.t.Errorf("peers that have gone keep %d bytes of memory", kept)
	}
}

// Diallers that vanish as soon as they are in take no more than MaxChannels, and are given up; then
// others get in.
func halfOpen(s *siege) {
	const most = 50
	s.limit = func(c *mercury.Config) { c.MaxChannels = most }
	s.begin()
	before := heapInUse()
	refused := 0
	for n := range 4 * most {
		var at Recorder
		d := s.add(2+n, &at, nil)
		ch := d.Dial(s.a.Self())
		s.w.RunUntil(100*time.Millisecond, func() bool { return at.Of(ch).Opened+len(at.Of(ch).Closed) > 0 })
		if closed := at.Of(ch).Closed; len(closed) > 0 {
			if !errors.Is(closed[0], mercury.ErrTooManyChannels) {
				s.t.Errorf("dialler %d is refused with %v", n, closed[0])
			}
			refused++
		}
		s.w.Remove(d.Self().At)
		if got := s.a.Stats().Channels; got > most {
			s.t.Fatalf("%d channels, at most %d are allowed", got, most)
		}
	}
	s.t.Logf("%d of %d diallers were refused", refused, 4*most)
	s.w.Run(2 * mercury.DefaultInactivity)
	if n := s.a.Stats().Channels; n != 0 {
		s.t.Errorf("%d channels to diallers that have gone", n)
	}
	if kept := heapInUse() - before; kept > siegeSlack {
		s.t.Errorf("diallers that have gone keep %d bytes of memory", kept)
	}
	v := s.visit(900, nil)
	s.talk(v, "after the others have gone")
}
