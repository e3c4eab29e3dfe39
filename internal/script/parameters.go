package script

import (
	"reflect"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// Parameters is where calls of methods are made ready, so that a call whose arguments are numbers and
// vectors allocates nothing. Each app has one, for all its scripts. It is free again when a method
// begins, since Go has copied its parameters then: a method may make calls itself. It refers to what
// the last call had until the next one. The zero value is ready.
type Parameters struct {
	values []property.Value
	in     []reflect.Value
	cells  []cell
	source entity.ID
}

// reset makes room for n arguments.
func (p *Parameters) reset(n int) {
	p.values, p.in = p.values[:0], p.in[:0]
	if len(p.cells) < n {
		p.cells = make([]cell, n)
	}
}

// cell is a variable of each of the types that a parameter of a kind without parts may have. What
// reflection makes of a pointer to one costs no memory, unlike a value of its own.
type cell struct {
	value   property.Value
	int8    int8
	int16   int16
	int32   int32
	int64   int64
	uint8   uint8
	uint16  uint16
	uint32  uint32
	uint64  uint64
	float32 float32
	float64 float64
	bool    bool
	string  string
	vec2    property.Vector2
	vec3    property.Vector3
	vec4    property.Vector4
	id      entity.ID
}

// hold turns a value of type t into a parameter of type g, which accepts it, as toGo does. The
// parameter is good until the next hold.
func (c *cell) hold(v property.Value, t *property.DataType, g reflect.Type) reflect.Value {
	if g == reflect.TypeFor[property.Value]() {
		return put(&c.value, v)
	}
	switch t.Kind() {
	case property.KindInt8:
		return put(&c.int8, toInt8(v))
	case property.KindInt16:
		return put(&c.int16, toInt16(v))
	case property.KindInt32:
		return put(&c.int32, toInt32(v))
	case property.KindInt64:
		return put(&c.int64, v.Int())
	case property.KindUint8:
		return put(&c.uint8, toUint8(v))
	case property.KindUint16:
		return put(&c.uint16, toUint16(v))
	case property.KindUint32:
		return put(&c.uint32, toUint32(v))
	case property.KindUint64:
		return put(&c.uint64, v.Uint())
	case property.KindFloat32:
		return put(&c.float32, toFloat32(v))
	case property.KindFloat64:
		return put(&c.float64, v.Float())
	case property.KindBool:
		return put(&c.bool, v.Bool())
	case property.KindString, property.KindUnicodeString:
		return put(&c.string, v.Str())
	case property.KindVec2:
		return put(&c.vec2, v.Vec2())
	case property.KindVec3:
		return put(&c.vec3, v.Vec3())
	case property.KindVec4:
		return put(&c.vec4, v.Vec4())
	case property.KindEntityID:
		return put(&c.id, toID(v))
	}
	return toGo(v, t, g)
}

// put sets a variable, and is what reflection makes of that.
func put[T any](p *T, x T) reflect.Value {
	*p = x
	return reflect.ValueOf(p).Elem()
}
