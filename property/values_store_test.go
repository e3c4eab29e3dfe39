package property

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// storedDefinition is a type with properties of every flag, persistent and not.
func storedDefinition(t testing.TB, edit func(*Definition)) *Definition {
	t.Helper()
	record := must(NewFixedDict(false, DictField{Name: "id", Type: Scalar(KindUint16)}, DictField{Name: "note", Type: Scalar(KindString)}))
	d := &Definition{Name: "Avatar", HasCell: true, HasBase: true, HasClient: true, Properties: []*Property{
		{Name: "health", Type: Scalar(KindInt16), Flags: AllClients, Persistent: true, Default: Int(50)},
		{Name: "gold", Type: Scalar(KindUint32), Flags: BaseAndClient, Persistent: true},
		{Name: "mood", Type: Scalar(KindInt8), Flags: CellPrivate},
		{Name: "bag", Type: must(NewArray(record, 0)), Flags: CellPrivate, Persistent: true},
		{Name: "account", Type: Scalar(KindString), Flags: Base, Persistent: true},
		{Name: "colour", Type: Scalar(KindInt8), Flags: EditorOnly, Persistent: true},
	}}
	if edit != nil {
		edit(d)
	}
	s, err := NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

func set(t testing.TB, v *Values, name string, val Value) {
	t.Helper()
	if err := v.Set(v.Definition().Property(name).Index, val); err != nil {
		t.Fatal(err)
	}
}

func TestValuesStore(t *testing.T) {
	d := storedDefinition(t, nil)
	cell, base := NewValues(d, CellSide, nil), NewValues(d, BaseSide, nil)
	set(t, cell, "health", Int(-3))
	set(t, cell, "mood", Int(7))
	set(t, cell, "bag", List(List(Uint(9), StringValue("x"))))
	set(t, base, "account", StringValue("ada"))
	for _, c := range []struct {
		from *Values
		dom  Stream
		want string
	}{
		{cell, CellStoreStream, "\x82\xa6health\xfd\xa3bag\x91\x82\xa2id\x09\xa4note\xa1x"},
		{base, BaseStoreStream, "\x82\xa4gold\x00\xa7account\xa3ada"},
	} {
		b, err := c.from.AppendStore([]byte("x"), c.dom)
		if err != nil || string(b) != "x"+c.want {
			t.Fatalf("%q, %v; want %q", b, err, c.want)
		}
		to := NewValues(d, c.from.Side(), fail{t})
		unknown, rest, err := to.ReadStore(append(b[1:], 0xc1), c.dom)
		if err != nil || len(unknown) != 0 || len(rest) != 1 {
			t.Fatalf("%v, %x, %v", unknown, rest, err)
		}
		for _, i := range d.Held(c.from.Side()) {
			want := c.from.Get(i)
			if !d.Properties[i].Persistent {
				want = d.Properties[i].Default
			}
			if !Equal(to.Get(i), want) {
				t.Errorf("%s is %v, want %v", d.Properties[i].Name, to.Get(i), want)
			}
		}
	}
}

func TestValuesStoreSides(t *testing.T) {
	d := storedDefinition(t, nil)
	for side := range sides {
		for _, dom := range []Stream{CellStoreStream, BaseStoreStream, GhostStream, CellStream, BaseStream} {
			v := NewValues(d, side, nil)
			ok := side == CellSide && dom == CellStoreStream || side == BaseSide && dom == BaseStoreStream
			if b, err := v.AppendStore([]byte("x"), dom); ok != (err == nil) || !ok && (!errors.Is(err, ErrSide) || string(b) != "x") {
				t.Errorf("%v, %v: %v", side, dom, err)
			}
			if _, _, err := v.ReadStore([]byte("\x80"), dom); ok != (err == nil) || !ok && !errors.Is(err, ErrSide) {
				t.Errorf("%v, %v: %v", side, dom, err)
			}
		}
	}
}

// What ReadStore refuses because a type has changed, SalvageStore leaves out and tells.
func TestSalvageStore(t *testing.T) {
	old := NewValues(storedDefinition(t, nil), CellSide, nil)
	set(t, old, "health", Int(-3))
	set(t, old, "bag", List(List(Uint(9), StringValue("x"))))
	b, err := old.AppendStore(nil, CellStoreStream)
	if err != nil {
		t.Fatal(err)
	}
	d := storedDefinition(t, func(d *Definition) {
		d.Properties[0].Type, d.Properties[0].Default = Scalar(KindUint8), Uint(7)
	})
	v := NewValues(d, CellSide, nil)
	notices, rest, err := v.SalvageStore(append(b, 0xc1), CellStoreStream)
	want := []string{"property Avatar.health: property: value does not fit its type: -3 is not a UINT8"}
	if err != nil || len(rest) != 1 || !slices.Equal(notices, want) {
		t.Fatalf("%q, %x, %v", notices, rest, err)
	}
	if h, bag := v.Get(d.Property("health").Index), v.Get(d.Property("bag").Index); !Equal(h, Uint(7)) || bag.Len() != 1 {
		t.Errorf("health %v, bag %v", h, bag)
	}
	d = storedDefinition(t, func(d *Definition) { d.Properties = d.Properties[1:] })
	notices, _, err = NewValues(d, CellSide, nil).SalvageStore(b, CellStoreStream)
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "Avatar.health: it is stored") {
		t.Errorf("%q, %v", notices, err)
	}
	for n := range b {
		if _, _, err := v.SalvageStore(b[:n], CellStoreStream); err == nil {
			t.Errorf("%d of %d bytes are taken", n, len(b))
		}
	}
	if _, _, err := v.SalvageStore([]byte("\x82\xa3bag\x01\xa3bag\x90"), CellStoreStream); !errors.Is(err, ErrValue) {
		t.Errorf("a property that comes twice: %v", err)
	}
	if _, _, err := v.SalvageStore(b, BaseStoreStream); !errors.Is(err, ErrSide) {
		t.Error(err)
	}
}

