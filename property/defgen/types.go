package main

import (
	"fmt"

	"github.com/cellscape/cellscape/property"
)

// scalar is how a value of a kind without parts is written in Go.
type scalar struct {
	goType string // outside an entity
	value  string // function of package property that makes a Value of it, and its method that gives it back
	get    string
	wide   string // the Go type that those two have
	handle string // of a property
	field  string // Go type in a handle of several, one of property.ElementType
}

// scalars are the kinds that have a Go type of their own.
var scalars = map[property.Kind]scalar{
	property.KindInt8:          {"int8", "Int", "Int", "int64", "property.Int8", "int8"},
	property.KindInt16:         {"int16", "Int", "Int", "int64", "property.Int16", "int16"},
	property.KindInt32:         {"int32", "Int", "Int", "int64", "property.Int32", "int32"},
	property.KindInt64:         {"int64", "Int", "Int", "int64", "property.Int64", "int64"},
	property.KindUint8:         {"uint8", "Uint", "Uint", "uint64", "property.Uint8", "uint8"},
	property.KindUint16:        {"uint16", "Uint", "Uint", "uint64", "property.Uint16", "uint16"},
	property.KindUint32:        {"uint32", "Uint", "Uint", "uint64", "property.Uint32", "uint32"},
	property.KindUint64:        {"uint64", "Uint", "Uint", "uint64", "property.Uint64", "uint64"},
	property.KindEntityID:      {"entity.ID", "Uint", "Uint", "uint64", "property.Uint64", "uint64"},
	property.KindFloat32:       {"float32", "Float", "Float", "float64", "property.Float32", "float32"},
	property.KindFloat64:       {"float64", "Float", "Float", "float64", "property.Float64", "float64"},
	property.KindBool:          {"bool", "BoolValue", "Bool", "bool", "property.Bool", "bool"},
	property.KindString:        {"string", "StringValue", "Str", "string", "property.String", "string"},
	property.KindUnicodeString: {"string", "StringValue", "Str", "string", "property.String", "string"},
	property.KindBlob:          {"[]byte", "Bytes", "Bytes", "[]byte", "property.Blob", "[]byte"},
	property.KindVec2:          same("property.Vector2", "Vec2", "Vec2"),
	property.KindVec3:          same("property.Vector3", "Vec3", "Vec3"),
	property.KindVec4:          same("property.Vector4", "Vec4", "Vec4"),
	property.KindMailbox:       {"property.Mailbox", "MailboxValue", "Mailbox", "property.Mailbox", "property.MailboxField", "property.Mailbox"},
}

// same is a kind whose Go type is package property's own and has no handle with a name.
func same(goType, value, get string) scalar {
	return scalar{goType, value, get, goType, "property.Field[" + goType + "]", goType}
}

// handle returns the type of a handle for a property, or for a field of a FIXED_DICT that is one.
func (g *generator) handle(t *property.DataType) string {
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		if e := t.Elem(); e.Kind() == property.KindFixedDict && t.Kind() == property.KindArray {
			return "property.Array[" + g.dicts.of(e).name + "]"
		}
		return "property.Slice[" + element(t.Elem()) + "]"
	case property.KindFixedDict:
		return g.dicts.of(t).name
	case property.KindMap:
		return "property.Map[" + element(t.Key()) + ", " + element(t.Elem()) + "]"
	case property.KindAny:
		return "property.Any"
	case property.KindUser:
		return "property.Custom[" + g.userType(t.UserName()) + "]"
	}
	return scalars[t.Kind()].handle
}

// element returns the Go type of an element in a handle of several.
func element(t *property.DataType) string {
	if s, ok := scalars[t.Kind()]; ok {
		return s.field
	}
	return "property.Value"
}

// parameter returns the Go type that a script's method takes for an argument: what
// script.BindMethods accepts, which gives a FIXED_DICT or a user type as it is.
func parameter(t *property.DataType) string {
	switch t.Kind() {
	case property.KindAny:
		return "any"
	case property.KindArray, property.KindTuple:
		return "[]" + parameter(t.Elem())
	case property.KindMap:
		return "map[" + parameter(t.Key()) + "]" + parameter(t.Elem())
	}
	if s, ok := scalars[t.Kind()]; ok {
		return s.goType
	}
	return "property.Value"
}

