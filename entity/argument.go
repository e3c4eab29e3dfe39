package entity

import (
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/property"
)

// Arguments of methods, between Go values and what a definition describes.

// Addressed is a part of an entity that can be passed as its mailbox: a script that
// embeds *Base or *space.Real.
type Addressed interface{ MailboxValue() property.Mailbox }

// ToValue turns a Go value into a value of type t:
//
//	property.Value                                 any type
//	int … int64, uint … uint64, float32, float64   numbers
//	bool                                           BOOL
//	string, []byte                                 STRING, UNICODE_STRING, BLOB
//	property.Vector2, Vector3, Vector4             VECTOR2, VECTOR3, VECTOR4
//	ID                                             ENTITY_ID
//	Mailbox, property.Mailbox, Addressed           MAILBOX
//	a slice                                        ARRAY, TUPLE
//	a map                                          MAP
//	what property.AnyValue takes                   ANY
//
// The error says what does not fit; whether a number is in range is checked when the
// value is encoded.
func ToValue(t *property.DataType, a any) (property.Value, error) {
	if v, ok := a.(property.Value); ok {
		return v, nil
	}
	switch t.Kind() {
	case property.KindAny:
		return property.AnyValue(a)
	case property.KindMailbox:
		return mailboxValue(a)
	case property.KindArray, property.KindTuple:
		return listValue(t, a)
	case property.KindMap:
		return mapValue(t, a)
	}
	return scalarValue(a)
}

func mailboxValue(a any) (property.Value, error) {
	switch m := a.(type) {
	case property.Mailbox:
		return property.MailboxValue(m), nil
	case Mailbox:
		return property.MailboxValue(m.Value()), nil
	case Addressed:
		return property.MailboxValue(m.MailboxValue()), nil
	}
	return property.Value{}, fmt.Errorf("a %T is no mailbox", a)
}

