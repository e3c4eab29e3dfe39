package flow_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
)

// sea is a flow under everything that can happen to it: loss, doubling, reordering, both ends
// moving, the target dying and coming back from a backup. Beside the clever ends it records what
// the target's script has seen.
type sea struct {
	t   *testing.T
	rng *rand.Rand
	now time.Duration

	out    flow.Sender
	stream uint32
	in     flow.Receiver
	seen   []uint64 // numbers, as a part of the target's state

	messages []packet // on the way to the target
	acks     []packet // on the way back
	backups  []saved  // on the way to the base, in order
	kept     saved    // the last one that arrived
}

type packet struct {
	stream uint32
	low, n uint64
	bytes  []byte
}

type saved struct {
	in   []byte
	last uint64
	seen []uint64
}

func newSea(t *testing.T, seed uint64) *sea {
	s := &sea{t: t, rng: rand.New(rand.NewPCG(seed, 1)), stream: 1}
	s.kept = s.snapshot()
	return s
}

func (s *sea) chance(percent int) bool { return s.rng.IntN(100) < percent }

func (s *sea) snapshot() saved {
	return saved{in: s.in.Append(nil), last: s.in.Last(), seen: slices.Clone(s.seen)}
}

// post sends a message into the sea: not at all, once or twice.
func (s *sea) post(n uint64, payload []byte) {
	p := packet{s.stream, s.out.Low(), n, slices.Clone(payload)}
	for range s.copies() {
		s.messages = append(s.messages, p)
	}
}

func (s *sea) copies() int {
	switch {
	case s.chance(20):
		return 0
	case s.chance(20):
		return 2
	}
	return 1
}

func (s *sea) add() {
	want := s.out.Last() + 1
	payload := binary.AppendUvarint(nil, want)
	n, err := s.out.Add(s.now, payload)
	if err != nil || n != want {
		s.t.Fatalf("number %d, want %d: %v", n, want, err)
	}
	s.post(n, payload)
}

// arrive delivers any of the messages on the way: reordering is free.
func (s *sea) arrive() {
	if len(s.messages) == 0 {
		return
	}
	i := s.rng.IntN(len(s.messages))
	p := s.messages[i]
	s.messages = slices.Delete(s.messages, i, i+1)
	s.in.Accept(p.stream, p.low, p.n, p.bytes, func(payload []byte) {
		n, _ := binary.Uvarint(payload)
		s.seen = append(s.seen, n)
	})
	if s.in.TakeOwed() {
		for range s.copies() {
			s.acks = append(s.acks, packet{stream: s.in.Incarnation(), n: s.in.Last()})
		}
	}
}

func (s *sea) acknowledge() {
	if len(s.acks) == 0 {
		return
	}
	i := s.rng.IntN(len(s.acks))
	if p := s.acks[i]; p.stream == s.stream {
		s.out.Received(s.now, p.n)
	}
	s.acks = slices.Delete(s.acks, i, i+1)
}

