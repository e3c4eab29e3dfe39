package call

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/google/go-cmp/cmp"
)

// caller begins calls, and records how they ended.
type caller struct {
	t testing.TB
	Calls[string]
	lines []string
}

func (c *caller) begin(now time.Duration, ch mercury.ChannelID, name string, timeout time.Duration) ID {
	c.t.Helper()
	id, err := c.Begin(now, ch, timeout, func(now time.Duration, answer string, err error) {
		c.lines = append(c.lines, fmt.Sprintf("%v %s: %q, %v", now, name, answer, err))
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

func (c *caller) want(lines ...string) {
	c.t.Helper()
	if diff := cmp.Diff(lines, c.lines); diff != "" {
		c.t.Fatal(diff)
	}
	c.lines = nil
}

func TestAnswer(t *testing.T) {
	c := &caller{t: t}
	a, b, d := c.begin(0, 1, "a", time.Second), c.begin(0, 1, "b", 0), c.begin(0, 1, "d", 0)
	if !c.Answer(time.Millisecond, 1, b, "7") || !c.Answer(time.Millisecond, 1, a, "8") || !c.Fail(time.Millisecond, 1, d, errors.New("no such entity")) {
		t.Error("an answer is refused")
	}
	c.Advance(time.Hour)
	c.want(`1ms b: "7", <nil>`, `1ms a: "8", <nil>`, `1ms d: "", no such entity`)
	if c.Answer(0, 1, a, "again") || c.Fail(0, 1, b, errors.New("after all")) {
		t.Error("a call ends twice")
	}
	want := Stats{Begun: 3, Answered: 2, Failed: 1, Late: 2}
	if diff := cmp.Diff(want, c.Stats()); diff != "" || c.Open() != 0 {
		t.Errorf("%d open; %s", c.Open(), diff)
	}
}

func TestTimeout(t *testing.T) {
	c := &caller{t: t}
	for i, timeout := range []time.Duration{3 * time.Second, time.Second, 0, time.Second, math.MaxInt64, -1} {
		c.begin(time.Second, 1, fmt.Sprint(i), timeout)
	}
	c.Advance(time.Second)
	c.want(`1s 5: "", call: no answer in time`)
	deadline, ok := c.NextDeadline()
	if !ok || deadline < 2*time.Second || deadline > 2*time.Second+time.Millisecond {
		t.Errorf("NextDeadline is %v, %v", deadline, ok)
	}
	c.Advance(2*time.Second - 1)
	c.want()
	c.Advance(2 * time.Second)
	c.Advance(time.Hour)
	c.want(
		`2s 1: "", call: no answer in time`,
		`2s 3: "", call: no answer in time`,
		`1h0m0s 0: "", call: no answer in time`,
	)
	if c.Open() != 2 {
		t.Errorf("%d calls open, want the one without a time-out and the one at the end of time", c.Open())
	}
}

func TestCancel(t *testing.T) {
	c := &caller{t: t}
	id := c.begin(0, 1, "a", time.Second)
	if !c.Cancel(id) || c.Cancel(id) || c.Cancel(0) {
		t.Error("Cancel does not tell whether there was a call")
	}
	again := c.begin(0, 1, "b", 0)
	c.Answer(0, 1, id, "late")
	c.Advance(time.Hour)
	if c.want(); again <= id || c.Stats().Late != 1 {
		t.Errorf("calls %d and %d; stats %+v", id, again, c.Stats())
	}
}

// A peer that answers what was asked of another ends nothing.
func TestForeignAnswer(t *testing.T) {
	c := &caller{t: t}
	id := c.begin(0, 1, "a", 0)
	if c.Answer(0, 2, id, "forged") || c.Fail(0, 2, id, mercury.ErrProtocol) || c.Open() != 1 || c.Stats().Late != 2 {
		t.Error("an answer on another channel ended the call")
	}
	c.want()
}

func TestClosed(t *testing.T) {
	c := &caller{t: t}
	for i, ch := range []mercury.ChannelID{1, 2, 1, 1 << 16, 1} {
		c.begin(0, ch, fmt.Sprint(i), 0)
	}
	c.Calls.Closed(0, 1, mercury.ErrPeerClosed)
	c.want(
		`0s 0: "", mercury: peer closed the channel`,
		`0s 2: "", mercury: peer closed the channel`,
		`0s 4: "", mercury: peer closed the channel`,
	)
	if c.Open() != 2 || c.Stats().Lost != 3 {
		t.Errorf("%d calls open, %d lost", c.Open(), c.Stats().Lost)
	}
}

func TestTooMany(t *testing.T) {
	for limit, want := range map[int]int{0: DefaultMax, 2: 2} {
		c := Calls[int]{Max: limit}
		var last ID
		for range want {
			id, err := c.Begin(0, 1, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			last = id
		}
		if _, err := c.Begin(0, 1, 0, nil); !errors.Is(err, ErrTooMany) || c.Open() != want {
			t.Errorf("%d open: %v", c.Open(), err)
		}
		c.Answer(0, 1, last, 1) // which nobody waits for
		if _, err := c.Begin(0, 1, 0, nil); err != nil {
			t.Error(err)
		}
	}
}

// TestWithinDone begins, cancels and closes from inside a Done.
func TestWithinDone(t *testing.T) {
	var c Calls[int]
	var ids []ID
	var order []int
	var done func(token int) Done[int]
	done = func(token int) Done[int] {
		return func(now time.Duration, _ int, _ error) {
			order = append(order, token)
			switch token {
			case 0: // its time-out cancels the next and asks anew, on a channel that is then closed
				c.Cancel(ids[1])
				_, _ = c.Begin(now, 3, 0, done(10))
				c.Closed(now, 1, mercury.ErrNoChannel)
			case 2: // closed: asks again on the same channel; the same Closed must not end that call
				_, _ = c.Begin(now, 1, 0, done(11))
				c.Cancel(ids[3])
				c.Closed(now, 3, mercury.ErrNoChannel)
			}
		}
	}
	for i := range 5 {
		timeout := time.Second
		if i >= 2 {
			timeout = time.Minute // ends by Closed, not by the same Advance
		}
		id, err := c.Begin(0, 1, timeout, done(i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	c.Advance(time.Second)
	if want := []int{0, 2, 10, 4}; !slices.Equal(order, want) {
		t.Errorf("ended %v, want %v", order, want)
	}
	if c.Open() != 1 {
		t.Errorf("%d calls open, want the one made anew", c.Open())
	}
}

// TestTwin does random things, and keeps a table of what must become of each call: it ends
// once, as it should, and in time.
func TestTwin(t *testing.T) {
	type entry struct {
		ch       mercury.ChannelID
		deadline time.Duration // 0 for none
		ended    bool
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		limit := 1 + rng.IntN(70)
		c := Calls[mercury.ChannelID]{Max: limit}
		table := map[ID]*entry{}
		var ids []ID
		var want error // the error of the ends that happen now
		now := time.Duration(0)
		done := func(id ID) Done[mercury.ChannelID] {
			return func(at time.Duration, answer mercury.ChannelID, err error) {
				e := table[id]
				if e == nil || e.ended || at != now || !errors.Is(err, want) || err == nil && answer != e.ch {
					t.Fatalf("seed %d: call %d ends with %v instead of %v: %+v", seed, id, err, want, e)
				}
				e.ended = true
			}
		}
		open := func() (n int) {
			for _, id := range ids {
				if !table[id].ended {
					n++
				}
			}
			return n
		}
		for range 600 {
			switch rng.IntN(6) {
			case 0, 1:
				ch := mercury.ChannelID(1 + rng.IntN(4))
				timeout := time.Duration(rng.IntN(4)) * 10 * time.Millisecond
				id, err := c.Begin(now, ch, timeout, done(ID(len(ids)+1)))
				if (err != nil) != (open() == limit) {
					t.Fatalf("seed %d: Begin: %v with %d of %d open", seed, err, open(), limit)
				}
				if err == nil {
					e := &entry{ch: ch}
					if timeout > 0 {
						e.deadline = now + timeout
					}
					table[id], ids = e, append(ids, id)
				}
			case 2:
				now += time.Duration(rng.IntN(int(8 * time.Millisecond)))
				want = ErrTimeout
				c.Advance(now)
				for _, id := range ids {
					if e := table[id]; e.deadline > 0 && e.deadline <= now && !e.ended {
						t.Fatalf("seed %d: call %d goes on at %v after its time-out %v", seed, id, now, e.deadline)
					}
				}
			case 3:
				if len(ids) == 0 {
					continue
				}
				id := ids[rng.IntN(len(ids))]
				e, late := table[id], c.Stats().Late
				want = nil
				wasOpen := !e.ended
				if c.Answer(now, e.ch, id, e.ch) != wasOpen || !e.ended || wasOpen == (c.Stats().Late > late) {
					t.Fatalf("seed %d: call %d was open: %v; after the answer it has ended: %v", seed, id, wasOpen, e.ended)
				}
			case 4:
				if len(ids) > 0 {
					id := ids[rng.IntN(len(ids))]
					if got := c.Cancel(id); got == table[id].ended {
						t.Fatalf("seed %d: Cancel of call %d says %v", seed, id, got)
					}
					table[id].ended = true
				}
			case 5:
				if rng.IntN(8) == 0 {
					want = mercury.ErrPeerAborted
					ch := mercury.ChannelID(1 + rng.IntN(4))
					c.Closed(now, ch, mercury.ErrPeerAborted)
					for _, id := range ids {
						if e := table[id]; e.ch == ch && !e.ended {
							t.Fatalf("seed %d: call %d outlives its channel", seed, id)
						}
					}
				}
			}
			if c.Open() != open() {
				t.Fatalf("seed %d: %d open, want %d", seed, c.Open(), open())
			}
		}
	}
}

func TestDoesNotAllocate(t *testing.T) {
	var c Calls[[]byte]
	done := func(time.Duration, []byte, error) {}
	body := make([]byte, 50)
	now := time.Duration(0)
	var ids []ID
	round := func() {
		ids = ids[:0]
		for range 20 {
			id, err := c.Begin(now, 1, time.Second, done)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		cancelled, _ := c.Begin(now, 2, time.Second, done)
		_, _ = c.Begin(now, 3, time.Millisecond, done)
		_, _ = c.Begin(now, 4, 0, done)
		for _, id := range ids {
			c.Answer(now, 1, id, body)
		}
		c.Cancel(cancelled)
		now += 10 * time.Millisecond
		c.Advance(now)
		c.Closed(now, 4, mercury.ErrPeerClosed)
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n > 0 || c.Open() > 0 {
		t.Errorf("%v allocations a round, %d calls open", n, c.Open())
	}
}

// BenchmarkCall is a call that is answered, with 1000 other calls open.
func BenchmarkCall(b *testing.B) {
	var c Calls[[]byte]
	done := func(time.Duration, []byte, error) {}
	for range 1000 {
		_, _ = c.Begin(0, 2, time.Hour, done)
	}
	b.ReportAllocs()
	for b.Loop() {
		id, _ := c.Begin(0, 1, time.Second, done)
		c.Answer(0, 1, id, nil)
	}
}
