package property

import (
	"fmt"
	"reflect"
	"slices"
)

// Struct tags that CheckFields and BindFields read.
const (
	// tagProperty states the property's name where it is not the field's name in lower camel case:
	//	Timer property.Int32 `property:"_timer1"`
	tagProperty = "property"
	// tagComponent marks a struct whose fields are the properties of a component:
	//	Purse Purse `component:"purse"`
	tagComponent = "component"
	// tagLocal, with the value "local", marks a field that is not a property: its owner accepts
	// that it is lost when the entity moves to another process.
	//	path []property.Vector3 `cellscape:"local"`
	tagLocal = "cellscape"
)

var (
	handleType = reflect.TypeFor[handle]()
	dictType   = reflect.TypeFor[Dict]()
)

// isHandle reports whether fields of type t are handles, the structs of FIXED_DICTs among them.
func isHandle(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(handleType)
}

// isDict reports whether t is a struct of handles for a FIXED_DICT.
func isDict(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	f, ok := t.FieldByName("Dict")
	return ok && f.Anonymous && f.Type == dictType && len(f.Index) == 1
}

// BindFields connects the handles of a script, a pointer to a struct whose type passed
// [CheckFields] for the side of v, with the same ignored types. A struct that would not pass
// panics.
func BindFields(script any, v *Values, ignore ...reflect.Type) {
	p := reflect.ValueOf(script)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("property: BindFields of %T, which is not a pointer to a struct", script))
	}
	bindStruct(p.Elem(), v, "", ignore)
}

// bindStruct connects the fields of a script, or of a component of it, whose name then ends in a
// dot.
func bindStruct(s reflect.Value, v *Values, component string, ignore []reflect.Type) {
	t := s.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case slices.Contains(ignore, f.Type) || isLocal(f):
		case isHandle(f.Type):
			p := v.def.Property(component + propertyName(f))
			if p == nil || !v.Holds(p.Index) {
				panic(fmt.Sprintf("property: BindFields of %v.%s, which CheckFields refuses", t, f.Name))
			}
			bindHandle(s.Field(i), v, p.Index, nil, p.Type)
		case f.Tag.Get(tagComponent) != "":
			bindStruct(s.Field(i), v, f.Tag.Get(tagComponent)+".", ignore)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			bindStruct(s.Field(i), v, component, ignore)
		}
	}
}

// bindHandle connects a handle with the part of property index that path leads to, of type t.
func bindHandle(field reflect.Value, v *Values, index int, path []int, t *DataType) {
	if isDict(field.Type()) {
		bindDict(field, v, index, path, t)
		return
	}
	h, ok := field.Addr().Interface().(handle)
	if !ok || !h.accepts(t) {
		panic(fmt.Sprintf("property: BindFields of a %v with a %v, which CheckFields refuses", field.Type(), t.kind))
	}
	h.bind(v, index, path)
}

// bindDict connects a struct of handles with a FIXED_DICT.
func bindDict(s reflect.Value, v *Values, index int, path []int, t *DataType) {
	for i := range s.NumField() {
		f := s.Type().Field(i)
		switch {
		case f.Type == dictType && f.Anonymous:
			s.Field(i).Addr().Interface().(*Dict).bind(v, index, path)
		case isHandle(f.Type):
			k := t.Field(propertyName(f))
			if k < 0 {
				panic(fmt.Sprintf("property: BindFields of %v.%s, which CheckFields refuses", s.Type(), f.Name))
			}
			bindHandle(s.Field(i), v, index, append(path[:len(path):len(path)], k), t.fields[k].Type)
		}
	}
}

func isLocal(f reflect.StructField) bool { return f.Tag.Get(tagLocal) == "local" }

// propertyName returns the property, or the field of a FIXED_DICT, that a field is for.
func propertyName(f reflect.StructField) string {
	if name := f.Tag.Get(tagProperty); name != "" {
		return name
	}
	return FieldProperty(f.Name)
}