// offload moves the target; messages that were held early stay behind.
func (s *sea) offload() {
	r := codec.NewReader(s.in.Append(nil))
	s.in = flow.Receiver{}
	s.in.Read(&r)
	if err := r.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// moveSender moves the sending end.
func (s *sea) moveSender() {
	r := codec.NewReader(s.out.Append(nil))
	s.out.Read(&r)
	if err := r.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// die loses the target with all that was on the way to and from it, and restores it from the backup
// that the base has.
func (s *sea) die() {
	s.messages, s.acks, s.backups = nil, nil, nil
	r := codec.NewReader(s.kept.in)
	s.in.Read(&r)
	s.seen = slices.Clone(s.kept.seen)
	s.out.Rewind(s.kept.last)
}

func (s *sea) backup() { s.backups = append(s.backups, s.snapshot()) }

func (s *sea) settle() {
	if len(s.backups) > 0 {
		s.kept = s.backups[0]
		s.backups = s.backups[1:]
		s.out.Settle(s.now, s.kept.last)
	}
}

func (s *sea) timer() {
	s.now += flow.ResendAfter
	if s.out.Due(s.now) {
		s.out.Each(s.now, s.post)
	}
}

// check is promise 3: every number once, in order, from 1.
func (s *sea) check() {
	for i, n := range s.seen {
		if n != uint64(i+1) {
			s.t.Fatalf("the target saw %d as its message %d", n, i+1)
		}
	}
	if last := s.in.Last(); last != uint64(len(s.seen)) {
		s.t.Fatalf("%d handled, %d seen", last, len(s.seen))
	}
	if low := s.out.Low(); low != s.out.Last()+1-uint64(s.out.Kept()) {
		s.t.Fatalf("low %d, last %d, %d kept", low, s.out.Last(), s.out.Kept())
	}
}

func TestFlowUnderEverything(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := newSea(t, seed)
			for range 2000 {
				switch d := s.rng.IntN(100); {
				case d < 25:
					s.add()
				case d < 60:
					s.arrive()
				case d < 80:
					s.acknowledge()
				case d < 84:
					s.backup()
				case d < 88:
					s.settle()
				case d < 92:
					s.timer()
				case d < 95:
					s.offload()
				case d < 98:
					s.moveSender()
				case d < 99:
					s.die()
				}
				s.check()
			}
			// Then the sea is calm: nothing is missing.
			for range 200 {
				s.timer()
				for len(s.messages)+len(s.acks) > 0 {
					s.arrive()
					s.acknowledge()
				}
			}
			s.backup()
			for len(s.backups) > 0 {
				s.settle()
			}
			s.check()
			if s.in.Last() != s.out.Last() || s.out.Kept() != 0 || s.out.Unreceived() != 0 {
				t.Errorf("sent %d, handled %d, %d kept, %d unacknowledged", s.out.Last(), s.in.Last(), s.out.Kept(), s.out.Unreceived())
			}
		})
	}
}

// A sender that comes back in a new incarnation starts a new stream. Of each stream the target sees
// the beginning, in order; it sees all of the last one.
func TestFlowStreams(t *testing.T) {
	for seed := range uint64(40) {
		s := newSea(t, seed)
		seen := map[uint32][]uint64{}
		highest := uint32(0)
		arrive := func() {
			if len(s.messages) == 0 {
				return
			}
			i := s.rng.IntN(len(s.messages))
			p := s.messages[i]
			s.messages = slices.Delete(s.messages, i, i+1)
			v := s.in.Accept(p.stream, 0, p.n, p.bytes, func(payload []byte) {
				n, _ := binary.Uvarint(payload)
				seen[p.stream] = append(seen[p.stream], n)
			})
			if (v == flow.Stale) != (p.stream < highest) {
				t.Fatalf("seed %d: verdict %d on stream %d after %d", seed, v, p.stream, highest)
			}
			highest = max(highest, p.stream)
		}
		for range 1000 {
			switch d := s.rng.IntN(100); {
			case d < 40:
				s.add()
			case d < 90:
				arrive()
			case d < 96:
				s.now += flow.ResendAfter
				s.out.Each(s.now, s.post)
			case d < 97:
				s.stream, s.out = s.stream+1, flow.Sender{}
			}
		}
		s.add()
		for range 100 {
			s.out.Each(s.now, s.post)
			for len(s.messages) > 0 {
				arrive()
			}
		}
		for stream := range s.stream + 1 {
			for i, n := range seen[stream] {
				if n != uint64(i+1) {
					t.Fatalf("seed %d: stream %d: %d came as message %d", seed, stream, n, i+1)
				}
			}
		}
		if s.in.Incarnation() != s.stream || s.in.Last() != s.out.Last() {
			t.Errorf("seed %d: handled %d of stream %d, sent %d of %d", seed, s.in.Last(), s.in.Incarnation(), s.out.Last(), s.stream)
		}
	}
}

