package wheel

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// hand is what the tests put into a wheel.
type hand struct {
	id    int
	timer Node[hand]
	twin  twinEntry
}

// twinEntry is the same in the twin.
type twinEntry struct {
	in   bool
	at   time.Duration
	tick uint64 // that it was put into
	seq  int    // of the call that set it
}

// twinWheel is a wheel as one would write it without thinking of time: a slice that is searched.
type twinWheel struct {
	hands []*hand
	now   time.Duration
	seq   int
}

func (w *twinWheel) set(h *hand, at time.Duration) {
	w.seq++
	h.twin = twinEntry{in: true, at: at, tick: max(tickOf(at), tickOf(w.now)), seq: w.seq}
}

func (w *twinWheel) remove(h *hand) { h.twin.in = false }

func (w *twinWheel) len() (n int) {
	for _, h := range w.hands {
		if h.twin.in {
			n++
		}
	}
	return n
}

// earliest is the least time set.
func (w *twinWheel) earliest() (at time.Duration, ok bool) {
	at = math.MaxInt64
	for _, h := range w.hands {
		if h.twin.in {
			at, ok = min(at, h.twin.at), true
		}
	}
	return at, ok
}

func (w *twinWheel) advance(now time.Duration, fire func(*hand)) {
	w.now = max(w.now, now)
	var due []*hand
	for _, h := range w.hands {
		if h.twin.in && h.twin.at <= w.now {
			due = append(due, h)
		}
	}
	slices.SortFunc(due, func(a, b *hand) int {
		return cmp.Or(cmp.Compare(a.twin.tick, b.twin.tick), cmp.Compare(a.twin.seq, b.twin.seq))
	})
	last := w.seq
	for _, h := range due {
		if h.twin.in && h.twin.seq <= last { // neither removed nor set again by an earlier one
			h.twin.in = false
			fire(h)
		}
	}
}

func newHands(n int) []*hand {
	hands := make([]*hand, n)
	for i := range hands {
		hands[i] = &hand{id: i}
		hands[i].timer.Of = hands[i]
	}
	return hands
}

// far draws a time of any magnitude from a nanosecond to centuries.
func far(rng *rand.Rand) time.Duration { return time.Duration(rng.Uint64() >> (1 + rng.IntN(62))) }

// near draws a time within the reach of the lower levels, often on the border of a tick.
func near(rng *rand.Rand) time.Duration {
	d := time.Duration(rng.IntN(1 << (10 + rng.IntN(24))))
	if rng.IntN(4) == 0 {
		d = d >> tickShift << tickShift
	}
	return d
}

// deed is what a hand does when it fires: the same to Wheel and twin.
func deed(h *hand, seed uint64, round, n int, now time.Duration) (target int, at time.Duration, set, remove bool) {
	rng := rand.New(rand.NewPCG(seed, uint64(round*1000+h.id)))
	at = now + near(rng) - time.Duration(rng.IntN(1<<20))
	target = h.id
	if rng.IntN(3) == 0 {
		target = rng.IntN(n)
	}
	return target, at, rng.IntN(2) == 0, rng.IntN(4) == 0
}

