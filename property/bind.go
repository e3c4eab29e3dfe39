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
// panics. Whoever makes many scripts of a type works out a [Binding] once.
func BindFields(script any, v *Values, ignore ...reflect.Type) {
	t := reflect.TypeOf(script)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("property: BindFields of %T, which is not a pointer to a struct", script))
	}
	NewBinding(t, v.def, ignore...).Bind(reflect.ValueOf(script), v)
}

// Binding is what BindFields has to do for each script of a type. It is only read once it is made.
type Binding struct {
	script  reflect.Type
	def     *Definition
	handles []boundHandle
}

// boundHandle is a handle of a script, or the Dict of a struct of handles.
type boundHandle struct {
	field []int // where it is in the script, as for reflect.Value.FieldByIndex
	index int   // its property
	path  []int // its part of that
	dict  bool
}

// NewBinding works out the handles of scripts of a type, a pointer to a struct, for an entity type.
// It panics for a struct that CheckFields would refuse.
func NewBinding(script reflect.Type, d *Definition, ignore ...reflect.Type) *Binding {
	b := &Binding{script: script, def: d}
	b.addStruct(script.Elem(), nil, "", ignore)
	return b
}

// Bind connects the handles of a script with the values of an entity. It panics for another script or
// entity type, for nil, and if v is of a side that lacks a property.
func (b *Binding) Bind(script reflect.Value, v *Values) {
	if script.Type() != b.script || script.IsNil() || v.def != b.def {
		panic(fmt.Sprintf("property: Bind of a %v with a %s", script.Type(), v.def.Name))
	}
	b.connect(script.Elem(), v)
}

// bindDict connects a struct of handles with a FIXED_DICT, of type t.
func bindDict(s reflect.Value, v *Values, index int, path []int, t *DataType) {
	b := Binding{def: v.def}
	b.addDict(s.Type(), boundHandle{index: index, path: path}, t)
	b.connect(s, v)
}

func (b *Binding) connect(s reflect.Value, v *Values) {
	for _, h := range b.handles {
		if !v.Holds(h.index) {
			panic(fmt.Sprintf("property: BindFields of %v, which CheckFields refuses: %s", s.Type(), v.def.Properties[h.index].Name))
		}
		if x := s.FieldByIndex(h.field).Addr().Interface(); h.dict {
			x.(*Dict).bind(v, h.index, h.path)
		} else {
			x.(handle).bind(v, h.index, h.path)
		}
	}
}

// under is the way to field i of what field leads to.
func under(field []int, i int) []int { return append(field[:len(field):len(field)], i) }

// addStruct adds the fields of a script, or of a component of it, whose name then ends in a dot.
func (b *Binding) addStruct(t reflect.Type, at []int, component string, ignore []reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case slices.Contains(ignore, f.Type) || isLocal(f):
		case isHandle(f.Type):
			p := b.def.Property(component + propertyName(f))
			if p == nil {
				panic(fmt.Sprintf("property: BindFields of %v.%s, which CheckFields refuses", t, f.Name))
			}
			b.addHandle(f.Type, boundHandle{field: under(at, i), index: p.Index}, p.Type)
		case f.Tag.Get(tagComponent) != "":
			b.addStruct(f.Type, under(at, i), f.Tag.Get(tagComponent)+".", ignore)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			b.addStruct(f.Type, under(at, i), component, ignore)
		}
	}
}

// addHandle adds a handle of a part of a property, which is of type t.
func (b *Binding) addHandle(field reflect.Type, h boundHandle, t *DataType) {
	if isDict(field) {
		b.addDict(field, h, t)
		return
	}
	if x, ok := reflect.New(field).Interface().(handle); !ok || !x.accepts(t) {
		panic(fmt.Sprintf("property: BindFields of a %v with a %v, which CheckFields refuses", field, t.kind))
	}
	b.handles = append(b.handles, h)
}

// addDict adds a struct of handles of a FIXED_DICT.
func (b *Binding) addDict(s reflect.Type, of boundHandle, t *DataType) {
	for i := range s.NumField() {
		f, h := s.Field(i), of
		h.field = under(of.field, i)
		switch {
		case f.Type == dictType && f.Anonymous:
			h.dict = true
			b.handles = append(b.handles, h)
		case isHandle(f.Type):
			k := t.Field(propertyName(f))
			if k < 0 {
				panic(fmt.Sprintf("property: BindFields of %v.%s, which CheckFields refuses", s, f.Name))
			}
			h.path = under(of.path, k)
			b.addHandle(f.Type, h, t.fields[k].Type)
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
