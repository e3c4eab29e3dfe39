package property

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// mirrorCopy is a real or a ghost, and what is under way to it.
type mirrorCopy struct {
	v     *Values
	h     *History
	queue []mirrorMessage
}

type mirrorMessage struct {
	state, history []byte // a State
	number         EventNumber
	index          int
	change         []byte // nil for an event
}

// mirrorWorld is a real, ghosts that hear of it late, and watchers that go from copy to copy.
type mirrorWorld struct {
	t        testing.TB
	r        *rand.Rand
	d        *Definition
	copies   []*mirrorCopy
	real     int
	watchers []*mirrorWatcher
	parts    int
}

type mirrorWatcher struct {
	v     *Values
	have  []uint64
	level int
	at    int
}

func (w *mirrorWorld) PropertyChanged(c *Change) {
	m := w.copies[w.real]
	n := m.h.Record(m.v, c)
	if w.d.Properties[c.Index].Flags&Ghosted != 0 {
		w.tell(mirrorMessage{number: n, index: c.Index, change: m.v.AppendChange(nil, c)})
	}
}

func (w *mirrorWorld) tell(m mirrorMessage) {
	for k, c := range w.copies {
		if k != w.real {
			c.queue = append(c.queue, m)
		}
	}
}

func (w *mirrorWorld) deliver(c *mirrorCopy, n int) {
	for ; n > 0 && len(c.queue) > 0; n-- {
		m := c.queue[0]
		c.queue = c.queue[1:]
		switch {
		case m.state != nil:
			h := NewHistory(w.d)
			if _, err := h.Read(m.history); err != nil {
				w.t.Fatal(err)
			}
			if rest, err := c.v.ReadStream(m.state, GhostStream); err != nil || len(rest) > 0 {
				w.t.Fatal(err)
			}
			if h.Last() != c.h.Last() {
				*c.h = *h
			}
		case m.change == nil:
			if err := c.h.ApplyEvent(m.number, 0, nil); err != nil {
				w.t.Fatal(err)
			}
		default:
			got, rest, err := c.v.ApplyChange(m.change, m.index)
			if err != nil || len(rest) > 0 {
				w.t.Fatal(err, rest)
			}
			if m.number != 0 {
				if err := c.h.Repeat(m.number, c.v, &got); err != nil {
					w.t.Fatal(err)
				}
			}
		}
	}
}

func (w *mirrorWorld) state() mirrorMessage {
	m := w.copies[w.real]
	return mirrorMessage{state: m.v.AppendStream([]byte{}, GhostStream), history: m.h.Append(nil)}
}

func (w *mirrorWorld) handover(to int) {
	old, next := w.copies[w.real], w.copies[to]
	stream, history := old.v.AppendStream(nil, CellStream), old.h.Append(nil)
	g := NewValues(w.d, GhostSide, nil)
	if _, err := g.ReadStream(old.v.AppendStream(nil, GhostStream), GhostStream); err != nil {
		w.t.Fatal(err)
	}
	old.v, old.queue = g, nil
	next.v, next.queue = NewValues(w.d, CellSide, nil), nil
	if _, err := next.v.ReadStream(stream, CellStream); err != nil {
		w.t.Fatal(err)
	}
	if _, err := next.h.Read(history); err != nil {
		w.t.Fatal(err)
	}
	next.v.SetHolder(w)
	w.real = to
	s := w.state()
	for k, c := range w.copies {
		if k != to {
			c.queue = append(c.queue[:0:0], s)
		}
	}
}

func (w *mirrorWorld) look(x *mirrorWatcher) {
	c := w.copies[x.at]
	type message struct {
		number EventNumber
		bytes  []byte
	}
	var owed []message
	for l := x.level; l < len(x.have); l++ {
		for _, i := range w.d.AtLevel(l) {
			stamp := c.h.Stamp(i)
			if uint64(stamp) < x.have[l] {
				continue
			}
			if x.have[l] > 0 {
				if parts, ok := c.h.Parts(i, EventNumber(x.have[l]-1), c.v.Size(i)+1); ok {
					for p := range parts {
						owed = append(owed, message{p.Number, p.Client})
						w.parts++
					}
					continue
				}
			}
			owed = append(owed, message{stamp, c.v.AppendClientValue(nil, i)})
		}
	}
	slices.SortStableFunc(owed, func(a, b message) int { return cmp.Compare(a.number, b.number) })
	for _, m := range owed {
		if _, rest, err := x.v.ApplyClientChange(m.bytes); err != nil || len(rest) > 0 {
			w.t.Fatalf("change %d: rest %v, %v", m.number, rest, err)
		}
	}
	last := c.h.Last()
	for l := x.level; l < len(x.have); l++ {
		x.have[l] = max(x.have[l], uint64(last)+1)
		if x.have[l] != uint64(last)+1 {
			continue // the copy is behind
		}
		for _, i := range w.d.AtLevel(l) {
			if !Equal(x.v.Get(i), c.v.Get(i)) || x.v.Size(i) != c.v.Size(i) {
				w.t.Fatalf("at %d: %s is %v, want %v", last, w.d.Properties[i].Name, x.v.Get(i), c.v.Get(i))
			}
		}
	}
}