// An older entity is read under an edited definition: what is missing takes the default, what is
// unknown is told.
func TestValuesStoreTolerates(t *testing.T) {
	old := storedDefinition(t, nil)
	v := NewValues(old, CellSide, nil)
	set(t, v, "health", Int(-3))
	set(t, v, "bag", List(List(Uint(9), StringValue("x"))))
	b, err := v.AppendStore(nil, CellStoreStream)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		edit    func(*Definition)
		unknown string
		values  string // of the held properties, or part of the error
		err     error
	}{
		{"a property that came", func(d *Definition) {
			d.Properties = append(d.Properties, &Property{Name: "mana", Type: Scalar(KindInt8), Persistent: true, Default: Int(9)})
		}, "", "health=-3 mood=1 bag=[[9 \"x\"]] mana=9 ", nil},
		{"a property that went", func(d *Definition) { d.Properties = d.Properties[1:] }, "health", "mood=1 bag=[[9 \"x\"]] ", nil},
		{"a property that is no longer kept", func(d *Definition) { d.Properties[3].Persistent = false }, "bag", "health=-3 mood=1 bag=[] ", nil},
		{"a property that moved to the base", func(d *Definition) { d.Properties[0].Flags = Base }, "health", "mood=1 bag=[[9 \"x\"]] ", nil},
		{"properties in another order", func(d *Definition) { slices.Reverse(d.Properties) }, "", "bag=[[9 \"x\"]] mood=1 health=-3 ", nil},
		{"a property that is now kept", func(d *Definition) { d.Properties[2].Persistent = true }, "", "health=-3 mood=0 bag=[[9 \"x\"]] ", nil},
		{"a value that no longer fits", func(d *Definition) { d.Properties[0].Type, d.Properties[0].Default = Scalar(KindUint8), Value{} }, "",
			"property Avatar.health: property: value does not fit its type: -3 is not a UINT8", ErrValue},
		{"a value of another kind", func(d *Definition) { d.Properties[3].Type = must(NewArray(Scalar(KindInt8), 0)) }, "",
			"property Avatar.bag: element 0: property: value does not fit its type: a map is stored for a INT8", ErrValue},
	} {
		d := storedDefinition(t, c.edit)
		v := NewValues(d, CellSide, nil)
		set(t, v, "mood", Int(1)) // neither the store's nor the default
		before := slices.Clone(v.vals)
		unknown, rest, err := v.ReadStore(b, CellStoreStream)
		if err != nil {
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.values) || len(rest) != len(b) || unknown != nil || !slices.EqualFunc(before, v.vals, Equal) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		text := ""
		for _, i := range d.Held(CellSide) {
			text += fmt.Sprintf("%s=%v ", d.Properties[i].Name, v.Get(i))
		}
		if c.err != nil || strings.Join(unknown, " ") != c.unknown || text != c.values || len(rest) != 0 {
			t.Errorf("%s: unknown %v, %s", c.name, unknown, text)
		}
	}
}

