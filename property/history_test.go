package property

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// twin keeps everything that ever happened and works every answer out from it.
type twin struct {
	d     *Definition
	log   []twinEvent
	lost  EventNumber
	alive []bool
}

type twinEvent struct {
	property, method int // the other is -1
	payload          []byte
}

func (w *twin) add(e twinEvent) {
	if e.method >= 0 && w.d.ClientMethods[e.method].SendLatestOnly {
		for i := range w.log {
			if w.log[i].method == e.method {
				w.alive[i] = false
			}
		}
	}
	w.log, w.alive = append(w.log, e), append(w.alive, e.method >= 0)
	for {
		n, size, first := 0, 0, -1
		for i := range w.log {
			if w.alive[i] {
				if first < 0 {
					first = i
				}
				n, size = n+1, size+len(w.log[i].payload)
			}
		}
		if n <= MaxHistory && (size <= MaxHistoryBytes || n <= 1) {
			return
		}
		w.kill(first)
	}
}

func (w *twin) kill(i int) {
	w.alive[i] = false
	if !w.d.ClientMethods[w.log[i].method].Unreliable {
		w.lost = EventNumber(i + 1)
	}
}

func (w *twin) stamp(p int) (n EventNumber) {
	for i, e := range w.log {
		if e.property == p {
			n = EventNumber(i + 1)
		}
	}
	return n
}

func (w *twin) since(n EventNumber) (s []string) {
	for i, e := range w.log {
		if w.alive[i] && EventNumber(i+1) > n {
			s = append(s, fmt.Sprint(i+1, e.method, e.payload))
		}
	}
	return s
}

func since(h *History, n EventNumber) (s []string) {
	for e := range h.Since(n) {
		s = append(s, fmt.Sprint(int(e.Number), e.Method, e.Payload))
	}
	return s
}

// touch records a change of the whole of a property.
func touch(h *History, i int) EventNumber { return h.Record(&Values{def: h.def}, &Change{Index: i}) }

// repeat does it at a ghost.
func repeat(h *History, n EventNumber, i int) error {
	return h.Repeat(n, &Values{def: h.def}, &Change{Index: i})
}

func TestHistoryTwin(t *testing.T) {
	d := everyFlag(t)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 6))
		h, ghost, w := NewHistory(d), NewHistory(d), &twin{d: d}
		for step := range 600 {
			switch r.IntN(5) {
			case 0, 1:
				p := r.IntN(len(d.Properties))
				n := touch(h, p)
				if seen := d.Properties[p].Flags&OtherClient != 0; (n != 0) != seen {
					t.Fatalf("seed %d step %d: Record of %v gave %d", seed, step, d.Properties[p].Flags, n)
				}
				if n == 0 {
					continue
				}
				w.add(twinEvent{p, -1, nil})
				if err := repeat(ghost, n, p); err != nil {
					t.Fatal(err)
				}
			case 4:
				if r.IntN(40) != 0 {
					continue
				}
				n := EventNumber(r.IntN(int(h.Last()) + 1))
				h.Trim(n)
				ghost.Trim(n)
				for i := range w.log {
					if w.alive[i] && EventNumber(i+1) <= n {
						w.kill(i)
					}
				}
			default:
				m, payload := r.IntN(3), bytes.Repeat([]byte{byte(step)}, r.IntN(4))
				if r.IntN(100) == 0 {
					payload = make([]byte, MaxHistoryBytes/2+r.IntN(MaxHistoryBytes))
				}
				n := h.Add(m, payload)
				w.add(twinEvent{-1, m, payload})
				if err := ghost.ApplyEvent(n, m, payload); err != nil {
					t.Fatal(err)
				}
			}
			if step%50 != 0 {
				continue
			}
			moved := NewHistory(d)
			if rest, err := moved.Read(append(h.Append(nil), 5)); err != nil || len(rest) != 1 {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			for _, c := range []*History{h, ghost, moved} {
				from := EventNumber(r.IntN(len(w.log) + 2))
				if c.Last() != EventNumber(len(w.log)) || !slices.Equal(since(c, from), w.since(from)) || c.Lost(from) != (w.lost > from) || c.Len() != len(w.since(0)) {
					t.Fatalf("seed %d step %d: since %d: %v, want %v; lost %v, want %v", seed, step, from, since(c, from), w.since(from), c.lost, w.lost)
				}
				for p := range d.Properties {
					if c.Stamp(p) != w.stamp(p) {
						t.Fatalf("seed %d step %d: stamp %d is %d, want %d", seed, step, p, c.Stamp(p), w.stamp(p))
					}
				}
			}
			*h = *moved // the real moves on
		}
	}
}

// A new ghost has stamps and no events; a watcher who is owed one finds it lost there.
func TestHistoryGhost(t *testing.T) {
	d := everyFlag(t)
	h := NewHistory(d)
	p := d.Stream(OtherClientStream)[0]
	h.Add(0, []byte{1})
	touch(h, p)
	h.Add(2, nil) // unreliable
	ghost := NewHistory(d)
	if rest, err := ghost.Read(h.AppendGhost(nil)); err != nil || len(rest) != 0 {
		t.Fatal(err)
	}
	if ghost.Last() != 3 || ghost.Stamp(p) != 2 || ghost.Len() != 0 || ghost.First() != 4 || !ghost.Lost(0) || ghost.Lost(1) {
		t.Errorf("%+v", ghost)
	}
	if err := ghost.ApplyEvent(4, 1, nil); err != nil || ghost.First() != 4 || ghost.Next() != 5 {
		t.Errorf("%+v, %v", ghost, err)
	}
}