// A target that was restored to a state before what the sender still has goes on with what there
// is, and with what it holds already.
func TestInSkipsToLow(t *testing.T) {
	var got []byte
	deliver := func(p []byte) { got = append(got, p...) }
	in := flow.NewReceiver(1, 2)
	in.Accept(1, 3, 7, []byte("g"), deliver)
	in.Accept(1, 3, 5, []byte("e"), deliver)
	in.Accept(1, 3, 4, []byte("d"), deliver)
	if v := in.Accept(1, 5, 8, []byte("h"), deliver); v != flow.Deliver || string(got) != "e" || in.Last() != 5 {
		t.Errorf("verdict %d, got %q up to %d", v, got, in.Last())
	}
	if v := in.Accept(1, 5, 6, []byte("f"), deliver); v != flow.Deliver || string(got) != "efgh" {
		t.Errorf("verdict %d, got %q", v, got)
	}
	if v := in.Accept(1, 7, 7, []byte("g"), deliver); v != flow.Duplicate || string(got) != "efgh" {
		t.Errorf("verdict %d, got %q", v, got)
	}
}

// The message that a skip makes the next one may already be held.
func TestInSkipsToHeld(t *testing.T) {
	var got []byte
	deliver := func(p []byte) { got = append(got, p...) }
	var in flow.Receiver
	in.Accept(1, 1, 5, []byte("e"), deliver)
	in.Accept(1, 5, 5, []byte("e"), deliver)
	in.Accept(1, 5, 7, []byte("g"), deliver)
	in.Accept(1, 5, 6, []byte("f"), deliver)
	if string(got) != "efg" || in.Last() != 7 {
		t.Errorf("got %q up to %d", got, in.Last())
	}
}

func TestInHoldsLittle(t *testing.T) {
	var in flow.Receiver
	count := 0
	deliver := func([]byte) { count++ }
	for n := range uint64(2 * flow.MaxEarly) {
		if v := in.Accept(1, 1, n+2, nil, deliver); v != flow.Wait {
			t.Fatalf("verdict %d", v)
		}
	}
	in.Accept(1, 1, 1, nil, deliver)
	if count != flow.MaxEarly+1 {
		t.Errorf("%d delivered, want what was held and the missing one: %d", count, flow.MaxEarly+1)
	}
}

func TestOutLimits(t *testing.T) {
	var o flow.Sender
	if _, err := o.Add(0, make([]byte, flow.MaxPayload+1)); !errors.Is(err, flow.ErrPayload) {
		t.Errorf("too long: %v", err)
	}
	for range flow.MaxKept {
		if _, err := o.Add(0, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.Add(0, nil); !errors.Is(err, flow.ErrFull) {
		t.Errorf("too many: %v", err)
	}
	o.Settle(0, 1)
	if _, err := o.Add(0, nil); err != nil {
		t.Errorf("after one was settled: %v", err)
	}
}

// sending is a sender that waits for word of n messages.
func sending(n int) (o flow.Sender) {
	for range n {
		o.Add(0, []byte("x"))
	}
	return o
}

func TestOutIgnoresForgedAcks(t *testing.T) {
	o := sending(3)
	o.Received(0, 4)
	o.Settle(0, 99)
	if o.Unreceived() != 3 || o.Kept() != 3 {
		t.Errorf("%d unreceived, %d kept", o.Unreceived(), o.Kept())
	}
	o.Settle(0, 2)
	if o.Unreceived() != 1 || o.Kept() != 1 || o.Low() != 3 {
		t.Errorf("%d unreceived, %d kept, low %d", o.Unreceived(), o.Kept(), o.Low())
	}
}

// A rewind to before what is kept leaves nothing waiting that can never be sent.
func TestOutRewindBeyondKept(t *testing.T) {
	o := sending(5)
	o.Settle(0, 5)
	o.Rewind(2)
	if o.Unreceived() != 0 || o.Due(time.Hour) {
		t.Errorf("%d unreceived, due %v, with nothing kept", o.Unreceived(), o.Due(time.Hour))
	}
}

func TestOutTimer(t *testing.T) {
	var o flow.Sender
	if o.Due(time.Hour) {
		t.Error("an empty flow is due")
	}
	start := time.Minute
	o.Add(start, nil)
	o.Add(start+900*time.Millisecond, nil)
	if o.Due(start + 999*time.Millisecond) {
		t.Error("due too early")
	}
	now := start + time.Second
	if !o.Due(now) {
		t.Error("not due")
	}
	var numbers []uint64
	o.Each(now, func(n uint64, _ []byte) { numbers = append(numbers, n) })
	if !slices.Equal(numbers, []uint64{1, 2}) || o.Due(now) {
		t.Errorf("sent %v, due %v", numbers, o.Due(now))
	}
	o.Received(now+time.Second, 1)
	if o.Due(now + time.Second) {
		t.Error("due although acknowledgements come in")
	}
}

func FuzzOutRead(f *testing.F) {
	var o flow.Sender
	for i := range 3 {
		o.Add(0, bytes.Repeat([]byte{7}, i))
	}
	o.Settle(0, 1)
	f.Add(o.Append(nil))
	f.Add([]byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var o flow.Sender
		r := codec.NewReader(b)
		if o.Read(&r); r.Err() != nil {
			o.Restart(1) // whatever was read
		}
		if r.Close() != nil {
			return
		}
		if again := o.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("read from %x, written as %x", b, again)
		}
		n := 0
		o.Each(0, func(uint64, []byte) { n++ })
		if n > o.Kept() || o.Kept() > flow.MaxKept {
			t.Errorf("%d sent of %d", n, o.Kept())
		}
	})
}