func listValue(t *property.DataType, a any) (property.Value, error) {
	s := reflect.ValueOf(a)
	if s.Kind() != reflect.Slice {
		return property.Value{}, fmt.Errorf("a %T is no list", a)
	}
	list := make([]property.Value, s.Len())
	for i := range list {
		var err error
		if list[i], err = ToValue(t.Elem(), s.Index(i).Interface()); err != nil {
			return property.Value{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return property.List(list...), nil
}

func mapValue(t *property.DataType, a any) (property.Value, error) {
	m := reflect.ValueOf(a)
	if m.Kind() != reflect.Map {
		return property.Value{}, fmt.Errorf("a %T is no map", a)
	}
	list := make([]property.Value, 0, 2*m.Len())
	// order does not show: the type sorts the pairs
	for pairs := m.MapRange(); pairs.Next(); { // not by MapIndex, which does not find a NaN
		k, err := ToValue(t.Key(), pairs.Key().Interface())
		if err != nil {
			return property.Value{}, fmt.Errorf("key %v: %w", pairs.Key(), err)
		}
		v, err := ToValue(t.Elem(), pairs.Value().Interface())
		if err != nil {
			return property.Value{}, fmt.Errorf("value of key %v: %w", pairs.Key(), err)
		}
		list = append(list, k, v)
	}
	return t.Fit(property.List(list...))
}

func scalarValue(a any) (property.Value, error) {
	switch v := a.(type) {
	case []byte:
		return property.Bytes(v), nil
	case property.Vector2:
		return property.Vec2(v), nil
	case property.Vector3:
		return property.Vec3(v), nil
	case property.Vector4:
		return property.Vec4(v), nil
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return property.Int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return property.Uint(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		return property.Float(v.Float()), nil
	case reflect.Bool:
		return property.BoolValue(v.Bool()), nil
	case reflect.String:
		return property.StringValue(v.String()), nil
	}
	return property.Value{}, fmt.Errorf("a %T is no property value", a)
}

// goTypes are the Go types of parameters for kinds that have one of their own.
var goTypes = map[property.Kind]reflect.Type{
	property.KindInt8: reflect.TypeFor[int8](), property.KindInt16: reflect.TypeFor[int16](),
	property.KindInt32: reflect.TypeFor[int32](), property.KindInt64: reflect.TypeFor[int64](),
	property.KindUint8: reflect.TypeFor[uint8](), property.KindUint16: reflect.TypeFor[uint16](),
	property.KindUint32: reflect.TypeFor[uint32](), property.KindUint64: reflect.TypeFor[uint64](),
	property.KindFloat32: reflect.TypeFor[float32](), property.KindFloat64: reflect.TypeFor[float64](),
	property.KindBool: reflect.TypeFor[bool](), property.KindString: reflect.TypeFor[string](),
	property.KindUnicodeString: reflect.TypeFor[string](), property.KindBlob: reflect.TypeFor[[]byte](),
	property.KindVec2: reflect.TypeFor[property.Vector2](), property.KindVec3: reflect.TypeFor[property.Vector3](),
	property.KindVec4: reflect.TypeFor[property.Vector4](), property.KindEntityID: reflect.TypeFor[ID](),
	property.KindMailbox: reflect.TypeFor[property.Mailbox](), property.KindAny: reflect.TypeFor[any](),
}

// goType is the Go type of a parameter for a data type; property.Value for what has
// none of its own.
func goType(t *property.DataType) reflect.Type {
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		return reflect.SliceOf(goType(t.Elem()))
	case property.KindMap:
		return reflect.MapOf(goType(t.Key()), goType(t.Elem()))
	}
	if g, ok := goTypes[t.Kind()]; ok {
		return g
	}
	return reflect.TypeFor[property.Value]()
}

// fits says whether a Go parameter type can take a data type. property.Value takes
// any, as a whole and as the element of a slice or map.
func fits(g reflect.Type, t *property.DataType) error {
	if accepts(g, t) {
		return nil
	}
	return fmt.Errorf("the definition says %s, which is %s in Go, not %s", t, goType(t), g)
}

func accepts(g reflect.Type, t *property.DataType) bool {
	switch {
	case g == reflect.TypeFor[property.Value]():
		return true
	case t.Kind() == property.KindArray || t.Kind() == property.KindTuple:
		return g.Kind() == reflect.Slice && g.Name() == "" && accepts(g.Elem(), t.Elem())
	case t.Kind() == property.KindMap:
		return g.Kind() == reflect.Map && g.Name() == "" && g.Key() == goType(t.Key()) && accepts(g.Elem(), t.Elem())
	}
	return g == goType(t)
}

// toGo turns a value of type t into a parameter of type g, which accepts it.
func toGo(v property.Value, t *property.DataType, g reflect.Type) reflect.Value {
	switch g {
	case reflect.TypeFor[property.Value]():
		return reflect.ValueOf(v)
	case reflect.TypeFor[property.Vector2]():
		return reflect.ValueOf(v.Vec2())
	case reflect.TypeFor[property.Vector3]():
		return reflect.ValueOf(v.Vec3())
	case reflect.TypeFor[property.Vector4]():
		return reflect.ValueOf(v.Vec4())
	case reflect.TypeFor[property.Mailbox]():
		return reflect.ValueOf(v.Mailbox())
	}
	out := reflect.New(g).Elem()
	switch t.Kind() {
	case property.KindBlob:
		out.SetBytes([]byte(v.Str()))
	case property.KindAny:
		if x := v.Any(); x != nil {
			out.Set(reflect.ValueOf(x))
		}
	case property.KindArray, property.KindTuple:
		out.Set(reflect.MakeSlice(g, v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(toGo(v.At(i), t.Elem(), g.Elem()))
		}
	case property.KindMap:
		out.Set(reflect.MakeMapWithSize(g, v.Len()/2))
		for i := 0; i < v.Len(); i += 2 {
			out.SetMapIndex(toGo(v.At(i), t.Key(), g.Key()), toGo(v.At(i+1), t.Elem(), g.Elem()))
		}
	default:
		setScalar(out, v)
	}
	return out
}

func setScalar(out reflect.Value, v property.Value) {
	switch out.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		out.SetInt(v.Int())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		out.SetUint(v.Uint())
	case reflect.Float32, reflect.Float64:
		out.SetFloat(v.Float())
	case reflect.Bool:
		out.SetBool(v.Bool())
	case reflect.String:
		out.SetString(v.Str())
	}
}
