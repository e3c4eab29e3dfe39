package script

import (
	"fmt"
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

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
	property.KindVec4: reflect.TypeFor[property.Vector4](), property.KindEntityID: reflect.TypeFor[entity.ID](),
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
