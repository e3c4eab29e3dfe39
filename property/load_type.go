package property

import (
	"fmt"
	"strconv"
)

// refusedType returns what to use instead of a type that has no meaning here, "" if the type is no
// such.
func refusedType(name string) (remedy string) {
	switch name {
	case "UDO_REF":
		return "spaces hold no user data objects: use ENTITY_ID of an entity that stands for the object"
	case "ENTITY_COMPONENT":
		return "a component is no value: list it in Components"
	}
	return ""
}

// parseType reads a data type from an element's text and children, or reports why it cannot and
// returns nil. chain is the aliases that lead to it.
func (l *loader) parseType(e *element, path string, chain []string) *DataType {
	l.once(e, path, "")
	t := l.parseBareType(e, path, chain)
	d := e.child("Default")
	if d == nil || t == nil {
		return t
	}
	v, ok := l.parseValue(t, d, path+"/Default")
	if !ok {
		return nil
	}
	u, err := t.WithDefault(v)
	if err != nil {
		l.badValue(t, d, path+"/Default")
		return nil
	}
	return u
}

// parseBareType reads a type without the default that an element may give it.
func (l *loader) parseBareType(e *element, path string, chain []string) *DataType {
	name := e.text
	if inner := e.child("Type"); name == "" && inner != nil {
		l.noChildren(e, path, "Type", "Default")
		return l.parseType(inner, path+"/Type", chain)
	}
	l.evidence.note(dialectOfType(name), name, e.position)
	if remedy := refusedType(name); remedy != "" {
		l.fault(e.position, path, fmt.Sprintf("type %s is not supported", name), remedy)
		return nil
	}
	if a := l.aliases[name]; a != nil {
		l.noChildren(e, path, "Default")
		return l.resolve(a, chain)
	}
	kind, ok := kindNamed(name)
	if !ok {
		l.fault(e.position, path, fmt.Sprintf("unknown type %q", shorten(name)), "use a data type, or declare the name in alias.xml or types.xml")
		return nil
	}
	switch kind {
	case KindArray, KindTuple:
		return l.parseSequence(kind, e, path, chain)
	case KindMap:
		return l.parseMap(e, path, chain)
	case KindFixedDict:
		return l.parseDict(e, path, chain)
	case KindUser:
		return l.parseUserType(e, path)
	}
	l.noChildren(e, path, "Default")
	switch {
	case kind == KindAny && name != "ANY":
		l.notice(e.position, path, name+" is ANY here: a free value, sent as MessagePack", "describe the value as FIXED_DICT, ARRAY or MAP if its form is known")
	case name == "OBJECT_ID":
		l.notice(e.position, path, "OBJECT_ID is ENTITY_ID here, 64 bits wide", "write ENTITY_ID")
	}
	return originalScalar(kind, name)
}

// originalScalar returns the scalar type of a name. What is a dictionary or a list by its name
// begins as an empty one, as in the original: its scripts fill it without asking whether it is
// there.
func originalScalar(kind Kind, name string) *DataType {
	var empty any
	switch name {
	case "PY_DICT":
		empty = map[string]any{}
	case "PY_LIST", "PY_TUPLE":
		empty = []any{}
	default:
		return Scalar(kind)
	}
	v, err := AnyValue(empty)
	if err != nil {
		panic(err) // cannot be: it is a free value
	}
	t := *Scalar(kind)
	t.def = v
	return &t
}

func (l *loader) parseSequence(kind Kind, e *element, path string, chain []string) *DataType {
	var elem *DataType
	size, bad, asBlob := 0, false, false
	for _, c := range e.children {
		switch c.name {
		case "of":
			elem = l.parseType(c, path+"/of", chain)
			bad = bad || elem == nil
		case "size":
			l.noChildren(c, path+"/size")
			var err error
			if size, err = strconv.Atoi(c.text); err != nil || size < 0 {
				l.fault(c.position, path+"/size", fmt.Sprintf("%q is not a number of elements", shorten(c.text)), "state a number, 0 for any number")
				bad = true
			}
		case "persistAsBlob":
			asBlob = l.boolean(c, path)
		case "Default":
		default:
			l.unknown(c, path)
		}
	}
	if e.child("of") == nil {
		l.fault(e.position, path, fmt.Sprintf("%v without element type", kind), "add <of> TYPE </of>")
		return nil
	}
	if bad {
		return nil
	}
	t := l.made(e, path)(newSequence(kind, elem, size))
	if t != nil && asBlob {
		t = t.WithStorage(true)
	}
	return t
}

// parseMap reads <Type> MAP <key> KEY </key> <of> VALUE </of> </Type>.
func (l *loader) parseMap(e *element, path string, chain []string) *DataType {
	l.noChildren(e, path, "key", "of", "Default")
	k, v := e.child("key"), e.child("of")
	if k == nil || v == nil {
		l.fault(e.position, path, "MAP without type of key or value", "add <key> TYPE </key> and <of> TYPE </of>")
		return nil
	}
	key, value := l.parseType(k, path+"/key", chain), l.parseType(v, path+"/of", chain)
	if key == nil || value == nil {
		return nil
	}
	return l.made(e, path)(NewMap(key, value))
}

// made reports the error of making a composite type, and counts its elements.
func (l *loader) made(e *element, path string) func(*DataType, error) *DataType {
	return func(t *DataType, err error) *DataType {
		if err != nil {
			l.fault(e.position, path, err.Error(), "simplify the type")
			return nil
		}
		if l.elements += t.nodes; l.elements > maxTreeElements {
			l.fault(e.position, path, fmt.Sprintf("the data types of the tree have more than %d elements", maxTreeElements), "use variable sizes instead of fixed ones")
			return nil
		}
		return t
	}
}
