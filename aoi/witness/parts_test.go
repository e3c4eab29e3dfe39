package witness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// Properties of the Hoarder, a Walker with much in its bags.
const (
	bag    = extra + iota // numbers, everywhere
	shelf                 // lists of numbers, within 100 m
	vault                 // names and numbers, within 20 m
	latest                // numbers, everywhere; sent whole
)

func hoarder(t testing.TB) *property.Definition {
	t.Helper()
	u32, text := property.Scalar(property.KindUint32), property.Scalar(property.KindString)
	list, err1 := property.NewArray(u32, 0)
	lists, err2 := property.NewArray(list, 0)
	names, err3 := property.NewMap(text, u32)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	return testDefinition(t,
		&property.Property{Name: "bag", Type: list, Flags: property.AllClients},
		&property.Property{Name: "shelf", Type: lists, Flags: property.OtherClients, Detail: "MEDIUM"},
		&property.Property{Name: "vault", Type: names, Flags: property.AllClients, Detail: "NEAR"},
		&property.Property{Name: "latest", Type: list, Flags: property.AllClients, SendLatestOnly: true})
}

func numbers(n ...uint64) []property.Value {
	var list []property.Value
	for _, x := range n {
		list = append(list, property.Uint(x))
	}
	return list
}

// hoard is an entity with a long bag that the client has, at 50 m.
func hoard(t *testing.T) (*world, *presence.Entity) {
	wd := newWorldOf(t, hoarder(t), Config{}, 1, 0)
	e := newEntity(wd.def, 7, 1, 50, 0)
	must(t, e.Props.Load(bag, property.List(numbers(make([]uint64, 40)...)...)))
	wd.all, wd.within[e.ID] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	wd.tell("enter 7", "set name", "set weapon", "set hp", "set bag", "set shelf", "set latest")
	return wd, e
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPartsGoInOrderOfNumbers(t *testing.T) {
	wd, e := hoard(t)
	must(t, e.Props.SetAt(bag, []int{3}, property.Uint(9)))
	call(e, jump, 1)
	set(t, e, hp, 5)
	must(t, e.Props.Splice(bag, nil, 0, 1, numbers(4, 5)...))
	wd.tell("change 7", "part bag", "call 7 1", "change 7", "set hp", "part bag")
	wd.settle(1)
}

func TestPartsGiveWayToTheWhole(t *testing.T) {
	wd, e := hoard(t)
	for _, x := range []struct {
		what   string
		change func()
		want   string
	}{
		{"latest only", func() { must(t, e.Props.Splice(latest, nil, 0, 0, numbers(1, 2, 3, 4, 5)...)) }, "set latest"},
		{"set whole after a part", func() {
			must(t, e.Props.SetAt(bag, []int{0}, property.Uint(uint64(e.History.Next()))))
			must(t, e.Props.Set(bag, property.List(numbers(make([]uint64, 30)...)...)))
		}, "set bag"},
		{"a part of what was set whole", func() {
			must(t, e.Props.Set(bag, property.List(numbers(make([]uint64, 41)...)...))) // it has this length in no other case: the cases run in any order
			must(t, e.Props.SetAt(bag, []int{0}, property.Uint(1)))
		}, "set bag"},
		{"parts larger than the whole", func() {
			must(t, e.Props.Set(shelf, property.List(property.List())))
			wd.tell("change 7", "set shelf")
			for k := range 9 {
				must(t, e.Props.Splice(shelf, nil, 0, min(k, 1), property.List(numbers(uint64(k))...)))
			}
		}, "set shelf"},
		{"dropped from the history", func() {
			for k := range property.MaxParts + 1 {
				must(t, e.Props.SetAt(bag, []int{1}, property.Uint(uint64(100+k))))
			}
		}, "set bag"},
	} {
		x.change()
		b, _ := wd.w.Update(wd.watcher, wd.tick, nil, false)
		wd.tick++
		wd.client.bundle(b)
		if got := wd.client.log; len(got) != 2 || got[1] != x.want {
			t.Errorf("%s: the client was told %q, want %q", x.what, got, x.want)
		}
		wd.settle(1)
	}
}

// A client that never had a property is sent all of it; one that comes nearer again is sent what
// has changed of it since.
func TestPartsByLevel(t *testing.T) {
	wd, e := hoard(t)
	at := func(x float32) { wd.watcher.Position.X = 50 - x }
	var keys []property.Value
	for k := range 20 {
		keys = append(keys, property.StringValue(fmt.Sprintf("key %02d", k)), property.Uint(1))
	}
	must(t, e.Props.Splice(vault, nil, 0, 0, keys...))
	wd.tell()
	at(10)
	wd.tell("change 7", "set badge", "set vault")
	at(80)
	must(t, e.Props.SetAt(vault, []int{3}, property.Uint(2)))
	wd.tell()
	at(10)
	wd.tell("change 7", "part vault")
	wd.settle(1)
}

// copies are a real and its ghosts on other cells, which hear of changes late.
type copies struct {
	t     testing.TB
	rng   *rand.Rand
	real  *presence.Entity
	ghost [2]*presence.Entity
	queue [2][]said
}

type said struct {
	number  property.EventNumber
	event   bool
	index   int
	payload []byte
}

func (c *copies) PropertyChanged(p *property.Change) {
	n := c.real.History.Record(c.real.Props, p)
	if n > 0 {
		c.say(said{n, false, p.Index, c.real.Props.AppendChange(nil, p)})
	}
}

func (c *copies) say(s said) {
	for k := range c.queue {
		c.queue[k] = append(c.queue[k], s)
	}
}

// hear makes a ghost take the oldest change that it has not heard.
func (c *copies) hear(k int) {
	if len(c.queue[k]) == 0 {
		return
	}
	s, g := c.queue[k][0], c.ghost[k]
	c.queue[k] = c.queue[k][1:]
	if s.event {
		must(c.t, g.History.ApplyEvent(s.number, s.index, s.payload))
		return
	}
	change, rest, err := g.Props.ApplyChange(s.payload, s.index)
	if err != nil || len(rest) > 0 {
		c.t.Fatal(err, rest)
	}
	must(c.t, g.History.Repeat(s.number, g.Props, &change))
}

// renew gives a ghost all that the real has, as at a new hop.
func (c *copies) renew(k int) {
	g := ghostOf(c.t, c.real)
	if c.ghost[k] != nil && c.rng.IntN(2) == 0 {
		// The record stays, because watchers hold it.
		c.ghost[k].Props, *c.ghost[k].History = g.Props, *g.History
	} else {
		c.ghost[k] = g
	}
	c.queue[k] = nil
}

// change changes something of the real.
func (c *copies) change() {
	p, rng := c.real.Props, c.rng
	length := func(i int, path ...int) int {
		v, err := p.At(i, path...)
		must(c.t, err)
		return v.Len()
	}
	value := property.Uint(rng.Uint64N(1000))
	switch rng.IntN(9) {
	case 0:
		n := c.real.History.Next()
		c.real.History.Add(jump, []byte{1, 0, 0, 0})
		c.say(said{n, true, jump, []byte{1, 0, 0, 0}})
	case 1:
		set(c.t, c.real, hp, rng.Uint64N(1000))
	case 2:
		i := []int{bag, latest}[rng.IntN(2)]
		if n := length(i); n > 0 {
			must(c.t, p.SetAt(i, []int{rng.IntN(n)}, value))
		}
	case 3:
		i := []int{bag, latest}[rng.IntN(2)]
		from := rng.IntN(length(i) + 1)
		must(c.t, p.Splice(i, nil, from, min(length(i), from+rng.IntN(3)), numbers(make([]uint64, rng.IntN(4))...)...))
	case 4:
		from := rng.IntN(length(shelf) + 1)
		must(c.t, p.Splice(shelf, nil, from, min(length(shelf), from+rng.IntN(2)), property.List(numbers(1, 2, 3)...)))
	case 5, 6:
		if n := length(shelf); n > 0 {
			row := rng.IntN(n)
			must(c.t, p.Splice(shelf, []int{row}, 0, min(1, length(shelf, row)), value, value))
		}
	case 7:
		if n := length(vault) / 2; n > 0 && rng.IntN(3) > 0 {
			must(c.t, p.SetAt(vault, []int{2*rng.IntN(n) + 1}, value))
			return
		}
		last := length(vault)
		must(c.t, p.Splice(vault, nil, last, last, property.StringValue(fmt.Sprintf("%08d", c.real.History.Last())), value))
	case 8:
		if rng.IntN(10) == 0 {
			must(c.t, p.Set([]int{bag, shelf}[rng.IntN(2)], property.List()))
		}
	}
}

// This is the invariant of the package doc: a watcher goes to and fro between a real's record and
// ghosts' records that are behind, and the parts reach its client once each and in order. The
// client of the test refuses a part that does not fit, and is compared.
func TestPartsAcrossHandovers(t *testing.T) {
	parts := 0
	for seed := range uint64(60) {
		wd := newWorldOf(t, hoarder(t), Config{BytesPerTick: 300}, seed, 0)
		e := newEntity(wd.def, 1, 1, 50, 0)
		c := &copies{t: t, rng: wd.rng, real: e}
		e.Props.SetHolder(c)
		c.renew(0)
		c.renew(1)
		wd.within[1] = true
		wd.all = []*presence.Entity{e}
		at := e // the copy on the watcher's cell
		wd.w.Enter(wd.subject(at))
		for step := range 600 {
			switch wd.rng.IntN(12) {
			case 0, 1, 2, 3:
				c.change()
			case 4, 5, 6:
				c.hear(wd.rng.IntN(2))
			case 7:
				if k := wd.rng.IntN(2); wd.rng.IntN(8) == 0 {
					was := c.ghost[k]
					c.renew(k)
					if at == was && at != c.ghost[k] {
						at = c.ghost[k]
						wd.w.Enter(wd.subject(at)) // the record was replaced
					}
				}
			case 8:
				wd.watcher.Position.X = []float32{45, 40, 0, -30, -80}[wd.rng.IntN(5)]
			case 9:
				e.History.Trim(property.EventNumber(wd.rng.Uint64N(uint64(e.History.Last()) + 1)))
			case 10:
				if wd.rng.IntN(3) > 0 {
					continue
				}
				at = []*presence.Entity{e, c.ghost[0], c.ghost[1]}[wd.rng.IntN(3)]
				wd.handTo(at)
			default:
				wd.update(wd.rng.IntN(10) == 0)
			}
			if step%50 < 49 {
				continue
			}
			for k := range c.queue {
				for len(c.queue[k]) > 0 {
					c.hear(k)
				}
			}
			wd.all = []*presence.Entity{at}
			wd.settle(100)
			if got, want := at.Props.AppendStream(nil, property.OtherClientStream), e.Props.AppendStream(nil, property.OtherClientStream); !slices.Equal(got, want) {
				t.Fatalf("seed %d: a ghost differs from its real", seed)
			}
		}
		parts += wd.client.parts
	}
	if parts < 1000 {
		t.Errorf("only %d parts were sent: the test shows little", parts)
	}
}

// travel takes the witness to another cell, where nobody has entered yet.
func (wd *world) travel() {
	next := New(wd.w.cfg)
	r := codec.NewReader(wd.w.Append(nil))
	next.Read(&r)
	must(wd.t, r.Close())
	wd.w = next
}

// handTo moves the witness to a cell that has another copy of the one entity.
func (wd *world) handTo(e *presence.Entity) {
	wd.travel()
	for range wd.rng.IntN(RelinkGrace) {
		wd.update(false)
	}
	wd.w.Enter(wd.subject(e))
}
