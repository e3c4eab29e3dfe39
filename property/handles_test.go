package property

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// point is a Go type of a game, and its codec.
type point struct{ X, Y int16 }

type pointCodec struct{}

func (pointCodec) Default() point { return point{1, 2} }

func (pointCodec) Append(b []byte, p point) ([]byte, error) {
	if p.X == -1 {
		return nil, errors.New("X is -1")
	}
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, uint16(p.X)), uint16(p.Y)), nil
}

func (pointCodec) Read(b []byte) (point, []byte, error) {
	if len(b) < 4 {
		return point{}, nil, ErrTruncated
	}
	return point{int16(binary.LittleEndian.Uint16(b)), int16(binary.LittleEndian.Uint16(b[2:]))}, b[4:], nil
}

var pointStore = must(NewFixedDict(false, DictField{Name: "x", Type: Scalar(KindInt16)}, DictField{Name: "y", Type: Scalar(KindInt16)}))

func (pointCodec) StoreType() *DataType { return pointStore }
func (pointCodec) ToStore(p point) (Value, error) {
	return List(Int(int64(p.X)), Int(int64(p.Y))), nil
}
func (pointCodec) FromStore(v Value) (point, error) {
	return point{int16(v.At(0).Int()), int16(v.At(1).Int())}, nil
}

var pointType = must(NewUserType[point]("Point", pointCodec{}))

// handlesDefinition has a property for each kind of handle with parts.
func handlesDefinition(t testing.TB) *Definition {
	t.Helper()
	gem := must(NewFixedDict(true, DictField{Name: "cut", Type: Scalar(KindUint8)}))
	item := must(NewFixedDict(false,
		DictField{Name: "kind", Type: Scalar(KindUint16)}, DictField{Name: "count", Type: Scalar(KindInt32)},
		DictField{Name: "gem", Type: gem}, DictField{Name: "tags", Type: must(NewArray(Scalar(KindString), 0))}))
	d := &Definition{Name: "Avatar", HasCell: true, HasClient: true, Properties: []*Property{
		{Name: "weapon", Type: item, Flags: AllClients},
		{Name: "bag", Type: must(NewArray(item, 0)), Flags: AllClients},
		{Name: "scores", Type: must(NewArray(Scalar(KindInt16), 0)), Flags: AllClients},
		{Name: "ranks", Type: must(NewMap(Scalar(KindString), Scalar(KindInt32))), Flags: AllClients},
		{Name: "home", Type: pointType, Flags: AllClients},
		{Name: "notes", Type: Scalar(KindAny), Flags: CellPrivate},
		{Name: "path", Type: must(NewTuple(Scalar(KindVec3), 0)), Flags: CellPrivate},
		{Name: "owner", Type: Scalar(KindMailbox), Flags: CellPrivate},
		{Name: "image", Type: Scalar(KindBlob), Flags: CellPrivate},
	}}
	return must(NewSchema(d)).Types[0]
}

type gemHandles struct {
	Dict
	Cut Uint8
}

type itemHandles struct {
	Dict
	Kind  Uint16
	Count Int32
	Gem   gemHandles
	Tags  Slice[string]
}

type handlesScript struct {
	Weapon itemHandles
	Bag    Array[itemHandles]
	Scores Slice[int16]
	Ranks  Map[string, int32]
	Home   Custom[point]
	Notes  Any
	Path   Slice[Vector3]
	Owner  MailboxField
	Image  Blob
}

type changes struct{ told []string }

func (r *changes) PropertyChanged(c *Change) {
	what := fmt.Sprintf("%d%v=%v", c.Index, c.Path, c.New)
	if c.Op == Splice {
		what = fmt.Sprintf("%d%v[%d:%d]%v→%v", c.Index, c.Path, c.Start, c.End, c.Old, c.New)
	}
	r.told = append(r.told, what)
}

func boundHandles(t testing.TB) (*handlesScript, *Values, *changes) {
	t.Helper()
	d, s, told := handlesDefinition(t), new(handlesScript), new(changes)
	if err := CheckFields(reflect.TypeFor[handlesScript](), d, CellSide); err != nil {
		t.Fatal(err)
	}
	v := NewValues(d, CellSide, told)
	BindFields(s, v)
	return s, v, told
}