// plain returns the Go type of a value outside an entity: an argument, or what a getter returns.
func (g *generator) plain(t *property.DataType) string {
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		return "[]" + g.plain(t.Elem())
	case property.KindFixedDict:
		if t.AllowsNone() {
			return "*" + g.dicts.of(t).data()
		}
		return g.dicts.of(t).data()
	case property.KindMap:
		return "[]Pair[" + g.plain(t.Key()) + ", " + g.plain(t.Elem()) + "]"
	}
	if s, ok := scalars[t.Kind()]; ok {
		return s.goType
	}
	return "property.Value"
}

// toValue returns the expression that makes a property.Value of x, of type plain(t).
func (g *generator) toValue(t *property.DataType, x string) string {
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		return fmt.Sprintf("genList(%s, %s)", x, g.toFunc(t.Elem()))
	case property.KindFixedDict:
		if t.AllowsNone() {
			return fmt.Sprintf("genOptional(%s, %s)", x, g.dicts.of(t).toValue())
		}
		return g.dicts.of(t).toValue() + "(" + x + ")"
	case property.KindMap:
		return fmt.Sprintf("genPairs(%s, %s, %s)", x, g.toFunc(t.Key()), g.toFunc(t.Elem()))
	}
	s, ok := scalars[t.Kind()]
	switch {
	case !ok:
		return x
	case s.goType != s.wide:
		x = s.wide + "(" + x + ")"
	}
	return "property." + s.value + "(" + x + ")"
}

// toFunc is toValue as a function.
func (g *generator) toFunc(t *property.DataType) string {
	if s, ok := scalars[t.Kind()]; ok && s.goType == s.wide {
		return "property." + s.value
	}
	if t.Kind() == property.KindFixedDict && !t.AllowsNone() {
		return g.dicts.of(t).toValue()
	}
	return fmt.Sprintf("func(x %s) property.Value { return %s }", g.plain(t), g.toValue(t, "x"))
}

// fromValue returns the expression that makes a plain(t) of v, a property.Value of the type.
func (g *generator) fromValue(t *property.DataType, v string) string {
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		return fmt.Sprintf("genSlice(%s, %s)", v, g.fromFunc(t.Elem()))
	case property.KindFixedDict:
		if t.AllowsNone() {
			return fmt.Sprintf("genPointer(%s, %s)", v, g.dicts.of(t).fromValue())
		}
		return g.dicts.of(t).fromValue() + "(" + v + ")"
	case property.KindMap:
		return fmt.Sprintf("genPairsOf(%s, %s, %s)", v, g.fromFunc(t.Key()), g.fromFunc(t.Elem()))
	}
	s, ok := scalars[t.Kind()]
	switch {
	case !ok:
		return v
	case s.goType != s.wide:
		return s.goType + "(" + v + "." + s.get + "())"
	}
	return v + "." + s.get + "()"
}

// fromFunc is fromValue as a function.
func (g *generator) fromFunc(t *property.DataType) string {
	if s, ok := scalars[t.Kind()]; ok && s.goType == s.wide {
		return "property.Value." + s.get
	}
	if t.Kind() == property.KindFixedDict && !t.AllowsNone() {
		return g.dicts.of(t).fromValue()
	}
	return fmt.Sprintf("func(v property.Value) %s { return %s }", g.plain(t), g.fromValue(t, "v"))
}

// describe says a type in a comment.
func (g *generator) describe(t *property.DataType) string {
	switch t.Kind() {
	case property.KindArray, property.KindTuple:
		size := ""
		if t.Size() > 0 {
			size = fmt.Sprintf("%d ", t.Size())
		}
		return fmt.Sprintf("%v of %s%s", t.Kind(), size, g.describe(t.Elem()))
	case property.KindFixedDict:
		if t.AllowsNone() {
			return fmt.Sprintf("%v %s or None", t.Kind(), g.dicts.of(t).name)
		}
		return fmt.Sprintf("%v %s", t.Kind(), g.dicts.of(t).name)
	case property.KindMap:
		return fmt.Sprintf("%v of %s to %s", t.Kind(), g.describe(t.Key()), g.describe(t.Elem()))
	case property.KindUser:
		return fmt.Sprintf("%v %s", t.Kind(), t.UserName())
	}
	return t.Kind().String()
}
