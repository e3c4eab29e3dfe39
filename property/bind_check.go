package property

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// CheckFields checks the struct type t (or the struct that t points to), the script of one side of
// the entity type d: every field is a handle ([Field], [Slice], [Array], [Map], [Custom], [Any], a
// struct that embeds [Dict]) whose name, in lower camel case or as its tag `property:"name"` says,
// is a property that the side holds, of a matching type; or is a struct tagged `component:"name"`,
// whose fields are the properties of that component; or is tagged `cellscape:"local"`; or is of one
// of the ignored types. Embedded structs are checked like fields of t itself, so that an interface
// of the definition can be a struct of its own.
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
	c.check(t, t.String(), "", 0)
	return r.err()
}

type fieldChecker struct {
	d      *Definition
	side   Side
	ignore []reflect.Type
	report *report
	bound  map[string]string // property name → field that has it
}

// check checks the fields of a script, or of a component of it, whose name then ends in a dot.
func (c *fieldChecker) check(t reflect.Type, path, component string, depth int) {
	for f := range t.Fields() {
		at := path + "." + f.Name
		switch {
		case slices.Contains(c.ignore, f.Type) || isLocal(f):
		case isHandle(f.Type):
			c.checkHandle(f, at, component)
		case f.Tag.Get(tagComponent) != "" && f.Type.Kind() == reflect.Struct && component == "":
			c.checkComponent(f, at)
		case f.Anonymous && f.Type.Kind() == reflect.Struct && depth < MaxTypeDepth:
			c.check(f.Type, at, component, depth+1)
		default:
			c.report.fault(position{}, at, fmt.Sprintf("%v is not a property and would be lost on a move", f.Type),
				"make it a property.Field of a property, or tag it `cellscape:\"local\"`")
		}
	}
}

func (c *fieldChecker) checkComponent(f reflect.StructField, at string) {
	name := f.Tag.Get(tagComponent)
	if !f.IsExported() {
		c.unexported(at)
	} else if !c.d.hasComponent(name) {
		c.report.fault(position{}, at, fmt.Sprintf("%s has no component %q", c.d.Name, name),
			"declare it in the definition, or correct the tag")
	} else {
		c.check(f.Type, at, name+".", 1)
	}
}

func (c *fieldChecker) unexported(at string) {
	c.report.fault(position{}, at, "the field is not exported and cannot be bound", "begin its name with a capital letter")
}

func (c *fieldChecker) checkHandle(f reflect.StructField, at, component string) {
	name := component + propertyName(f)
	p := c.d.Property(name)
	switch {
	case !f.IsExported():
		c.unexported(at)
		return
	case p == nil:
		c.report.fault(position{}, at, fmt.Sprintf("%s has no property %q", c.d.Name, name),
			"declare it in the definition, or name the right one with `property:\"name\"`")
		return
	case c.d.slot(c.side, p.Index) < 0:
		c.report.fault(position{}, at, fmt.Sprintf("property %q has flag %v and is not on the %v side", name, p.Flags, c.side),
			"move the field to the script of another side, or change the flag")
	}
	c.checkType(f.Type, at, fmt.Sprintf("property %q", name), p.Type)
	if other := c.bound[name]; other != "" {
		c.report.fault(position{}, at, fmt.Sprintf("property %q is bound by %s already", name, other), "remove one of the two")
	}
	c.bound[name] = at
}

// checkType checks that a handle of type h can hold values of type t, and so on inwards.
func (c *fieldChecker) checkType(h reflect.Type, at, what string, t *DataType) {
	if !reflect.New(h).Interface().(handle).accepts(t) {
		c.report.fault(position{}, at, fmt.Sprintf("%v does not hold %s of type %v", h, what, t), "use "+handleFor(t))
		return
	}
	if isDict(h) {
		c.checkDict(h, at, t)
	} else if a, ok := reflect.New(h).Interface().(interface{ element() reflect.Type }); ok {
		if !isDict(a.element()) {
			c.report.fault(position{}, at, fmt.Sprintf("%v does not embed property.Dict", a.element()), "embed it, or use property.Slice[property.Value]")
			return
		}
		c.checkDict(a.element(), at, t.elem)
	}
}

// checkDict checks a struct of handles against a FIXED_DICT. It ends, since data types have a
// greatest depth.
func (c *fieldChecker) checkDict(s reflect.Type, at string, t *DataType) {
	bound := make(map[int]bool)
	for f := range s.Fields() {
		at := at + "." + f.Name
		k := t.Field(propertyName(f))
		switch {
		case f.Type == dictType && f.Anonymous:
		case !isHandle(f.Type):
			c.report.fault(position{}, at, fmt.Sprintf("%v is not a field of the FIXED_DICT", f.Type), "remove it: handles of a part hold nothing themselves")
		case !f.IsExported():
			c.unexported(at)
		case k < 0:
			c.report.fault(position{}, at, fmt.Sprintf("the FIXED_DICT has no field %q", propertyName(f)),
				"declare it in the definition, or name the right one with `property:\"name\"`")
		case bound[k]:
			c.report.fault(position{}, at, fmt.Sprintf("field %q is bound already", propertyName(f)), "remove one of the two")
		default:
			bound[k] = true
			c.checkType(f.Type, at, fmt.Sprintf("field %q", propertyName(f)), t.fields[k].Type)
		}
	}
}

// handleFor names the handle that holds values of a type.
func handleFor(t *DataType) string {
	handle := "property." + kindTable[t.kind].handle
	switch t.kind {
	case KindFixedDict:
		return "a struct that embeds property.Dict, or property.Field[property.Value]"
	case KindArray:
		if t.elem.kind == KindFixedDict {
			return "property.Array of a struct that embeds property.Dict, or property.Slice[property.Value]"
		}
		fallthrough
	case KindTuple:
		return handle + "[" + goNameFor(t.elem) + "]"
	case KindMap:
		return handle + "[" + goNameFor(t.key) + ", " + goNameFor(t.elem) + "]"
	case KindUser:
		return handle + "[" + t.user.goType().String() + "]"
	}
	return handle
}

// goNameFor names the Go type of an element of a type.
func goNameFor(t *DataType) string {
	switch goType := kindTable[t.kind].goType; {
	case goType == nil:
		return "property.Value"
	case t.kind == KindBlob:
		return "[]byte"
	default:
		return goType.String()
	}
}

// hasComponent reports whether some property of the type is of that component.
func (d *Definition) hasComponent(name string) bool {
	return slices.ContainsFunc(d.Properties, func(p *Property) bool { return strings.HasPrefix(p.Name, name+".") })
}
