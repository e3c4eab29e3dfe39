package script

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// quick calls a method of a script with one argument, or none, without reflection, which costs more
// than all the rest of a call.
type quick func(script any, source entity.ID, v property.Value)

// quicken finds the methods that have a quick way.
func quicken[P any](t *Methods) {
	for i, d := range t.desc {
		if t.funcs[i].IsValid() {
			t.quick[i] = quickly[P](d, t.funcs[i].Interface(), t.ins[i])
		}
	}
}

// quickly is the quick way to a method of a script type P: of one that returns nothing and takes
// nothing or one argument of a kind without parts. It is nil for others.
func quickly[P any](d *property.Method, method any, ins []reflect.Type) quick {
	switch {
	case len(d.Args) > 1:
		return nil
	case len(d.Args) == 0:
		switch f := method.(type) {
		case func(P):
			return func(s any, _ entity.ID, _ property.Value) { f(s.(P)) }
		case func(P, entity.ID):
			return func(s any, source entity.ID, _ property.Value) { f(s.(P), source) }
		}
		return nil
	case ins[0] == reflect.TypeFor[property.Value]():
		return taking[P](method, func(v property.Value) property.Value { return v })
	}
	switch d.Args[0].Type.Kind() {
	case property.KindInt8:
		return taking[P](method, toInt8)
	case property.KindInt16:
		return taking[P](method, toInt16)
	case property.KindInt32:
		return taking[P](method, toInt32)
	case property.KindInt64:
		return taking[P](method, property.Value.Int)
	case property.KindUint8:
		return taking[P](method, toUint8)
	case property.KindUint16:
		return taking[P](method, toUint16)
	case property.KindUint32:
		return taking[P](method, toUint32)
	case property.KindUint64:
		return taking[P](method, property.Value.Uint)
	case property.KindFloat32:
		return taking[P](method, toFloat32)
	case property.KindFloat64:
		return taking[P](method, property.Value.Float)
	case property.KindBool:
		return taking[P](method, property.Value.Bool)
	case property.KindString, property.KindUnicodeString:
		return taking[P](method, property.Value.Str)
	case property.KindBlob:
		return taking[P](method, property.Value.Bytes)
	case property.KindVec2:
		return taking[P](method, property.Value.Vec2)
	case property.KindVec3:
		return taking[P](method, property.Value.Vec3)
	case property.KindVec4:
		return taking[P](method, property.Value.Vec4)
	case property.KindEntityID:
		return taking[P](method, toID)
	case property.KindMailbox:
		return taking[P](method, property.Value.Mailbox)
	}
	return nil
}

// taking is the quick way to a method that takes an A, after the caller if it asks for that.
func taking[P, A any](method any, of func(property.Value) A) quick {
	switch f := method.(type) {
	case func(P, A):
		return func(s any, _ entity.ID, v property.Value) { f(s.(P), of(v)) }
	case func(P, entity.ID, A):
		return func(s any, source entity.ID, v property.Value) { f(s.(P), source, of(v)) }
	}
	return nil
}

func toInt8(v property.Value) int8       { return int8(v.Int()) }
func toInt16(v property.Value) int16     { return int16(v.Int()) }
func toInt32(v property.Value) int32     { return int32(v.Int()) }
func toUint8(v property.Value) uint8     { return uint8(v.Uint()) }
func toUint16(v property.Value) uint16   { return uint16(v.Uint()) }
func toUint32(v property.Value) uint32   { return uint32(v.Uint()) }
func toFloat32(v property.Value) float32 { return float32(v.Float()) }
func toID(v property.Value) entity.ID    { return entity.ID(v.Uint()) }
