package property

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// kindsDefinition has a property of every kind, named after it.
func kindsDefinition(t testing.TB) *Definition {
	t.Helper()
	d := &Definition{Name: "Kinds", HasCell: true}
	for _, typ := range allTypes() {
		name := strings.ReplaceAll(strings.ToLower(typ.Kind().String()), "_", "")
		for d.has(name) {
			name += "x"
		}
		d.Properties = append(d.Properties, &Property{Name: name, Type: typ, Flags: CellPrivate})
	}
	s, err := NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

func (d *Definition) has(name string) bool {
	for _, p := range d.Properties {
		if p.Name == name {
			return true
		}
	}
	return false
}

type numbers struct {
	Int8    Int8
	Int16   Int16
	Int32   Int32
	Int64   Int64
	Uint8   Uint8
	Uint16  Uint16
	Uint32  Uint32
	Uint64  Uint64
	Float32 Float32
	Float64 Float64
}

type base struct{ id uint64 }

type kinds struct {
	*base
	numbers
	Truth   Bool   `property:"bool"`
	Text    String `property:"string"`
	Unicode String `property:"unicodestring"`
	Blob    Blob
	Vector2 Field[Vector2]
	Vector3 Field[Vector3]
	Vector4 Field[Vector4]
	ID      Uint64 `property:"entityid"`
	Mailbox MailboxField
	Array   Field[Value]
	path    []Vector3 `cellscape:"local"`
}

func TestFields(t *testing.T) {
	d := kindsDefinition(t)
	ignore := reflect.TypeFor[*base]()
	if err := CheckFields(reflect.TypeFor[*kinds](), d, CellSide, ignore); err != nil {
		t.Fatal(err)
	}
	v := NewValues(d, CellSide, nil)
	rec := &recorder{v: v}
	v.SetHolder(rec)
	k := &kinds{base: &base{id: 1}, path: []Vector3{{}}}
	BindFields(k, v, ignore)
	k.Int8.Set(-8)
	k.Int16.Set(-16)
	k.Int32.Set(-32)
	k.Int64.Set(-1 << 63)
	k.Uint8.Set(255)
	k.Uint16.Set(16)
	k.Uint32.Set(1<<32 - 1)
	k.Uint64.Set(1<<64 - 1)
	k.Float32.Set(0.1)
	k.Float64.Set(0.1)
	k.Truth.Set(true)
	k.Text.Set("text")
	k.Unicode.Set("✓")
	k.Blob.Set([]byte{1, 2})
	k.Vector2.Set(Vector2{1, 2})
	k.Vector3.Set(Vector3{1, 2, 3})
	k.Vector4.Set(Vector4{1, 2, 3, 4})
	k.ID.Set(MaxEntityID)
	box := Mailbox{Entity: 5, Type: 6, Kind: 7, At: netip.MustParseAddrPort("10.0.0.1:5"), Salt: 8}
	k.Mailbox.Set(box)
	told := len(rec.told)
	k.Mailbox.Set(box)
	if told != 19 || len(rec.told) != told {
		t.Errorf("told %d then %d times", told, len(rec.told))
	}
	got := fmt.Sprintln(k.Int8.Get(), k.Int16.Get(), k.Int32.Get(), k.Int64.Get(), k.Uint8.Get(), k.Uint16.Get(), k.Uint32.Get(), k.Uint64.Get(),
		k.Float32.Get(), k.Float64.Get(), k.Truth.Get(), k.Text.Get(), k.Unicode.Get(), k.Blob.Get(), k.Vector2.Get(), k.Vector3.Get(), k.Vector4.Get(), k.ID.Get(), k.Mailbox.Get() == box, k.Array.Get().Len())
	want := "-8 -16 -32 -9223372036854775808 255 16 4294967295 18446744073709551615 0.1 0.1 true text ✓ [1 2] {1 2} {1 2 3} {1 2 3 4} 9007199254740991 true 0"
	if got != want+"\n" {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := k.Unicode.TrySet("\xff"); !errors.Is(err, ErrValue) || k.Unicode.Get() != "✓" {
		t.Error(err)
	}
	if err := k.ID.TrySet(MaxEntityID + 1); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	func() {
		defer func() {
			if err, ok := recover().(error); !ok || !errors.Is(err, ErrLength) {
				t.Errorf("recovered %v", err)
			}
		}()
		k.Text.Set(strings.Repeat("x", MaxString+1))
	}()
	copied := k.Int8
	copied.Set(9)
	if k.Int8.Get() != 9 {
		t.Error("a copy of a field is another property")
	}
}

func TestCheckFieldsFaults(t *testing.T) {
	s := mustLoad(t, goodTree)
	d := s.Type("Avatar")
	type local struct {
		Score int `cellscape:"local"`
	}
	type script struct {
		local
		Health  Int32
		HP      Int16 `property:"health"`
		Again   Int16 `property:"health"`
		Name    String
		Nothing Int8
		mood    Int8
		counter int
		Home    Field[Vector2]
		Slots   Blob
		Best    Field[Value]
		*strings.Builder
	}
	_ = script{counter: 1, mood: Int8{}}
	err := CheckFields(reflect.TypeFor[script](), d, CellSide)
	want := "property.script.Health: property.Field[int32] does not hold property \"health\" of type INT16; use property.Int16\n" +
		"property.script.HP: property \"health\" is bound by property.script.Health already; remove one of the two\n" +
		"property.script.Again: property \"health\" is bound by property.script.HP already; remove one of the two\n" +
		"property.script.Name: property \"name\" has flag BASE_AND_CLIENT and is not on the cell side; move the field to the script of another side, or change the flag\n" +
		"property.script.Nothing: Avatar has no property \"nothing\"; declare it in the definition, or name the right one with `property:\"name\"`\n" +
		"property.script.mood: the field is not exported and cannot be bound; begin its name with a capital letter\n" +
		"property.script.counter: int is not a property and would be lost on a move; make it a property.Field of a property, or tag it `cellscape:\"local\"`\n" +
		"property.script.Home: property.Field[github.com/cellscape/cellscape/property.Vector2] does not hold property \"home\" of type VECTOR3; use property.Field[property.Vector3]\n" +
		"property.script.Slots: property.Blob does not hold property \"slots\" of type ARRAY<FIXED_DICT{kind:UINT16 tags:ARRAY<STRING>} 2>; use property.Array of a struct that embeds property.Dict, or property.Slice[property.Value]\n" +
		"property.script.Builder: *strings.Builder is not a property and would be lost on a move; make it a property.Field of a property, or tag it `cellscape:\"local\"`"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Error(diff)
	}
	if err := CheckFields(reflect.TypeFor[int](), d, CellSide); fmt.Sprint(err) != "int: a script is a struct; register a struct type" {
		t.Error(err)
	}
	if err := CheckFields(nil, d, CellSide); err == nil {
		t.Error("nil passed")
	}
	if err := CheckFields(reflect.TypeFor[struct{}](), d, CellSide); err != nil {
		t.Error(err)
	}
}

func TestLowerCamel(t *testing.T) {
	for in, want := range map[string]string{"Health": "health", "HPMax": "hpMax", "HP": "hp", "OwnerID": "ownerID", "X": "x", "AToB": "aToB", "": "", "already": "already"} {
		if got := FieldProperty(in); got != want {
			t.Errorf("%s → %s, want %s", in, got, want)
		}
	}
}

func TestFieldAllocations(t *testing.T) {
	d := kindsDefinition(t)
	v := NewValues(d, CellSide, nil)
	k := &kinds{}
	BindFields(k, v)
	k.Text.Set("text")
	k.Mailbox.Set(Mailbox{Entity: 5, At: netip.MustParseAddrPort("10.0.0.1:5")})
	n := int64(0)
	if a := testing.AllocsPerRun(100, func() {
		n += int64(k.Int8.Get()) + int64(k.Uint16.Get()) + k.Int64.Get() + int64(k.Uint64.Get()) + int64(k.Float32.Get()) + int64(k.Float64.Get())
		n += int64(k.Vector3.Get().X) + int64(k.Vector4.Get().W) + int64(len(k.Text.Get())) + int64(k.Mailbox.Get().Salt) + int64(k.Array.Get().Len())
		if k.Truth.Get() {
			n++
		}
	}); a != 0 {
		t.Errorf("Get allocates %v times", a)
	}
	if a := testing.AllocsPerRun(100, func() {
		n++
		k.Int64.Set(n << 20)
		k.Float32.Set(float32(n))
		k.Vector3.Set(Vector3{X: float32(n)})
		k.Truth.Set(n%2 == 0)
	}); a != 0 {
		t.Errorf("Set allocates %v times", a)
	}
	h, buf := NewHistory(everyFlag(t)), make([]byte, 0, 4096)
	p := h.def.Stream(OtherClientStream)[0]
	if a := testing.AllocsPerRun(100, func() {
		touch(h, p)
		for range h.Since(3) {
			n++
		}
		buf = v.AppendStream(buf[:0], CellStream)
	}); a != 0 {
		t.Errorf("Record, Since and AppendStream allocate %v times", a)
	}
}
