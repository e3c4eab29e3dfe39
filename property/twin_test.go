package property

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// twinTree is the twin of a value: mutable, nothing shared, nothing clever.
type twinTree struct {
	leaf Value
	list []*twinTree
	flat bool
}

func twinOf(v Value) *twinTree {
	if v.kind != isList {
		return &twinTree{leaf: v, flat: true}
	}
	n := &twinTree{}
	for i := range v.Len() {
		n.list = append(n.list, twinOf(v.At(i)))
	}
	return n
}

func (n *twinTree) value() Value {
	if n.flat {
		return n.leaf
	}
	list := make([]Value, 0, len(n.list))
	for _, c := range n.list {
		list = append(list, c.value())
	}
	return List(list...)
}

func (n *twinTree) at(path []int) *twinTree {
	for _, k := range path {
		n = n.list[k]
	}
	return n
}

// randomType returns a type that nests up to depth.
func randomType(r *rand.Rand, depth int, mailbox bool) *DataType {
	if depth == 0 || r.IntN(3) == 0 {
		for {
			if k := KindInt8 + Kind(r.IntN(int(KindUser))); scalars[k] != nil && (k != KindMailbox || mailbox) {
				return Scalar(k)
			}
		}
	}
	elem := randomType(r, depth-1, mailbox)
	switch r.IntN(5) {
	case 0:
		return must(NewArray(elem, 0))
	case 1:
		return must(NewArray(elem, 1+r.IntN(3)))
	case 2:
		return must(NewTuple(elem, r.IntN(3)))
	case 3:
		keys := []Kind{KindInt8, KindUint16, KindString, KindEntityID, KindBool, KindUnicodeString}
		return must(NewMap(Scalar(keys[r.IntN(len(keys))]), elem))
	}
	fields := []DictField{{Name: "a", Type: elem}}
	for i := range r.IntN(4) {
		fields = append(fields, DictField{Name: "f" + string(rune('a'+i)), Type: randomType(r, depth-1, mailbox)})
	}
	return must(NewFixedDict(r.IntN(4) == 0, fields...))
}

func randomDefinition(r *rand.Rand) *Definition {
	d := &Definition{Name: "Random", HasCell: true, HasClient: true, ClientMethods: []*Method{{Name: "say"}}}
	flags := []Flags{CellPrivate, CellPublic, OtherClients, OwnClient, CellPublicAndOwn, AllClients, AllClients, AllClients}
	for i := range 1 + r.IntN(9) {
		f := flags[r.IntN(len(flags))]
		d.Properties = append(d.Properties, &Property{Name: fmt.Sprint("p", i), Flags: f, SendLatestOnly: r.IntN(6) == 0,
			Type: randomType(r, 3, f&(OtherClient|OwnClient) == 0)})
	}
	return must(NewSchema(d)).Types[0]
}

// randomChange changes v and its twin alike, or nothing. It reports whether it made a change.
func randomChange(v *Values, twins []*twinTree, i int, r *rand.Rand) error {
	t, path := v.Definition().Properties[i].Type, []int{}
	at := v.Get(i)
	for t.kind != KindTuple && at.Len() > 0 && r.IntN(4) > 0 {
		k := r.IntN(at.Len())
		if t.kind == KindMap {
			k |= 1
		}
		path, at, t = append(path, k), at.At(k), t.child(k)
	}
	node := twins[i].at(path)
	if (t.kind == KindArray && t.size == 0 || t.kind == KindMap) && r.IntN(3) > 0 {
		start := r.IntN(at.Len() + 1)
		end := start + r.IntN(at.Len()-start+1)
		var come []Value
		for range r.IntN(4) {
			if t.kind == KindArray {
				come = append(come, randomValue(t.elem, r))
			}
		}
		if t.kind == KindMap {
			start, end = start&^1, end&^1
			if r.IntN(2) == 0 {
				key := must(t.key.Fit(randomValue(t.key, r)))
				list := at.list()
				start = 0
				for start < len(list) && compareKeys(&list[start], &key) < 0 {
					start += 2
				}
				if end = start; start < len(list) && Equal(list[start], key) {
					end += 2
				}
				come = []Value{key, randomValue(t.elem, r)}
			}
		}
		if err := v.Splice(i, path, start, end, come...); err != nil {
			return err
		}
		var fresh []*twinTree
		for k, e := range come {
			fresh = append(fresh, twinOf(must(t.child(k).Fit(e))))
		}
		node.list = slices.Replace(node.list, start, end, fresh...)
		return nil
	}
	val := randomValue(t, r)
	if err := v.SetAt(i, path, val); err != nil {
		return err
	}
	*node = *twinOf(must(t.Fit(val)))
	return nil
}

// copyOfReal is a real with a ghost, its own client, and another's client that watches the ghost.
type copyOfReal struct {
	t           testing.TB
	real, ghost *Values
	own, other  *Values
	history     *History
	ghostly     *History
	known       EventNumber
	partsSent   int
}

