package script

import (
	"reflect"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// hearer is a script that keeps what it was called with.
type hearer struct {
	source entity.ID
	got    any
}

// quickKind checks that a method which takes an A gets the same by the quick way, by the cell of a
// slow call, and by reflection.
func quickKind[A any](t *testing.T, k property.Kind, v property.Value) {
	t.Helper()
	of := property.Scalar(k)
	v, err := of.Fit(v)
	if err != nil {
		t.Fatal(err)
	}
	g := reflect.TypeFor[A]()
	if err := fits(g, of); err != nil {
		t.Error(err)
	}
	want := toGo(v, of, g).Interface()
	if held := new(cell).hold(v, of, g).Interface(); !reflect.DeepEqual(held, want) {
		t.Errorf("%v: held as %v, want %v", k, held, want)
	}
	d := &property.Method{Args: []property.Arg{{Type: of}}}
	for source, method := range map[entity.ID]any{
		0: func(s *hearer, x A) { s.got = x },
		9: func(s *hearer, source entity.ID, x A) { s.source, s.got = source, x },
	} {
		call := quickly[*hearer](d, method, []reflect.Type{g})
		if call == nil {
			t.Errorf("%v: there is no quick way to %T", k, method)
			continue
		}
		s := new(hearer)
		if call(s, source, v); s.source != source || !reflect.DeepEqual(s.got, want) {
			t.Errorf("%v: %v called with %v, want %v", k, s.source, s.got, want)
		}
	}
}

func TestQuickKinds(t *testing.T) {
	quickKind[int8](t, property.KindInt8, property.Int(-128))
	quickKind[int16](t, property.KindInt16, property.Int(-32768))
	quickKind[int32](t, property.KindInt32, property.Int(-1<<31))
	quickKind[int64](t, property.KindInt64, property.Int(-1<<63))
	quickKind[uint8](t, property.KindUint8, property.Uint(255))
	quickKind[uint16](t, property.KindUint16, property.Uint(65535))
	quickKind[uint32](t, property.KindUint32, property.Uint(1<<32-1))
	quickKind[uint64](t, property.KindUint64, property.Uint(1<<64-1))
	quickKind[float32](t, property.KindFloat32, property.Float(0.1))
	quickKind[float64](t, property.KindFloat64, property.Float(0.1))
	quickKind[bool](t, property.KindBool, property.BoolValue(true))
	quickKind[string](t, property.KindString, property.StringValue("raw\xff"))
	quickKind[string](t, property.KindUnicodeString, property.StringValue("ünï"))
	quickKind[[]byte](t, property.KindBlob, property.Bytes([]byte{1, 2}))
	quickKind[property.Vector2](t, property.KindVec2, property.Vec2(property.Vector2{X: 1, Y: 2}))
	quickKind[property.Vector3](t, property.KindVec3, property.Vec3(property.Vector3{X: 1, Y: 2, Z: 3}))
	quickKind[property.Vector4](t, property.KindVec4, property.Vec4(property.Vector4{X: 1, Y: 2, Z: 3, W: 4}))
	quickKind[entity.ID](t, property.KindEntityID, property.Uint(7))
	quickKind[property.Mailbox](t, property.KindMailbox, property.MailboxValue(property.Mailbox{Entity: 7, Type: 1, Kind: 1}))
	quickKind[property.Value](t, property.KindInt8, property.Int(-5))
}

func TestQuickWithoutArguments(t *testing.T) {
	d, s := new(property.Method), new(hearer)
	quickly[*hearer](d, func(s *hearer) { s.got = "called" }, nil)(s, 9, property.Value{})
	if s.got != "called" || s.source != 0 {
		t.Errorf("%+v", s)
	}
	quickly[*hearer](d, func(s *hearer, source entity.ID) { s.source = source }, nil)(s, 9, property.Value{})
	if s.source != 9 {
		t.Errorf("%+v", s)
	}
	for _, slow := range []any{func(s *hearer) error { return nil }, func(s *hearer) int8 { return 0 }} {
		if quickly[*hearer](d, slow, nil) != nil {
			t.Errorf("the results of %T are lost", slow)
		}
	}
}

// nester calls itself in the middle of a call.
type nester struct {
	call func(index int, args []byte)
	got  []any
}

func (n *nester) Outer(a int8, b string, c property.Vector3) {
	if a == 1 {
		n.call(0, append([]byte{2, 1, 'x'}, make([]byte, 12)...))
	}
	n.call(1, []byte{8})
	n.got = append(n.got, a, b, c)
}
func (n *nester) Inner(a uint8) { n.got = append(n.got, a) }

// A call within a call uses the same memory, and leaves the parameters of the outer one alone.
func TestNestedCalls(t *testing.T) {
	arg := func(kinds ...property.Kind) (list []property.Arg) {
		for _, k := range kinds {
			list = append(list, property.Arg{Type: property.Scalar(k)})
		}
		return list
	}
	methods, err := BindMethods(reflect.TypeFor[*nester](), []*property.Method{
		{Name: "outer", Args: arg(property.KindInt8, property.KindString, property.KindVec3)},
		{Name: "inner", Args: arg(property.KindUint8)},
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	p, n := new(Parameters), new(nester)
	n.call = func(index int, args []byte) {
		if _, err := methods.Call(p, reflect.ValueOf(n), index, 0, args); err != nil {
			t.Error(err)
		}
	}
	n.call(0, append([]byte{1, 5}, "outer\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40"...))
	want := []any{uint8(8), int8(2), "x", property.Vector3{}, uint8(8), int8(1), "outer", property.Vector3{X: 1, Y: 2, Z: 3}}
	if !reflect.DeepEqual(n.got, want) {
		t.Errorf("got %v, want %v", n.got, want)
	}
}