func runMirrors(t testing.TB, seed1, seed2 uint64, steps int) int {
	r := rand.New(rand.NewPCG(seed1, seed2))
	d := &Definition{Name: "R", HasCell: true, HasClient: true, ClientMethods: []*Method{{Name: "say"}},
		Levels: []DetailLevel{{"NEAR", 10, 1}, {"FAR", 50, 1}}}
	flags := []Flags{CellPublic, OtherClients, AllClients, AllClients, CellPublicAndOwn}
	for i := range 1 + r.IntN(4) {
		d.Properties = append(d.Properties, &Property{Name: fmt.Sprint("p", i), Flags: flags[r.IntN(len(flags))],
			Detail: []string{"", "NEAR", "FAR"}[r.IntN(3)], SendLatestOnly: r.IntN(6) == 0, Type: randomType(r, 3, false)})
	}
	w := &mirrorWorld{t: t, r: r, d: must(NewSchema(d)).Types[0]}
	d = w.d
	for k := range 3 {
		side := GhostSide
		if k == 0 {
			side = CellSide
		}
		w.copies = append(w.copies, &mirrorCopy{v: NewValues(d, side, nil), h: NewHistory(d)})
	}
	w.copies[0].v.SetHolder(w)
	for k := range 3 {
		w.watchers = append(w.watchers, &mirrorWatcher{v: NewValues(d, OtherClientSide, nil), have: make([]uint64, len(d.Levels)+1), level: k, at: k})
	}
	twins := make([]*twinTree, len(d.Properties))
	for range steps {
		i := r.IntN(len(d.Properties))
		real := w.copies[w.real].v
		for k := range twins {
			twins[k] = twinOf(real.Get(k))
		}
		_ = randomChange(real, twins, i, r)
		switch c := w.copies[r.IntN(3)]; r.IntN(16) {
		case 0:
			_ = real.Force(i)
		case 1:
			n := w.copies[w.real].h.Add(0, nil)
			w.tell(mirrorMessage{number: n})
		case 2:
			c.h.Trim(EventNumber(r.IntN(int(c.h.Last()) + 1)))
		case 3:
			if r.IntN(3) == 0 {
				if to := r.IntN(3); to != w.real {
					w.handover(to)
				}
			}
		case 4:
			if k := r.IntN(3); k != w.real {
				w.copies[k].queue = append(w.copies[k].queue, w.state())
			}
		case 5, 6, 7, 8:
			w.deliver(c, 1+r.IntN(6))
		case 9, 10, 11:
			w.look(w.watchers[r.IntN(3)])
		case 12:
			x := w.watchers[r.IntN(3)]
			x.at = r.IntN(3)
		case 13:
			x := w.watchers[r.IntN(3)]
			x.level = r.IntN(len(x.have))
		}
	}
	for k, c := range w.copies {
		w.deliver(c, 1<<30)
		for _, i := range d.Stream(GhostStream) {
			if want := w.copies[w.real].v; !Equal(c.v.Get(i), want.Get(i)) || c.v.Size(i) != want.Size(i) {
				t.Fatalf("copy %d: %s is %v, want %v", k, d.Properties[i].Name, c.v.Get(i), want.Get(i))
			}
		}
	}
	for _, x := range w.watchers {
		x.level = 0
		w.look(x)
		for _, i := range d.Stream(OtherClientStream) {
			if !Equal(x.v.Get(i), w.copies[w.real].v.Get(i)) {
				t.Fatalf("watcher: %s is %v, want %v", d.Properties[i].Name, x.v.Get(i), w.copies[w.real].v.Get(i))
			}
		}
	}
	return w.parts
}

// Wherever a watcher looks from, near or far, before and behind handovers and trims: it ends with
// what the real has.
func TestWatchersOfManyCopies(t *testing.T) {
	parts := 0
	for seed := range uint64(300) {
		parts += runMirrors(t, seed, 5, 200)
	}
	if parts < 500 {
		t.Errorf("only %d parts", parts)
	}
	t.Log(parts, "parts")
}

func FuzzWatchersOfManyCopies(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint16(100))
	f.Fuzz(func(t *testing.T, a, b uint64, steps uint16) { runMirrors(t, a, b, int(steps)%600) })
}