func (w *copyOfReal) PropertyChanged(c *Change) {
	p := w.real.def.Properties[c.Index]
	n := w.history.Record(w.real, c)
	if p.Flags&Ghosted != 0 {
		b := append(w.real.AppendChange(nil, c), 9)
		got, rest, err := w.ghost.ApplyChange(b, c.Index)
		w.same(c, &got, rest, err)
		if n != 0 {
			if err := w.ghostly.Repeat(n, w.ghost, &got); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	if p.Flags&OwnClient != 0 {
		got, rest, err := w.own.ApplyClientChange(append(w.real.AppendClientChange(nil, c), 9))
		w.same(c, &got, rest, err)
	}
}

func (w *copyOfReal) same(c, got *Change, rest []byte, err error) {
	w.t.Helper()
	if err != nil || !bytes.Equal(rest, []byte{9}) {
		w.t.Fatalf("%+v: rest %v, %v", c, rest, err)
	}
	if got.Index != c.Index || got.Op != c.Op || !slices.Equal(got.Path, c.Path) || got.Start != c.Start || got.End != c.End ||
		!Equal(got.Old, c.Old) || !Equal(got.New, c.New) {
		w.t.Fatalf("applied %+v\nwas     %+v", got, c)
	}
}

// catchUp sends the watcher of the ghost what it is owed, in the order of the numbers.
func (w *copyOfReal) catchUp() {
	type message struct {
		number EventNumber
		bytes  []byte
	}
	var owed []message
	for _, i := range w.ghost.def.Stream(OtherClientStream) {
		if w.ghostly.Stamp(i) <= w.known {
			continue
		}
		if parts, ok := w.ghostly.Parts(i, w.known, w.ghost.Size(i)); ok {
			for p := range parts {
				owed = append(owed, message{p.Number, p.Client})
				w.partsSent++
			}
			continue
		}
		owed = append(owed, message{w.ghostly.Stamp(i), w.ghost.AppendClientValue(nil, i)})
	}
	slices.SortFunc(owed, func(a, b message) int { return cmp.Compare(a.number, b.number) })
	for _, m := range owed {
		if _, rest, err := w.other.ApplyClientChange(m.bytes); err != nil || len(rest) > 0 {
			w.t.Fatalf("change %d: rest %v, %v", m.number, rest, err)
		}
	}
	w.known = w.ghostly.Last()
}

// runTwin makes random changes to a random definition's values, and compares all copies with a
// naive twin.
func runTwin(t testing.TB, seed1, seed2 uint64, steps int) (partsSent int) {
	r := rand.New(rand.NewPCG(seed1, seed2))
	d := randomDefinition(r)
	w := &copyOfReal{t: t, ghost: NewValues(d, GhostSide, fail{t}), own: NewValues(d, OwnClientSide, fail{t}),
		other: NewValues(d, OtherClientSide, fail{t}), history: NewHistory(d), ghostly: NewHistory(d)}
	w.real = NewValues(d, CellSide, w)
	twins := make([]*twinTree, len(d.Properties))
	for i, p := range d.Properties {
		twins[i] = twinOf(p.Default)
	}
	for range steps {
		i := r.IntN(len(d.Properties))
		before := w.real.Get(i)
		if err := randomChange(w.real, twins, i, r); err != nil && !errors.Is(err, ErrPath) {
			t.Fatal(err)
		} else if err != nil && !Equal(before, w.real.Get(i)) {
			t.Fatalf("%v, but %v became %v", err, before, w.real.Get(i))
		}
		if want := twins[i].value(); !Equal(w.real.Get(i), want) {
			t.Fatalf("%v: %v\nwant %v", d.Properties[i].Type, w.real.Get(i), want)
		}
		if got, want := w.real.Size(i), len(w.real.AppendValue(nil, i)); got != want {
			t.Fatalf("%v: size %d of %d bytes", d.Properties[i].Type, got, want)
		}
		switch r.IntN(12) {
		case 0, 1:
			w.catchUp()
		case 2:
			w.ghostly.Trim(w.known)
		case 3:
			if r.IntN(4) == 0 {
				w.history.Add(0, nil) // an event in between; the ghost repeats it
				if err := w.ghostly.ApplyEvent(w.history.Last(), 0, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	w.catchUp()
	for _, v := range []*Values{w.ghost, w.own, w.other} {
		for _, i := range d.Held(v.Side()) {
			if !Equal(v.Get(i), w.real.Get(i)) {
				t.Fatalf("%v: %s %v is %v, want %v", v.Side(), d.Properties[i].Name, d.Properties[i].Type, v.Get(i), w.real.Get(i))
			}
			if v.Size(i) != w.real.Size(i) {
				t.Fatalf("%v: size %d, want %d", v.Side(), v.Size(i), w.real.Size(i))
			}
		}
	}
	return w.partsSent
}

// Whatever changes, in whole or in part, the ghost, the own client and a client that watches the
// ghost end equal to the real, and the real equal to a naive twin; each is told the same change.
func TestCopiesFollowTheTwin(t *testing.T) {
	parts := 0
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { parts += runTwin(t, seed, 1, 150) })
	}
	if parts < 1000 {
		t.Errorf("only %d changes of parts reached watchers", parts)
	}
}

func FuzzCopiesFollowTheTwin(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint16(50))
	f.Fuzz(func(t *testing.T, a, b uint64, steps uint16) { runTwin(t, a, b, int(steps)%400) })
}