func TestValuesStoreRefuses(t *testing.T) {
	d := storedDefinition(t, nil)
	long := strings.Repeat("n", MaxName+1)
	for _, c := range []struct {
		name, bytes string
		err         error
		text        string
	}{
		{"a list", "\x90", ErrValue, "Avatar: property: value does not fit its type: an array where a map of properties is due"},
		{"a nil", "\xc0", ErrValue, "nil where"},
		{"a property twice", "\x82\xa6health\x01\xa6health\x01", ErrValue, "property Avatar.health: property: value does not fit its type: it comes twice"},
		{"a number as name", "\x81\x01\x01", ErrValue, "a whole number where a name is due"},
		{"an unknown property that is an extension", "\x81\xa1x\xd4\x01\x00", ErrValue, "Avatar: "},
		{"an unknown property too deep", "\x81\xa1x" + nested(mpack.MaxStoreDepth), ErrLength, "Avatar: "},
	} {
		v := NewValues(d, CellSide, fail{t})
		before := slices.Clone(v.vals)
		_, rest, err := v.ReadStore([]byte(c.bytes), CellStoreStream)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) || len(rest) != len(c.bytes) || !slices.EqualFunc(before, v.vals, Equal) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, h := range hostileMsgpack {
		if _, _, err := NewValues(d, CellSide, nil).ReadStore([]byte(h.bytes), CellStoreStream); err == nil {
			t.Errorf("%s was accepted", h.name)
		}
	}
	var many []byte
	for i := range 300 {
		many = append(many, fmt.Sprintf("\xa4u%03d\xc0", i)...)
	}
	v := NewValues(d, CellSide, nil)
	unknown, _, err := v.ReadStore(append([]byte{0xde, 1, 44}, many...), CellStoreStream)
	if err != nil || len(unknown) != maxUnknown || unknown[255] != "u255" {
		t.Errorf("%d unknown names, %v", len(unknown), err)
	}
	unknown, _, err = v.ReadStore([]byte("\x81\xd9\x81"+long+"\xc0"), CellStoreStream)
	if err != nil || len(unknown) != 1 || len(unknown[0]) != MaxName {
		t.Errorf("%q, %v", unknown, err)
	}
}

// A codec of a user type that refuses leaves nothing half written.
func TestValuesAppendStoreRefuses(t *testing.T) {
	user := newMoney()
	d := storedDefinition(t, func(d *Definition) {
		d.Properties = append(d.Properties, &Property{Name: "purse", Type: user, Persistent: true})
	})
	v := NewValues(d, CellSide, nil)
	set(t, v, "purse", moneyValue(t, user, money{666, ""}))
	b, err := v.AppendStore([]byte("x"), CellStoreStream)
	if !errors.Is(err, errPoor) || !errors.Is(err, ErrValue) || string(b) != "x" || !strings.HasPrefix(err.Error(), "property Avatar.purse: ") {
		t.Errorf("%q, %v", b, err)
	}
}

func FuzzValuesReadStore(f *testing.F) {
	d := storedDefinition(f, func(d *Definition) {
		// Few, so that the inputs stay short: FuzzReadStore has the types.
		for i, typ := range []*DataType{Scalar(KindAny), newMoney(), Scalar(KindMailbox), must(NewMap(Scalar(KindString), Scalar(KindFloat32)))} {
			d.Properties = append(d.Properties, &Property{Name: fmt.Sprint("p", i), Type: typ, Flags: []Flags{CellPrivate, Base}[i%2], Persistent: true})
		}
	})
	r := rand.New(rand.NewPCG(15, 0))
	domains := map[Side]Stream{CellSide: CellStoreStream, BaseSide: BaseStoreStream}
	for _, side := range []Side{CellSide, BaseSide} {
		v := NewValues(d, side, nil)
		for _, i := range d.Held(side) {
			if err := v.Set(i, randomStored(d.Properties[i].Type, r)); err != nil {
				f.Fatal(err)
			}
		}
		b, err := v.AppendStore(nil, domains[side])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(side == BaseSide, b)
		f.Add(side == CellSide, b)
	}
	f.Fuzz(func(t *testing.T, base bool, b []byte) {
		side := CellSide
		if base {
			side = BaseSide
		}
		v := NewValues(d, side, fail{t})
		before := slices.Clone(v.vals)
		unknown, rest, err := v.ReadStore(b, domains[side])
		salvaged := NewValues(d, side, fail{t})
		notices, _, lost := salvaged.SalvageStore(b, domains[side])
		if err == nil && (lost != nil || len(notices) != len(unknown) || !slices.EqualFunc(v.vals, salvaged.vals, Equal)) {
			t.Fatalf("nothing is wrong, and salvage tells %v, %q", lost, notices)
		}
		if err != nil && lost == nil && len(notices) == 0 {
			t.Fatalf("salvage is silent about %v", err)
		}
		if err != nil {
			if len(rest) != len(b) || unknown != nil || !slices.EqualFunc(before, v.vals, Equal) {
				t.Fatal("an error changed something")
			}
			return
		}
		if len(unknown) > maxUnknown {
			t.Fatalf("%d unknown names", len(unknown))
		}
		again, err := v.AppendStore(nil, domains[side])
		if err != nil {
			t.Fatal(err)
		}
		w := NewValues(d, side, nil)
		if unknown, _, err := w.ReadStore(again, domains[side]); err != nil || len(unknown) != 0 || !slices.EqualFunc(v.vals, w.vals, Equal) {
			t.Fatalf("did not come back: %v, %v", unknown, err)
		}
		if third, err := w.AppendStore(nil, domains[side]); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("equal values, other bytes: %v", err)
		}
	})
}