func FuzzIn(f *testing.F) {
	f.Add([]byte{1, 4}, uint32(1), uint64(1), uint64(5))
	f.Add([]byte{1, 4}, uint32(2), uint64(9), uint64(9))
	f.Fuzz(func(t *testing.T, state []byte, stream uint32, low, number uint64) {
		var in flow.Receiver
		r := codec.NewReader(state)
		in.Read(&r)
		if r.Close() != nil {
			return
		}
		if again := in.Append(nil); !bytes.Equal(again, state) {
			t.Errorf("read from %x, written as %x", state, again)
		}
		in.Accept(stream, low, number, nil, func([]byte) {})
	})
}

func BenchmarkFlow(b *testing.B) {
	var out flow.Sender
	var in flow.Receiver
	payload := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		n, _ := out.Add(0, payload)
		in.Accept(1, out.Low(), n, payload, func([]byte) {})
		out.Settle(0, in.Last())
	}
}

// A target that was away for long is sent what it lacks soon after it is heard again, and not when
// the wait that grew meanwhile is over.
func TestResendsSoonToATargetThatIsBack(t *testing.T) {
	var o flow.Sender
	now, sent := time.Duration(0), 0
	send := func() {
		o.Resume(now, func(uint64, []byte) bool { sent++; return true })
	}
	if _, err := o.Add(now, []byte("lost")); err != nil {
		t.Fatal(err)
	}
	for ; now < 4*flow.ResendMost; now += flow.ResendAfter / 10 {
		send()
	}
	for sent = 0; sent == 0; now += flow.ResendAfter / 10 {
		send()
	}
	sent = 0
	now += flow.ResendAfter / 10
	o.Received(now, 0) // what it has heard since, it cannot handle yet
	now += flow.ResendAfter
	if send(); sent != 1 {
		t.Errorf("sent %d messages", sent)
	}
}

// A target that ends in the handling of a message handles nothing that came early behind it, and
// does not count it as handled.
func TestShut(t *testing.T) {
	in := flow.NewReceiver(1, 0)
	var got []string
	deliver := func(p []byte) {
		got = append(got, string(p))
		in.Shut()
	}
	for _, n := range []uint64{2, 3, 1, 2, 4} {
		in.Accept(1, 1, n, fmt.Appendf(nil, "%d", n), deliver)
	}
	if !slices.Equal(got, []string{"1"}) || in.Last() != 1 {
		t.Errorf("handled %v, up to %d", got, in.Last())
	}
}