// TestWheelTwin does random things, with jumps of any length, and wants the same fired in the same
// order, and next never early nor late by more than a tick.
func TestWheelTwin(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(60)
		hands := newHands(n)
		w, twin := &Wheel[hand]{}, &twinWheel{hands: hands}
		now := time.Duration(0)
		for round := range 400 {
			for range rng.IntN(6) {
				h := hands[rng.IntN(n)]
				switch rng.IntN(8) {
				case 0:
					w.Remove(&h.timer)
					twin.remove(h)
					continue
				case 1:
					at := far(rng)
					w.Set(&h.timer, at)
					twin.set(h, at)
				default:
					at := now + near(rng)
					w.Set(&h.timer, at)
					twin.set(h, at)
				}
			}
			switch rng.IntN(10) {
			case 0:
				if now < math.MaxInt64/4 {
					now += far(rng) >> 2
				}
			case 1, 2, 3:
				if d, ok := w.Next(); ok {
					now = max(now, d)
				}
			default:
				now += min(near(rng), math.MaxInt64-now)
			}
			var got, want []int
			given := now
			if rng.IntN(8) == 0 {
				given, now = w.now-near(rng), w.now // a clock that runs back is taken to stand still
			}
			w.Advance(given, func(h *hand) {
				if h.timer.Linked() {
					t.Fatalf("seed %d: hand %d is still in when it fires", seed, h.id)
				}
				if h.timer.At > now {
					t.Fatalf("seed %d: hand %d fires at %v instead of %v", seed, h.id, now, h.timer.At)
				}
				got = append(got, h.id)
				target, at, set, remove := deed(h, seed, round, n, now)
				if set {
					w.Set(&hands[target].timer, at)
				}
				if remove {
					w.Remove(&hands[(target+1)%n].timer)
				}
			})
			twin.advance(given, func(h *hand) {
				want = append(want, h.id)
				target, at, set, remove := deed(h, seed, round, n, now)
				if set {
					twin.set(hands[target], at)
				}
				if remove {
					twin.remove(hands[(target+1)%n])
				}
			})
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d, at %v: fired %v, want %v", seed, round, now, got, want)
			}
			checkWheel(t, fmt.Sprintf("seed %d, round %d", seed, round), w, twin)
		}
	}
}

func checkWheel(t *testing.T, where string, w *Wheel[hand], twin *twinWheel) {
	t.Helper()
	if w.len() != twin.len() {
		t.Fatalf("%s: %d wait, want %d", where, w.len(), twin.len())
	}
	for _, h := range twin.hands {
		if h.timer.Linked() != h.twin.in || h.twin.in && h.timer.At != h.twin.at {
			t.Fatalf("%s: hand %d is in %v, want %v", where, h.id, h.timer.Linked(), h.twin.in)
		}
	}
	earliest, ok := twin.earliest()
	next, some := w.Next()
	switch {
	case ok != some:
		t.Fatalf("%s: next says %v, want %v", where, some, ok)
	case !ok:
	case earliest <= w.now:
		if next > w.now {
			t.Fatalf("%s: next is %v though %v is due at %v", where, next, earliest, w.now)
		}
	case next < earliest || next-earliest >= 1<<tickShift:
		t.Fatalf("%s: next is %v, the earliest %v", where, next, earliest)
	}
}

// TestWheelAgainWithinFire sets a hand again for at once: it fires once an advance, not for ever.
func TestWheelAgainWithinFire(t *testing.T) {
	w := &Wheel[hand]{}
	h := newHands(1)[0]
	w.Set(&h.timer, time.Second)
	fired := 0
	for range 3 {
		w.Advance(2*time.Second, func(h *hand) {
			fired++
			w.Set(&h.timer, time.Second)
		})
	}
	if d, ok := w.Next(); fired != 3 || !ok || d > 2*time.Second {
		t.Errorf("fired %d times in three advances; next %v, %v", fired, d, ok)
	}
}

// TestWheelOrder wants those of one tick in the order of setting, though some were set long before
// and came down all levels.
func TestWheelOrder(t *testing.T) {
	const at = 100 * time.Hour
	w := &Wheel[hand]{}
	hands := newHands(6)
	for i, before := range []time.Duration{at, time.Hour, time.Minute, time.Second, 10 * time.Millisecond, time.Nanosecond} {
		w.Advance(at-before, func(*hand) { t.Fatal("fired early") })
		w.Set(&hands[i].timer, at)
	}
	var got []int
	w.Advance(at+time.Hour, func(h *hand) { got = append(got, h.id) })
	if want := []int{0, 1, 2, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("fired %v, want %v", got, want)
	}
}

// TestWheelEnds sets what lies before the start and at the end of time.
func TestWheelEnds(t *testing.T) {
	w := &Wheel[hand]{}
	hands := newHands(2)
	w.Set(&hands[0].timer, math.MaxInt64)
	w.Set(&hands[1].timer, math.MinInt64)
	var got []int
	fire := func(h *hand) { got = append(got, h.id) }
	w.Advance(0, fire)
	if d, ok := w.Next(); !ok || d != math.MaxInt64 {
		t.Errorf("next is %v, %v", d, ok)
	}
	w.Advance(math.MaxInt64, fire)
	if want := []int{1, 0}; !slices.Equal(got, want) {
		t.Errorf("fired %v, want %v", got, want)
	}
}