func item(kind, count int64) Value { return List(Int(kind), Int(count), Value{}, List()) }

// Handles of parts make one change each, of just the part; what they read is what is there now.
func TestHandlesOfParts(t *testing.T) {
	s, v, told := boundHandles(t)
	steps := []struct {
		name string
		do   func() error
		want string
	}{
		{"field of a dict", func() error { return s.Weapon.Count.TrySet(3) }, "0[1]=3"},
		{"the same again", func() error { return s.Weapon.Count.TrySet(3) }, ""},
		{"dict in a dict", func() error { return s.Weapon.Gem.SetValue(List(Int(4))) }, "0[2]=[4]"},
		{"field of it", func() error { return s.Weapon.Gem.Cut.TrySet(5) }, "0[2 0]=5"},
		{"list in a dict", func() error { return s.Weapon.Tags.Append("a", "b") }, `0[3][0:0][]→["a" "b"]`},
		{"gone", func() error { return s.Weapon.Gem.Clear() }, "0[2]=none"},
		{"append", func() error { return s.Bag.Append(item(1, 10), item(2, 20), item(3, 30)) }, "1[][0:0][]→[[1 10 none []] [2 20 none []] [3 30 none []]]"},
		{"field of an element", func() error { return s.Bag.At(1).Count.TrySet(21) }, "1[1 1]=21"},
		{"list of an element", func() error { return s.Bag.At(2).Tags.Insert(0, "x") }, `1[2 3][0:0][]→["x"]`},
		{"delete before them", func() error { return s.Bag.Delete(0, 1) }, "1[][0:1][[1 10 none []]]→[]"},
		{"the place, not the element", func() error { return s.Bag.At(1).Count.TrySet(31) }, "1[1 1]=31"},
		{"scalars", func() error { return s.Scores.Set([]int16{5, 6}) }, "2[]=[5 6]"},
		{"one of them", func() error { return s.Scores.SetAt(1, 7) }, "2[1]=7"},
		{"one less", func() error { return s.Scores.Delete(0, 1) }, "2[][0:1][5]→[]"},
		{"none less", func() error { return s.Scores.Delete(1, 1) }, ""},
		{"new key", func() error { return s.Ranks.Set("bob", 2) }, `3[][0:0][]→["bob" 2]`},
		{"key before it", func() error { return s.Ranks.Set("ann", 1) }, `3[][0:0][]→["ann" 1]`},
		{"key known", func() error { return s.Ranks.Set("bob", 3) }, "3[3]=3"},
		{"key gone", func() error { return s.Ranks.Delete("ann") }, `3[][0:2]["ann" 1]→[]`},
		{"key not there", func() error { return s.Ranks.Delete("eve") }, ""},
		{"user type", func() error { return s.Home.Set(point{3, 4}) }, "4[]=user(03000400)"},
		{"mailbox", func() error { return s.Owner.Set(Mailbox{Entity: 7}) }, "7[]=mailbox(7 0 0 invalid AddrPort 0)"},
		{"blob", func() error { return s.Image.TrySet([]byte{1}) }, `8[]="\x01"`},
		{"tuple", func() error { return s.Path.Set([]Vector3{{1, 2, 3}}) }, "6[]=[(1 2 3)]"},
	}
	for _, c := range steps {
		told.told = nil
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := strings.Join(told.told, " "); got != c.want {
			t.Errorf("%s: told %q, want %q", c.name, got, c.want)
		}
	}
	if got := v.Get(1).String(); got != `[[2 21 none []] [3 31 none ["x"]]]` {
		t.Errorf("bag is %s", got)
	}
	if s.Bag.Len() != 2 || s.Bag.At(0).Kind.Get() != 2 || s.Bag.At(1).Count.Get() != 31 || s.Bag.At(1).Tags.At(0) != "x" {
		t.Error("handles of the bag do not read what is there")
	}
	if !s.Weapon.Gem.IsNone() || s.Weapon.Gem.Cut.Get() != 0 || s.Weapon.Count.Get() != 3 || s.Weapon.Tags.Len() != 2 {
		t.Error("handles of the weapon do not read what is there")
	}
	if x, ok := s.Ranks.Get("bob"); x != 3 || !ok || s.Ranks.Len() != 1 || !maps.Equal(maps.Collect(s.Ranks.All()), map[string]int32{"bob": 3}) {
		t.Error("the map does not read what is there")
	}
	if s.Home.Get() != (point{3, 4}) || s.Owner.Get().Entity != 7 || !slices.Equal(s.Path.Values(), []Vector3{{1, 2, 3}}) {
		t.Error("user type, mailbox or tuple do not read what is there")
	}
	if kinds := 0; true {
		for i, e := range s.Bag.All() {
			kinds += (i + 1) * int(e.Kind.Get())
		}
		if kinds != 2+6 {
			t.Errorf("All shows other elements: %d", kinds)
		}
	}
}

