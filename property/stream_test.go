package property

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// everyFlag is a type with a property of every legal flag and every data type, in mixed order.
func everyFlag(t testing.TB) *Definition {
	t.Helper()
	d := &Definition{Name: "Everything", HasCell: true, HasBase: true, HasClient: true}
	for i, typ := range allTypes() {
		for _, f := range flagNames[:9] {
			if typ.hasMailbox() && f.flags&(OwnClient|OtherClient) != 0 {
				continue
			}
			d.Properties = append(d.Properties, &Property{Name: fmt.Sprintf("p%d_%s", i, f.name), Type: typ, Flags: f.flags, Persistent: i%2 == 0, ExposedForReplay: i%2 == 0})
		}
	}
	d.ClientMethods = []*Method{{Name: "jump"}, {Name: "say", SendLatestOnly: true}, {Name: "blink", Unreliable: true}}
	s, err := NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

// The table of seed S4 §6.1.6.3 and of the stream domains, written out by hand: which flags travel
// in which stream, and which sides hold them.
func TestFlagsByDomainAndSide(t *testing.T) {
	type row struct{ streams, persistent, replayed, sides string }
	// streams: g ghost, c cell, b base, o other client, w own client of the cell, W own client of
	// the base, s store of the cell, S of the base, r replay of the cell, R of the base; in the
	// second and third column those that being Persistent, and exposed for replay, adds sides: c
	// cell, b base, w own client, o other client, g ghost, x replay, which also holds what is exposed for it
	table := map[string]row{
		"CELL_PRIVATE":        {"c", "s", "r", "c"},
		"CELL_PUBLIC":         {"gc", "s", "r", "cg"},
		"OTHER_CLIENTS":       {"gcor", "s", "", "cogx"},
		"OWN_CLIENT":          {"cw", "s", "r", "cw"},
		"CELL_PUBLIC_AND_OWN": {"gcw", "s", "r", "cwg"},
		"ALL_CLIENTS":         {"gcowr", "s", "", "cwogx"},
		"BASE":                {"b", "S", "R", "b"},
		"BASE_AND_CLIENT":     {"bW", "S", "R", "bw"},
		"EDITOR_ONLY":         {"", "", "", ""},
	}
	for n := range 8 * 9 {
		f, hasClient, persistent, replayed := flagNames[n%9], n/9&1 == 0, n/9&2 != 0, n/9&4 != 0
		s, err := NewSchema(&Definition{Name: "A", HasCell: true, HasBase: true, HasClient: hasClient,
			Properties: []*Property{{Name: "p", Type: Scalar(KindInt8), Flags: f.flags, Persistent: persistent, ExposedForReplay: replayed}}})
		if err != nil {
			t.Fatal(err)
		}
		d, streams, held := s.Types[0], "", ""
		for dom := range domains {
			if len(d.Stream(dom)) == 1 {
				streams += string("gcbowWsSrR"[dom])
			}
		}
		for side := range sides {
			if NewValues(d, side, nil).Holds(0) {
				held += string("cbwogx"[side])
			}
		}
		want := table[f.name]
		if persistent {
			want.streams += want.persistent
		}
		if replayed {
			want.streams += want.replayed
		}
		if !hasClient {
			want.streams = string(slices.DeleteFunc([]byte(want.streams), func(c byte) bool { return c == 'o' || c == 'w' || c == 'W' }))
			want.sides = string(slices.DeleteFunc([]byte(want.sides), func(c byte) bool { return c == 'o' || c == 'w' || c == 'x' }))
		}
		if p := d.Properties[0]; p.ExposedForReplay && p.Flags&EditorOnly == 0 && !strings.Contains(want.sides, "x") {
			want.sides += "x"
		}
		if letters(streams) != letters(want.streams) || held != want.sides {
			t.Errorf("%s, client side %v, persistent %v, replayed %v: streams %q, sides %q; want %v",
				f.name, hasClient, persistent, replayed, streams, held, want)
		}
	}
}

func letters(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

// Every stream comes back equal on every side that carries it, and touches nothing else.
func TestStreams(t *testing.T) {
	const seed = 4
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	d := everyFlag(t)
	for dom := range domains {
		carriers := 0
		for from := range sides {
			for to := range sides {
				if !from.Carries(dom) || !to.Carries(dom) {
					continue
				}
				carriers++
				a, b := NewValues(d, from, nil), NewValues(d, to, fail{t})
				for _, i := range d.Held(from) {
					if err := a.Load(i, randomValue(d.Properties[i].Type, r)); err != nil {
						t.Fatal(err)
					}
				}
				stream := a.AppendStream(nil, dom)
				rest, err := b.ReadStream(append(stream, 1, 2), dom)
				if err != nil || len(rest) != 2 {
					t.Fatalf("%v: %v, %d left", dom, err, len(rest))
				}
				for i, p := range d.Properties {
					want := Value{}
					if b.Holds(i) {
						want = p.Default
					}
					if dom.takes(p) {
						want = a.Get(i)
					}
					if !Equal(b.Get(i), want) {
						t.Fatalf("%v, %v → %v: %s is %v, want %v", dom, from, to, p.Name, b.Get(i), want)
					}
				}
				// All or nothing: one byte short changes nothing.
				c := NewValues(d, to, nil)
				before := slices.Clone(c.vals)
				if rest, err := c.ReadStream(stream[:len(stream)-1], dom); !errors.Is(err, ErrTruncated) || len(rest) != len(stream)-1 {
					t.Fatalf("%v: %v", dom, err)
				}
				if !slices.EqualFunc(before, c.vals, Equal) {
					t.Fatalf("%v: a broken stream changed values", dom)
				}
			}
		}
		if carriers == 0 {
			t.Errorf("nobody carries the %v", dom)
		}
	}
}

// fail is a holder that must not be told anything.
type fail struct{ t testing.TB }

func (f fail) PropertyChanged(c *Change) { f.t.Helper(); f.t.Errorf("told of property %d", c.Index) }

// recorder notes what it is told, and what it finds then.
type recorder struct {
	v    *Values
	told []string
}

func (r *recorder) PropertyChanged(c *Change) {
	r.told = append(r.told, fmt.Sprint(r.v.Definition().Properties[c.Index].Name, "=", r.v.Get(c.Index)))
}

func TestValuesSet(t *testing.T) {
	s := mustLoad(t, goodTree)
	d := s.Type("Avatar")
	health, name, slots := d.Property("health").Index, d.Property("name").Index, d.Property("slots").Index
	rec := &recorder{}
	v := NewValues(d, CellSide, nil)
	rec.v = v
	v.SetHolder(rec)
	steps := []error{
		v.Set(health, Int(50)), // the default
		v.Set(health, Uint(60)),
		v.Set(health, Int(60)),
		v.Load(health, Int(70)),
		v.Set(slots, v.Get(slots)),
		v.Set(slots, List(List(Int(1), List()), List(Int(7), List(StringValue("x"))))),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	if want := []string{"health=60", `slots=[[1 []] [7 ["x"]]]`}; !slices.Equal(rec.told, want) {
		t.Errorf("told %v, want %v", rec.told, want)
	}
	for _, c := range []struct {
		err  error
		want error
		text string
	}{
		{v.Set(health, Int(1<<20)), ErrValue, "property Avatar.health: property: value does not fit its type: 1048576 is not a INT16"},
		{v.Set(name, StringValue("x")), ErrSide, "property: not held by this side: property Avatar.name (BASE_AND_CLIENT), side cell"},
		{v.Set(-1, Int(1)), ErrIndex, "property: no such property: index -1 of Avatar"},
		{v.Load(len(d.Properties), Int(1)), ErrIndex, "property: no such property: index 9 of Avatar"},
	} {
		if !errors.Is(c.err, c.want) || c.err.Error() != c.text {
			t.Errorf("%v, want %s", c.err, c.text)
		}
	}
	if v.Get(health).Int() != 70 || !v.Get(name).IsNone() || !v.Get(-1).IsNone() || !v.Get(99).IsNone() || len(rec.told) != 2 {
		t.Error("a refused value left something behind")
	}
	if v.Side() != CellSide || v.Holds(name) || v.Holds(-1) {
		t.Error("side")
	}
	got, rest, err := d.ReadValue(v.AppendValue(nil, health), health)
	if err != nil || got.Int() != 70 || len(rest) != 0 {
		t.Error(got, rest, err)
	}
	if _, _, err := d.ReadValue(nil, 99); !errors.Is(err, ErrIndex) {
		t.Error(err)
	}
	if _, err := NewValues(d, GhostSide, nil).ReadStream(nil, CellStream); !errors.Is(err, ErrSide) {
		t.Error(err)
	}
}

// Wrong use by the library's own code panics with a reason.
func TestPanics(t *testing.T) {
	d := everyFlag(t)
	var loose Int8
	for name, f := range map[string]func(){
		"values of a loose definition":  func() { NewValues(&Definition{Name: "A"}, CellSide, nil) },
		"history of a loose definition": func() { NewHistory(&Definition{Name: "A"}) },
		"stream of another side":        func() { NewValues(d, GhostSide, nil).AppendStream(nil, CellStream) },
		"value of another side":         func() { NewValues(d, BaseSide, nil).AppendValue(nil, 0) },
		"unknown method":                func() { NewHistory(d).Add(9, nil) },
		"scalar of a composite":         func() { Scalar(KindArray) },
		"list that does not fit":        func() { must(NewArray(Scalar(KindInt8), 2)).AppendTo(nil, List()) },
		"unbound get":                   func() { loose.Get() },
		"unbound set":                   func() { loose.Set(1) },
		"bind of no pointer":            func() { BindFields(struct{}{}, NewValues(d, CellSide, nil)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

func FuzzReadStream(f *testing.F) {
	d := everyFlag(f)
	r := rand.New(rand.NewPCG(5, 0))
	for dom := range domains {
		for side := range sides {
			if side.Carries(dom) {
				v := NewValues(d, side, nil)
				f.Add(uint8(dom), uint8(side), v.AppendStream(nil, dom))
				for _, i := range d.Held(side) {
					_ = v.Set(i, randomValue(d.Properties[i].Type, r))
				}
				f.Add(uint8(dom), uint8(side), v.AppendStream(nil, dom))
			}
		}
	}
	f.Fuzz(func(t *testing.T, dom, side uint8, b []byte) {
		v := NewValues(d, Side(side)%sides, fail{t})
		before := slices.Clone(v.vals)
		rest, err := v.ReadStream(b, Stream(dom))
		if err != nil {
			if len(rest) != len(b) || !slices.EqualFunc(before, v.vals, Equal) {
				t.Fatal("an error changed something")
			}
			return
		}
		again := v.AppendStream(nil, Stream(dom))
		if len(again) != len(b)-len(rest) {
			t.Fatalf("%d bytes became %d", len(b)-len(rest), len(again))
		}
		w := NewValues(d, Side(side)%sides, nil)
		if _, err := w.ReadStream(again, Stream(dom)); err != nil || !slices.EqualFunc(w.vals, v.vals, Equal) {
			t.Fatalf("did not come back: %v", err)
		}
	})
}