func TestWheelDoesNotAllocate(t *testing.T) {
	load := newTimerLoad(1000)
	w := &Wheel[hand]{}
	for _, h := range load.hands {
		w.Set(&h.timer, load.idle())
	}
	fire := func(h *hand) { w.Set(&h.timer, load.again()) }
	if n := testing.AllocsPerRun(1000, func() { load.wheelStep(w, fire) }); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// timerLoad is what an Endpoint with many channels asks of its queue: each step of 100 µs a few
// channels send and put their deadline to 20 ms from now; a channel that comes up puts itself back
// to a second from now.
type timerLoad struct {
	rng   *rand.Rand
	hands []*hand
	now   time.Duration
}

func newTimerLoad(n int) *timerLoad {
	return &timerLoad{rng: rand.New(rand.NewPCG(1, 2)), hands: newHands(n)}
}

func (l *timerLoad) idle() time.Duration {
	return l.now + time.Duration(l.rng.Int64N(int64(time.Second)))
}
func (l *timerLoad) again() time.Duration { return l.now + time.Second }
func (l *timerLoad) soon() time.Duration  { return l.now + 20*time.Millisecond }

const touchedPerStep = 8

func (l *timerLoad) wheelStep(w *Wheel[hand], fire func(*hand)) {
	l.now += 100 * time.Microsecond
	for range touchedPerStep {
		h := l.hands[l.rng.IntN(len(l.hands))]
		if at := l.soon(); at < h.timer.At {
			w.Set(&h.timer, at)
		}
	}
	if d, ok := w.Next(); ok && d <= l.now {
		w.Advance(l.now, fire)
	}
}

// BenchmarkTimers is one step of timerLoad, in the wheel, and in a heap with the same duties, for
// 10,000 channels.
func BenchmarkTimers(b *testing.B) {
	for _, n := range []int{300, 10_000, 100_000} {
		b.Run(fmt.Sprintf("wheel/%d", n), func(b *testing.B) {
			load, w := newTimerLoad(n), &Wheel[hand]{}
			for _, h := range load.hands {
				w.Set(&h.timer, load.idle())
			}
			fire := func(h *hand) { w.Set(&h.timer, load.again()) }
			b.ReportAllocs()
			for b.Loop() {
				load.wheelStep(w, fire)
			}
		})
		b.Run(fmt.Sprintf("heap/%d", n), func(b *testing.B) {
			load, q := newTimerLoad(n), &timerHeap{}
			for _, h := range load.hands {
				h.timer.At, h.twin.seq = load.idle(), len(q.hands)
				q.hands = append(q.hands, h)
				q.up(h.twin.seq)
			}
			b.ReportAllocs()
			for b.Loop() {
				load.heapStep(q)
			}
		})
	}
}

// timerHeap is the binary heap that the wheel stands beside; twin.seq is the place in it.
type timerHeap struct{ hands []*hand }

func (q *timerHeap) less(i, j int) bool {
	a, b := q.hands[i], q.hands[j]
	return a.timer.At < b.timer.At || a.timer.At == b.timer.At && a.id < b.id
}

func (q *timerHeap) swap(i, j int) {
	q.hands[i], q.hands[j] = q.hands[j], q.hands[i]
	q.hands[i].twin.seq, q.hands[j].twin.seq = i, j
}

func (q *timerHeap) up(i int) {
	for p := (i - 1) / 2; i > 0 && q.less(i, p); p = (i - 1) / 2 {
		q.swap(i, p)
		i = p
	}
}

func (q *timerHeap) down(i int) {
	for {
		child := 2*i + 1
		if child+1 < len(q.hands) && q.less(child+1, child) {
			child++
		}
		if child >= len(q.hands) || !q.less(child, i) {
			return
		}
		q.swap(i, child)
		i = child
	}
}

func (l *timerLoad) heapStep(q *timerHeap) {
	l.now += 100 * time.Microsecond
	for range touchedPerStep {
		h := l.hands[l.rng.IntN(len(l.hands))]
		if at := l.soon(); at < h.timer.At {
			h.timer.At = at
			q.up(h.twin.seq)
		}
	}
	for q.hands[0].timer.At <= l.now {
		q.hands[0].timer.At = l.again()
		q.down(0)
	}
}