// What a handle of a part cannot do is an error, and changes nothing.
func TestHandlesRefuse(t *testing.T) {
	s, v, told := boundHandles(t)
	_ = s.Bag.Append(item(1, 1), item(2, 2))
	second := s.Bag.At(1)
	_ = s.Bag.Delete(1, 2)
	_ = s.Path.Set([]Vector3{{}})
	_ = s.Ranks.Set("a", 1)
	told.told = nil
	before := v.AppendStream(nil, CellStream)
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"element that is gone", second.Count.TrySet(1), ErrPath},
		{"field of a dict that is not there", s.Weapon.Gem.Cut.TrySet(1), ErrPath},
		{"None where it is not allowed", s.Weapon.Clear(), ErrValue},
		{"part of a tuple", s.Path.SetAt(0, Vector3{1, 1, 1}), ErrPath},
		{"slice of a tuple", s.Path.Append(Vector3{}), ErrPath},
		{"slice beyond the end", s.Bag.Delete(0, 2), ErrPath},
		{"slice the wrong way", s.Scores.Delete(1, 0), ErrPath},
		{"element of the wrong shape", s.Bag.Append(Int(1)), ErrValue},
		{"codec refuses", s.Home.Set(point{-1, 0}), ErrValue},
		{"string too long", s.Weapon.Tags.Append(strings.Repeat("x", MaxString+1)), ErrLength},
		{"too large for clients", s.Weapon.Tags.Append(strings.Repeat("x", MaxClientProperty)), ErrOversize},
		{"too large for ghosts", s.Image.TrySet(make([]byte, MaxProperty)), ErrOversize},
		{"key of a map", v.SetAt(3, []int{0}, StringValue("b")), ErrPath},
		{"half a pair", v.Splice(3, nil, 0, 1), ErrPath},
		{"keys out of order", v.Splice(3, nil, 2, 2, StringValue("A"), Int(1)), ErrPath},
		{"key twice", v.Set(3, List(StringValue("b"), Int(1), StringValue("b"), Int(2))), ErrValue},
		{"negative step", v.SetAt(1, []int{-1, 0}, Int(1)), ErrPath},
		{"path into a number", v.SetAt(0, []int{0, 0}, Int(1)), ErrPath},
		{"slice of a number", v.Splice(0, []int{0}, 0, 0), ErrPath},
		{"no such property", v.SetAt(99, []int{0}, Int(1)), ErrIndex},
		{"copy of another's values", NewValues(v.def, GhostSide, nil).SetAt(0, []int{0}, Int(1)), ErrReadOnly},
		{"the same, spliced", NewValues(v.def, OtherClientSide, nil).Splice(2, nil, 0, 0, Int(1)), ErrReadOnly},
		{"the same, whole", NewValues(v.def, OwnClientSide, nil).Set(2, List()), ErrReadOnly},
		{"the same, forced", NewValues(v.def, GhostSide, nil).Force(2), ErrReadOnly},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
		}
	}
	if len(told.told) > 0 || string(v.AppendStream(nil, CellStream)) != string(before) {
		t.Errorf("something changed: %v", told.told)
	}
	if second.Count.Get() != 0 {
		t.Error("a part that is gone does not read the default")
	}
}

