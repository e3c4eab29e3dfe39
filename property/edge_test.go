package property

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

// A type may have properties that other clients see, and no client side: its changes are numbered,
// and no client form of them exists.
func TestPartsOfATypeWithoutClient(t *testing.T) {
	d := must(NewSchema(&Definition{Name: "Npc", HasCell: true, Properties: []*Property{
		{Name: "bag", Type: must(NewArray(Scalar(KindInt8), 0)), Flags: AllClients}}})).Types[0]
	v, h := NewValues(d, CellSide, nil), NewHistory(d)
	g, gh := NewValues(d, GhostSide, nil), NewHistory(d)
	v.SetHolder(holderFunc(func(c *Change) {
		n := h.Record(v, c)
		got, _, err := g.ApplyChange(v.AppendChange(nil, c), c.Index)
		if err := errors.Join(err, gh.Repeat(n, g, &got)); err != nil {
			t.Fatal(err)
		}
	}))
	if err := errors.Join(v.Set(0, List(Int(1), Int(2))), v.SetAt(0, []int{1}, Int(3)), v.Splice(0, nil, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if h.Last() != 3 || gh.Last() != 3 || !Equal(v.Get(0), g.Get(0)) {
		t.Errorf("real at %d, ghost at %d: %v, %v", h.Last(), gh.Last(), v.Get(0), g.Get(0))
	}
}

// Whatever is asked for as a key: a key of another kind is not in the map.
func TestMapGetOfAnotherKind(t *testing.T) {
	for _, key := range []Kind{KindString, KindInt8, KindUint8, KindBool} {
		d := must(NewSchema(&Definition{Name: "A", HasCell: true, Properties: []*Property{
			{Name: "m", Type: must(NewMap(Scalar(key), Scalar(KindInt8))), Flags: CellPrivate}}})).Types[0]
		v := NewValues(d, CellSide, nil)
		var s struct{ M Map[Value, int8] }
		BindFields(&s, v)
		k := Value{}
		switch key {
		case KindString:
			k = StringValue("a")
		case KindInt8:
			k = Int(-1)
		case KindUint8:
			k = Uint(1)
		case KindBool:
			k = BoolValue(true)
		}
		if err := s.M.Set(k, 7); err != nil {
			t.Fatal(err)
		}
		for _, other := range []Value{Int(5), Int(1), Uint(1<<64 - 1), Uint(1), BoolValue(true), StringValue("b"), List(Int(1)), {},
			MailboxValue(Mailbox{Entity: 1 << 40, At: netip.MustParseAddrPort("1.2.3.4:5")}), Vec3(Vector3{1, 2, 3}), Float(1)} {
			x, ok := s.M.Get(other)
			if want := Equal(other, k); ok != want || ok && x != 7 {
				t.Errorf("%v among keys %v: %v, %v", other, key, x, ok)
			}
		}
	}
}

// centsCodec is of the Go type int64, as poundsCodec is, and writes it in another way.
type centsCodec struct{ width int }

func (c centsCodec) Default() int64 { return 0 }
func (c centsCodec) Append(b []byte, x int64) ([]byte, error) {
	return append(b, fmt.Sprintf("%0*d", c.width, x)...), nil
}
func (c centsCodec) Read(b []byte) (x int64, rest []byte, err error) {
	if len(b) != c.width {
		return 0, b, fmt.Errorf("%d digits, want %d", len(b), c.width)
	}
	_, err = fmt.Sscan(strings.TrimLeft(string(b[:len(b)-1]), "0")+string(b[len(b)-1:]), &x)
	return x, nil, err
}
func (c centsCodec) StoreType() *DataType             { return Scalar(KindInt64) }
func (c centsCodec) ToStore(x int64) (Value, error)   { return Int(x), nil }
func (c centsCodec) FromStore(v Value) (int64, error) { return v.Int(), nil }

// Two user types may be of one Go type. A value of the one that is assigned to the other travels as
// the other does.
func TestUserTypesOfOneGoType(t *testing.T) {
	short, long := must(NewUserType("SHORT", centsCodec{3})), must(NewUserType("LONG", centsCodec{6}))
	d := must(NewSchema(&Definition{Name: "A", HasCell: true, Properties: []*Property{
		{Name: "long", Type: long, Flags: CellPublic}}})).Types[0]
	v := NewValues(d, CellSide, nil)
	if err := v.Set(0, must(UserValue(short, int64(42)))); errors.Is(err, ErrValue) {
		return // refused is fine, too
	} else if err != nil {
		t.Fatal(err)
	}
	g := NewValues(d, GhostSide, nil)
	if _, err := g.ReadStream(v.AppendStream(nil, GhostStream), GhostStream); err != nil {
		t.Fatalf("what the real holds, no ghost can read: %v", err)
	}
	if x, _ := UserOf[int64](g.Get(0)); x != 42 || !Equal(v.Get(0), g.Get(0)) {
		t.Errorf("the ghost has %d", x)
	}
}

// A zone means nothing on another host: a mailbox that has one is refused as a value, too, not
// silently another address.
func TestZoneOfAMailboxValueIsRefused(t *testing.T) {
	m := Mailbox{Entity: 1, At: netip.MustParseAddrPort("[fe80::1%eth0]:1")}
	if err := Scalar(KindMailbox).Check(MailboxValue(m)); !errors.Is(err, ErrValue) {
		t.Errorf("%v is taken for %v: %v", m, MailboxValue(m), err)
	}
}

// Two properties with one setter name: one of them would never be told.
type ambiguous struct{}

func (*ambiguous) OnSetPurseGold(*Change) {}

func TestSetterOfTwoProperties(t *testing.T) {
	d := must(NewSchema(&Definition{Name: "A", HasCell: true, Properties: []*Property{
		{Name: "PurseGold", Type: Scalar(KindInt8), Flags: CellPublic}, {Name: "purseGold", Type: Scalar(KindInt8), Flags: CellPublic}}})).Types[0]
	_, err := FindSetters(reflect.TypeFor[*ambiguous](), d, GhostSide)
	want := `*property.ambiguous.OnSetPurseGold: it could be the setter of "PurseGold" and of "purseGold"; rename one of the two properties`
	if fmt.Sprint(err) != want {
		t.Errorf("one setter for two properties: %v, want %s", err, want)
	}
}

// A holder that sets before it passes a change on tells of the newer change first: every copy ends
// with the older value. The contract of Holder forbids it; passed on first, all is well.
func TestHolderPassesOnBeforeItSets(t *testing.T) {
	d := must(NewSchema(&Definition{Name: "A", HasCell: true, Properties: []*Property{
		{Name: "hp", Type: Scalar(KindInt8), Flags: CellPublic}}})).Types[0]
	v, g := NewValues(d, CellSide, nil), NewValues(d, GhostSide, nil)
	v.SetHolder(holderFunc(func(c *Change) {
		if _, _, err := g.ApplyChange(v.AppendChange(nil, c), c.Index); err != nil {
			t.Fatal(err)
		}
		if c.New.Int() > 100 {
			_ = v.Set(0, Int(100))
		}
	}))
	_ = v.Set(0, Int(120))
	if v.Get(0).Int() != 100 || g.Get(0).Int() != 100 {
		t.Errorf("real %v, ghost %v", v.Get(0), g.Get(0))
	}
}

// The default travels like any value; one that cannot is a fault of the definition.
func TestDefaultTooLargeToTravel(t *testing.T) {
	for _, c := range []struct {
		size int
		f    Flags
		ok   bool
	}{{MaxClientProperty - 3, AllClients, true}, {MaxClientProperty, AllClients, false}, {MaxProperty - 3, CellPublic, true}, {MaxProperty, CellPublic, false}} {
		s, err := NewSchema(&Definition{Name: "A", HasCell: true, HasClient: true, Properties: []*Property{
			{Name: "p", Type: Scalar(KindBlob), Default: StringValue(strings.Repeat("x", c.size)), Flags: c.f}}})
		if err != nil {
			if c.ok {
				t.Error(err)
			}
			continue
		}
		if !c.ok {
			t.Errorf("a default of %d bytes with %v is taken", c.size, c.f)
		}
		v := NewValues(s.Types[0], CellSide, nil)
		if _, err := NewValues(s.Types[0], GhostSide, nil).ReadStream(v.AppendStream(nil, GhostStream), GhostStream); err != nil {
			t.Errorf("no ghost can be made: %v", err)
		}
	}
}

// Every handle that is not bound panics with the reason, whatever is called.
func TestUnboundHandlesPanic(t *testing.T) {
	var s struct {
		F Int32
		S Slice[int8]
		A Array[itemHandles]
		M Map[string, int8]
		C Custom[point]
		Y Any
		B Blob
		X MailboxField
		D Dict
	}
	for name, f := range map[string]func(){
		"Field.Get": func() { s.F.Get() }, "Field.Set": func() { s.F.Set(1) }, "Field.TrySet": func() { _ = s.F.TrySet(1) },
		"Slice.Len": func() { s.S.Len() }, "Slice.At": func() { s.S.At(0) }, "Slice.All": func() { s.S.All() }, "Slice.Values": func() { s.S.Values() },
		"Slice.Set": func() { _ = s.S.Set(nil) }, "Slice.SetAt": func() { _ = s.S.SetAt(0, 1) }, "Slice.Append": func() { _ = s.S.Append(1) },
		"Slice.Insert": func() { _ = s.S.Insert(0, 1) }, "Slice.Delete": func() { _ = s.S.Delete(0, 1) },
		"Array.Len": func() { s.A.Len() }, "Array.At": func() { s.A.At(0) }, "Array.Value": func() { s.A.Value() },
		"Array.All": func() {
			for range s.A.All() {
			}
		},
		"Array.SetValue": func() { _ = s.A.SetValue(Value{}) }, "Array.Append": func() { _ = s.A.Append(List()) },
		"Array.Insert": func() { _ = s.A.Insert(0) }, "Array.Delete": func() { _ = s.A.Delete(0, 0) },
		"Map.Len": func() { s.M.Len() }, "Map.Get": func() { s.M.Get("") }, "Map.All": func() { s.M.All() }, "Map.Set": func() { _ = s.M.Set("", 1) },
		"Map.Delete": func() { _ = s.M.Delete("") }, "Map.Value": func() { s.M.Value() }, "Map.SetValue": func() { _ = s.M.SetValue(Value{}) },
		"Custom.Get": func() { s.C.Get() }, "Custom.Set": func() { _ = s.C.Set(point{}) },
		"Any.Get": func() { s.Y.Get() }, "Any.Set": func() { _ = s.Y.Set(1) },
		"Blob.Get": func() { s.B.Get() }, "Blob.TrySet": func() { _ = s.B.TrySet(nil) },
		"Mailbox.Get": func() { s.X.Get() }, "Mailbox.Set": func() { _ = s.X.Set(Mailbox{}) },
		"Dict.IsNone": func() { s.D.IsNone() }, "Dict.Value": func() { s.D.Value() }, "Dict.SetValue": func() { _ = s.D.SetValue(Value{}) }, "Dict.Clear": func() { _ = s.D.Clear() },
	} {
		func() {
			defer func() {
				if r := recover(); r != unbound {
					t.Errorf("%s: %v", name, r)
				}
			}()
			f()
		}()
	}
}

// Handles of parts read what is at their path, after any change, stream or store.
func TestCellsFollowEverything(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 77))
		d := randomDefinition(r)
		v := NewValues(d, CellSide, nil)
		other := NewValues(d, CellSide, nil)
		twins := make([]*twinTree, len(d.Properties))
		otherTwins := make([]*twinTree, len(d.Properties))
		for i, p := range d.Properties {
			twins[i], otherTwins[i] = twinOf(p.Default), twinOf(p.Default)
		}
		type bound struct {
			c     *partView
			index int
		}
		var cells []bound
		for range 80 {
			i := r.IntN(len(d.Properties))
			_ = randomChange(v, twins, i, r)
			_ = randomChange(other, otherTwins, r.IntN(len(d.Properties)), r)
			if r.IntN(8) == 0 {
				if _, err := v.ReadStream(other.AppendStream(nil, CellStream), CellStream); err != nil {
					t.Fatal(err)
				}
				for i := range twins {
					twins[i] = twinOf(v.Get(i))
				}
			}
			path, typ, at := []int{}, d.Properties[i].Type, v.Get(i)
			for at.Len() > 0 && r.IntN(4) > 0 {
				k := r.IntN(at.Len())
				path, typ, at = append(path, k), typ.child(k), at.At(k)
			}
			if len(path) > 0 {
				cells = append(cells, bound{v.viewAt(i, path, typ), i})
			}
			for _, b := range cells {
				got, err := v.At(b.index, b.c.path...)
				if err != nil {
					got = b.c.t.def
				}
				if b.c.here != (err == nil) || !Equal(got, b.c.v) {
					t.Fatalf("seed %d: cell at %v %v is %v, want %v", seed, b.index, b.c.path, b.c.v, got)
				}
			}
		}
	}
}
