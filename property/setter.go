package property

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Setters are the methods of a script, or of a client's class, that want to hear when a copy of a
// property changes: OnSet and the property's name, with one argument,
//
//	func (a *Avatar) OnSetHealth(c *property.Change)
//
// for changes of the whole and of parts alike: [Change.Nested] tells them apart, and Old is what
// was. They are called at ghosts and clients after the change is in place, and not while a copy is
// made. Source: seed S1, the callbacks set_NAME, setNested_NAME and setSlice_NAME.
type Setters struct {
	methods []int // by property index: method index of *T, or -1
}

const setterPrefix = "OnSet"

var setterType = reflect.TypeFor[func(*Change)]()

// FindSetters finds the setters of t, a pointer to a script's struct, for a side of entity type d.
// The error is a [Faults]: every method whose name begins with OnSet and a capital must be the
// setter of a property that the side holds.
func FindSetters(t reflect.Type, d *Definition, side Side) (*Setters, error) {
	s, r := &Setters{methods: make([]int, len(d.Properties))}, newReport()
	names := make(map[string]int, len(d.Properties))
	other := make(map[string]int) // of two properties of one setter name, as bag and Bag, or purse.gold and purseGold
	for i, p := range d.Properties {
		s.methods[i] = -1
		name := setterName(p.Name)
		if before, twice := names[name]; twice {
			other[name] = before
		}
		names[name] = i
	}
	for m := range t.NumMethod() {
		name := t.Method(m).Name
		if !IsSetterName(name) {
			continue
		}
		at := t.String() + "." + name
		i, ok := names[name]
		j, ambiguous := other[name]
		switch {
		case ambiguous:
			r.fault(position{}, at, fmt.Sprintf("it could be the setter of %q and of %q", d.Properties[j].Name, d.Properties[i].Name), "rename one of the two properties")
		case !ok:
			r.fault(position{}, at, fmt.Sprintf("%s has no property that it could be the setter of", d.Name), "correct the name, or do not begin it with OnSet")
		case d.slot(side, i) < 0:
			r.fault(position{}, at, fmt.Sprintf("property %q has flag %v and is not on the %v side", d.Properties[i].Name, d.Properties[i].Flags, side),
				"remove it, or change the flag")
		case methodSignature(t, m) != setterType:
			r.fault(position{}, at, fmt.Sprintf("%v is not the signature of a setter", methodSignature(t, m)), "use func(c *property.Change)")
		default:
			s.methods[i] = m
		}
	}
	return s, r.err()
}

// methodSignature returns the type of a method without its receiver.
func methodSignature(t reflect.Type, m int) reflect.Type { return reflect.Zero(t).Method(m).Type() }

// Call calls the setter of the changed property, if script, of the type that FindSetters was given,
// has one.
func (s *Setters) Call(script reflect.Value, c *Change) {
	if m := s.methods[c.Index]; m >= 0 {
		script.Method(m).Call([]reflect.Value{reflect.ValueOf(c)})
	}
}

// setterName returns the name of a property's setter: bag → OnSetBag, purse.gold → OnSetPurseGold,
// _timer → OnSet_timer.
func setterName(property string) string { return setterPrefix + GoName(property) }

// IsSetterName reports whether [FindSetters] takes a method of that name for a setter.
func IsSetterName(method string) bool {
	rest, ok := strings.CutPrefix(method, setterPrefix)
	return ok && startsUpper(rest)
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) || r == '_'
}