// A list read from a property stays as it was, whatever changes; one that is assigned elsewhere is
// another.
func TestContainersAreValues(t *testing.T) {
	s, v, _ := boundHandles(t)
	_ = s.Bag.Append(item(1, 1))
	old, one := v.Get(1), s.Bag.At(0).Value()
	_ = s.Weapon.SetValue(one)
	s.Bag.At(0).Count.Set(9)
	s.Weapon.Count.Set(5)
	if old.String() != "[[1 1 none []]]" || one.String() != "[1 1 none []]" {
		t.Errorf("old values changed: %v, %v", old, one)
	}
	if s.Bag.At(0).Count.Get() != 9 || s.Weapon.Count.Get() != 5 {
		t.Error("two places share an element")
	}
}

// Streams, too, reach handles of parts.
func TestHandlesFollowStreams(t *testing.T) {
	s, v, _ := boundHandles(t)
	_ = s.Bag.Append(item(1, 1), item(2, 2))
	stream := v.AppendStream(nil, CellStream)
	var copied handlesScript
	w := NewValues(v.def, CellSide, nil)
	BindFields(&copied, w)
	if copied.Bag.Len() != 0 {
		t.Fatal("the bag is not empty")
	}
	if _, err := w.ReadStream(stream, CellStream); err != nil {
		t.Fatal(err)
	}
	if copied.Bag.At(1).Count.Get() != 2 {
		t.Error("the handle does not read what the stream brought")
	}
	if _, err := w.ReadStream(NewValues(v.def, CellSide, nil).AppendStream(nil, CellStream), CellStream); err != nil || copied.Bag.Len() != 0 {
		t.Errorf("the bag is not empty again: %v", err)
	}
}