func TestHistoryRefuses(t *testing.T) {
	d := everyFlag(t)
	seen, private := d.Stream(OtherClientStream)[0], d.Property("p0_CELL_PRIVATE").Index
	h := NewHistory(d)
	touch(h, seen)
	before := h.Append(nil)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"same number", repeat(h, 1, seen), ErrEventGap},
		{"gap", repeat(h, 3, seen), ErrEventGap},
		{"event gap", h.ApplyEvent(3, 0, nil), ErrEventGap},
		{"property that is not numbered", repeat(h, 2, private), ErrIndex},
		{"no property", repeat(h, 2, -1), ErrIndex},
		{"no method", h.ApplyEvent(2, 3, nil), ErrIndex},
		{"long", h.ApplyEvent(2, 0, make([]byte, MaxPayload+1)), ErrLength},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
	stamps := func(last, lost uint64) []byte {
		b := binary.AppendUvarint(binary.AppendUvarint(nil, last), lost)
		return append(b, make([]byte, len(d.Stream(OtherClientStream)))...)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"empty", nil, ErrTruncated},
		{"number of 33 bits", stamps(math.MaxUint32+1, 0), ErrHistory},
		{"lost after last", stamps(3, 4), ErrHistory},
		{"stamp after last", append([]byte{3, 0, 4}, make([]byte, 99)...), ErrHistory},
		{"event after last", append(stamps(3, 0), 1, 4, 0, 0), ErrHistory},
		{"event before lost", append(stamps(3, 2), 1, 2, 0, 0), ErrHistory},
		{"events out of order", append(stamps(3, 0), 2, 2, 0, 0, 2, 0, 0), ErrHistory},
		{"no such method", append(stamps(3, 0), 1, 2, 3, 0), ErrHistory},
		{"count", append(stamps(3, 0), 0xff, 0xff, 3), ErrLength},
		{"payload", append(stamps(3, 0), 1, 2, 0, 9, 1), ErrTruncated},
	} {
		if rest, err := h.Read(c.b); !errors.Is(err, c.want) || len(rest) != len(c.b) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if !bytes.Equal(before, h.Append(nil)) {
		t.Error("what was refused left something behind")
	}
}

func FuzzHistory(f *testing.F) {
	d := everyFlag(f)
	h := NewHistory(d)
	f.Add(h.Append(nil))
	touch(h, d.Stream(OtherClientStream)[1])
	h.Add(0, []byte("hello"))
	h.Add(2, nil)
	f.Add(h.Append(nil))
	f.Add(h.AppendGhost(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h := NewHistory(d)
		rest, err := h.Read(b)
		if err != nil {
			if len(rest) != len(b) || h.Last() != 0 {
				t.Fatal("an error changed something")
			}
			return
		}
		if h.Len() > MaxHistory || h.Len() > 1 && h.bytes > MaxHistoryBytes {
			t.Fatalf("%d events of %d bytes", h.Len(), h.bytes)
		}
		c := NewHistory(d)
		if rest, err := c.Read(h.Append(nil)); err != nil || len(rest) != 0 || !bytes.Equal(c.Append(nil), h.Append(nil)) {
			t.Fatalf("did not come back: %v", err)
		}
		if h.Last() < math.MaxUint32 {
			if n := h.Next(); h.ApplyEvent(n, 0, nil) != nil || h.Last() != n {
				t.Fatal("cannot go on")
			}
		}
	})
}

func TestLevelOf(t *testing.T) {
	d := &Definition{Levels: []DetailLevel{{"NEAR", 20, 4}, {"MEDIUM", 100, 10}, {"FAR", 250, 20}}}
	nan := float32(math.NaN())
	for _, c := range []struct {
		distance float32
		current  int
		want     int
	}{
		{5, 3, 0}, {19.9, 3, 0}, {20, 3, 1}, {100, 3, 2}, {250, 3, 3}, {249, 3, 2}, // coming in, several at once
		{20, 0, 0}, {24, 0, 0}, {24.1, 0, 1}, {110, 0, 1}, {110.1, 0, 2}, {270, 1, 2}, {270.1, 1, 3}, {1e9, 0, 3}, // going out
		{22, 1, 1}, {19, 1, 0}, {105, 2, 2}, {105, 1, 1}, // between the rings it stays
		{nan, 2, 2}, {50, -5, 1}, {50, 99, 1},
	} {
		if got := LevelOf(d, c.distance, c.current); got != c.want {
			t.Errorf("LevelOf(%v, from %d) = %d, want %d", c.distance, c.current, got, c.want)
		}
	}
	if LevelOf(&Definition{}, 5, 0) != 0 {
		t.Error("a type without levels has one")
	}
}

// Whatever the walk, a level settles at once, and is left only beyond its hysteresis.
func TestLevelOfSettles(t *testing.T) {
	d := &Definition{Levels: []DetailLevel{{"NEAR", 20, 40}, {"MEDIUM", 30, 1}, {"FAR", 250, 0}}}
	r := rand.New(rand.NewPCG(7, 0))
	level := len(d.Levels)
	for range 10000 {
		distance := r.Float32() * 300
		level = LevelOf(d, distance, level)
		if again := LevelOf(d, distance, level); again != level {
			t.Fatalf("at %v level %d becomes %d", distance, level, again)
		}
	}
	for level = LevelOf(d, 15, 3); level == 0; {
		distance := 15 + r.Float32()*50
		level = LevelOf(d, distance, level)
		if level != 0 && distance <= 60 {
			t.Fatalf("left NEAR at %v, within its hysteresis", distance)
		}
	}
}
