package property

import (
	"fmt"
	"reflect"
	"slices"
	"unicode"
)

// Struct tags that CheckFields and BindFields read.
const (
	// tagProperty states the property's name where it is not the field's name in lower camel case:
	//	Timer property.Int32 `property:"_timer1"`
	tagProperty = "property"
	// tagLocal, with the value "local", marks a field that is not a property: its owner accepts that it is lost when the
	// entity moves to another process.
	//	path []property.Vector3 `cellscape:"local"`
	tagLocal = "cellscape"
)

var handleType = reflect.TypeFor[handle]()

// CheckFields checks the struct type t (or the struct that t points to), the script of one side of the entity type d:
// every field is a [Field] whose name, in lower camel case or as its tag `property:"name"` says, is a property that the
// side holds, with a matching Go type; or is tagged `cellscape:"local"`; or is of one of the ignored types. Embedded
// structs are checked like fields of t itself, so that an interface of the definition can be a struct of its own.
//
// The error is a [Faults] with everything found.
func CheckFields(t reflect.Type, d *Definition, side Side, ignore ...reflect.Type) error {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	r := newReport()
	if t == nil || t.Kind() != reflect.Struct {
		r.fault(position{}, fmt.Sprint(t), "a script is a struct", "register a struct type")
		return r.err()
	}
	c := fieldChecker{d: d, side: side, ignore: ignore, report: r, bound: make(map[string]string)}
	c.check(t, t.String())
	return r.err()
}

type fieldChecker struct {
	d      *Definition
	side   Side
	ignore []reflect.Type
	report *report
	bound  map[string]string // property name → field that has it
}

func (c *fieldChecker) check(t reflect.Type, path string) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := path + "." + f.Name
		switch {
		case slices.Contains(c.ignore, f.Type) || f.Tag.Get(tagLocal) == "local":
		case isHandle(f.Type):
			c.checkHandle(f, at)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			c.check(f.Type, at)
		default:
			c.report.fault(position{}, at, fmt.Sprintf("%v is not a property and would be lost on a move", f.Type),
				"make it a property.Field of a property, or tag it `cellscape:\"local\"`")
		}
	}
}

func (c *fieldChecker) checkHandle(f reflect.StructField, at string) {
	name := propertyName(f)
	p := c.d.Property(name)
	switch {
	case !f.IsExported():
		c.report.fault(position{}, at, "the field is not exported and cannot be bound", "begin its name with a capital letter")
		return
	case p == nil:
		c.report.fault(position{}, at, fmt.Sprintf("%s has no property %q", c.d.Name, name),
			"declare it in the definition, or name the right one with `property:\"name\"`")
		return
	case c.d.slot(c.side, p.Index) < 0:
		c.report.fault(position{}, at, fmt.Sprintf("property %q has flag %v and is not on the %v side", name, p.Flags, c.side),
			"move the field to the script of another side, or change the flag")
	}
	if h := reflect.New(f.Type).Interface().(handle); !h.accepts(p.Type.Kind()) {
		c.report.fault(position{}, at, fmt.Sprintf("%v does not hold property %q of type %v", f.Type, name, p.Type),
			"use "+fieldFor(p.Type.Kind()))
	}
	if other := c.bound[name]; other != "" {
		c.report.fault(position{}, at, fmt.Sprintf("property %q is bound by %s already", name, other), "remove one of the two")
	}
	c.bound[name] = at
}

func isHandle(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(handleType)
}

// BindFields connects the handles of a script, a pointer to a struct whose type passed [CheckFields] for the side of v,
// with the same ignored types. A struct that would not pass panics.
func BindFields(script any, v *Values, ignore ...reflect.Type) {
	p := reflect.ValueOf(script)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("property: BindFields of %T, which is not a pointer to a struct", script))
	}
	bindStruct(p.Elem(), v, ignore)
}

func bindStruct(s reflect.Value, v *Values, ignore []reflect.Type) {
	t := s.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case slices.Contains(ignore, f.Type) || f.Tag.Get(tagLocal) == "local":
		case isHandle(f.Type):
			name := propertyName(f)
			p := v.def.Property(name)
			h, ok := s.Field(i).Addr().Interface().(handle)
			if !ok || p == nil || !v.Holds(p.Index) || !h.accepts(p.Type.Kind()) {
				panic(fmt.Sprintf("property: BindFields of %v.%s, which CheckFields refuses", t, f.Name))
			}
			h.bind(v, p.Index)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			bindStruct(s.Field(i), v, ignore)
		}
	}
}

// propertyName returns the property that a field is for.
func propertyName(f reflect.StructField) string {
	if name := f.Tag.Get(tagProperty); name != "" {
		return name
	}
	return lowerCamel(f.Name)
}

// lowerCamel lowers the first word of a Go name, also one in capitals: Health → health, HPMax → hpMax, HP → hp.
func lowerCamel(name string) string {
	r := []rune(name)
	for i := range r {
		if !unicode.IsUpper(r[i]) || i > 0 && i+1 < len(r) && unicode.IsLower(r[i+1]) {
			break
		}
		r[i] = unicode.ToLower(r[i])
	}
	return string(r)
}

// fieldFor names the handle that holds values of a kind.
func fieldFor(k Kind) string {
	switch k {
	case KindString, KindUnicodeString:
		return "property.String"
	case KindBlob:
		return "property.Blob"
	case KindVec2:
		return "property.Field[property.Vector2]"
	case KindVec3:
		return "property.Field[property.Vector3]"
	case KindVec4:
		return "property.Field[property.Vector4]"
	case KindMailbox:
		return "property.Field[property.Mailbox]"
	case KindEntityID:
		return "property.Uint64"
	case KindArray, KindTuple, KindFixedDict:
		return "property.Field[property.Value]"
	}
	names := [...]string{
		KindInt8: "Int8", KindInt16: "Int16", KindInt32: "Int32", KindInt64: "Int64",
		KindUint8: "Uint8", KindUint16: "Uint16", KindUint32: "Uint32", KindUint64: "Uint64",
		KindFloat32: "Float32", KindFloat64: "Float64", KindBool: "Bool",
	}
	return "property." + names[k]
}