func TestHandlesOfPartsAllocateNothingToRead(t *testing.T) {
	s, _, _ := boundHandles(t)
	_ = s.Bag.Append(item(1, 1), item(2, 2))
	_ = s.Ranks.Set("a", 1)
	_ = s.Scores.Set([]int16{1, 2, 3})
	sum := 0
	read := func() {
		sum += int(s.Bag.At(1).Count.Get()) + s.Weapon.Tags.Len() + int(s.Home.Get().X)
		for _, x := range s.Scores.All() {
			sum += int(x)
		}
		x, _ := s.Ranks.Get("a")
		sum += int(x)
	}
	if a := testing.AllocsPerRun(100, read); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// A holder that changes properties itself is told of those, and keeps what it was told before.
func TestHolderMayChangeProperties(t *testing.T) {
	v := NewValues(handlesDefinition(t), CellSide, nil)
	var told []string
	v.SetHolder(holderFunc(func(c *Change) {
		if c.Index == 2 {
			_ = v.Set(0, item(1, 1))
			_ = v.SetAt(0, []int{1}, Int(2))
		}
		told = append(told, fmt.Sprint(c.Index, c.Path, c.New))
	}))
	_ = v.Set(2, List(Int(4)))
	if got := strings.Join(told, "; "); got != "0 [] [1 1 none []]; 0 [1] 2; 2 [] [4]" {
		t.Errorf("told %s", got)
	}
}

type holderFunc func(c *Change)

func (f holderFunc) PropertyChanged(c *Change) { f(c) }

// After a panic in a holder the values tell of changes as before.
func TestHolderMayPanic(t *testing.T) {
	v := NewValues(handlesDefinition(t), CellSide, nil)
	v.SetHolder(holderFunc(func(*Change) { panic("script") }))
	func() {
		defer func() { _ = recover() }()
		_ = v.Set(2, List(Int(4)))
	}()
	told := new(changes)
	v.SetHolder(told)
	_ = v.Set(2, List(Int(5)))
	if v.busy || len(told.told) != 1 {
		t.Errorf("told %v", told.told)
	}
}

func TestForce(t *testing.T) {
	v := NewValues(handlesDefinition(t), CellSide, nil)
	told := new(changes)
	v.SetHolder(told)
	if err := errors.Join(v.Force(2), v.Force(0)); err != nil || len(told.told) != 2 {
		t.Errorf("told %v, %v", told.told, err)
	}
	if err := v.Force(99); !errors.Is(err, ErrIndex) {
		t.Error(err)
	}
}

func TestCheckFieldsOfParts(t *testing.T) {
	type wrongGem struct {
		Dict
		Cut   Uint16
		Shine Uint8
		cut   Uint8
		Count int
		Again Uint8 `property:"cut"`
		Twice Uint8 `property:"cut"`
	}
	_ = wrongGem{}.cut
	type wrongItem struct {
		Dict
		Gem wrongGem
	}
	type script struct {
		Weapon Array[itemHandles]
		Bag    itemHandles
		Scores Slice[int32]
		Ranks  Map[int32, string]
		Home   Custom[string]
		Notes  String
		Path   Array[itemHandles]
		Owner  Uint64
		Image  String
		W2     wrongItem         `property:"weapon"`
		B2     Array[script2]    `property:"bag"`
		P      struct{ A Int32 } `component:"purse"`
	}
	err := CheckFields(reflect.TypeFor[script](), handlesDefinition(t), CellSide)
	want := strings.Join(checkFieldsFaults, "\n")
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// itemText is the type of an item as a fault writes it.
const itemText = "FIXED_DICT{kind:UINT16 count:INT32 gem:FIXED_DICT?{cut:UINT8} tags:ARRAY<STRING>}"

var checkFieldsFaults = []string{
	"property.script.Weapon: property.Array[github.com/cellscape/cellscape/property.itemHandles] does not hold property \"weapon\" of type " + itemText + "; use a struct that embeds property.Dict, or property.Field[property.Value]",
	"property.script.Bag: property.itemHandles does not hold property \"bag\" of type ARRAY<" + itemText + ">; use property.Array of a struct that embeds property.Dict, or property.Slice[property.Value]",
	"property.script.Scores: property.Slice[int32] does not hold property \"scores\" of type ARRAY<INT16>; use property.Slice[int16]",
	"property.script.Ranks: property.Map[int32,string] does not hold property \"ranks\" of type MAP<STRING INT32>; use property.Map[string, int32]",
	"property.script.Home: property.Custom[string] does not hold property \"home\" of type USER_TYPE<Point>; use property.Custom[property.point]",
	"property.script.Notes: property.Field[string] does not hold property \"notes\" of type ANY; use property.Any",
	"property.script.Path: property.Array[github.com/cellscape/cellscape/property.itemHandles] does not hold property \"path\" of type TUPLE<VECTOR3>; use property.Slice[property.Vector3]",
	"property.script.Owner: property.Field[uint64] does not hold property \"owner\" of type MAILBOX; use property.MailboxField",
	"property.script.Image: property.Field[string] does not hold property \"image\" of type BLOB; use property.Blob",
	"property.script.W2.Gem.Cut: property.Field[uint16] does not hold field \"cut\" of type UINT8; use property.Uint8",
	"property.script.W2.Gem.Shine: the FIXED_DICT has no field \"shine\"; declare it in the definition, or name the right one with `property:\"name\"`",
	"property.script.W2.Gem.cut: the field is not exported and cannot be bound; begin its name with a capital letter",
	"property.script.W2.Gem.Count: int is not a field of the FIXED_DICT; remove it: handles of a part hold nothing themselves",
	"property.script.W2.Gem.Again: field \"cut\" is bound already; remove one of the two",
	"property.script.W2.Gem.Twice: field \"cut\" is bound already; remove one of the two",
	"property.script.W2: property \"weapon\" is bound by property.script.Weapon already; remove one of the two",
	"property.script.B2: property.script2 does not embed property.Dict; embed it, or use property.Slice[property.Value]",
	"property.script.B2: property \"bag\" is bound by property.script.Bag already; remove one of the two",
	"property.script.P: Avatar has no component \"purse\"; declare it in the definition, or correct the tag",
}

type script2 struct{ Count Int32 }
