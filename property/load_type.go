package property

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// builtin lists the data types that need no alias: first the names of the kinds, then the other dialects' names for them.
var builtin = func() map[string]Kind {
	m := map[string]Kind{
		"FLOAT": KindFloat32, "DOUBLE": KindFloat64, "UNICODE": KindUnicodeString, "ENTITYCALL": KindMailbox, "OBJECT_ID": KindEntityID,
	}
	for k := KindInt8; k <= KindMailbox; k++ {
		m[k.String()] = k
	}
	return m
}()

// refused lists types of the dialects that have no meaning here, with what to use instead.
var refused = map[string]string{
	"PYTHON":           "describe the value as FIXED_DICT, or encode it into a BLOB",
	"PY_DICT":          "describe the value as FIXED_DICT, or encode it into a BLOB",
	"PY_TUPLE":         "describe the value as TUPLE or FIXED_DICT",
	"PY_LIST":          "describe the value as ARRAY",
	"CLASS":            "describe the value as FIXED_DICT",
	"USER_TYPE":        "describe the value as FIXED_DICT, or encode it into a BLOB",
	"UDO_REF":          "use ENTITY_ID of an entity that stands for the object",
	"ENTITY_COMPONENT": "use an interface",
}

type alias struct {
	*element
	t     *DataType
	state visit
}

// visit is how far a thing that may refer to others, and so to itself, has been read.
type visit uint8

const (
	unread visit = iota
	reading
	read
)

// readAliases reads all alias files and resolves every alias, used or not.
func (l *loader) readAliases() {
	var list []*alias
	for _, file := range aliasFiles {
		if _, err := fs.Stat(l.fsys, file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		root := l.open(file, position{}, "", "")
		if root == nil {
			continue
		}
		l.noText(root, root.name)
		for _, e := range root.children {
			if a := l.addAlias(e); a != nil {
				list = append(list, a)
			}
		}
	}
	for _, a := range list {
		l.resolve(a, nil)
	}
}

func (l *loader) addAlias(e *element) *alias {
	if err := checkName(e.name); err != nil {
		l.fault(e.position, "", "alias: "+err.Error(), nameRemedy)
		return nil
	}
	if k, ok := builtin[e.name]; ok {
		if k == KindEntityID || k == KindBool {
			l.notice(e.position, e.name, fmt.Sprintf("%s is a type of its own here; what the alias says is not used", k), "remove the alias")
		} else {
			l.fault(e.position, e.name, "alias has the name of a data type", "rename it")
		}
		return nil
	}
	if other := l.aliases[e.name]; other != nil {
		l.fault(e.position, e.name, fmt.Sprintf("alias is declared twice, first at %s:%d", other.file, other.line), "remove one of the two")
		return nil
	}
	if len(l.aliases) >= MaxAliases {
		l.fault(e.position, e.name, fmt.Sprintf("more than %d aliases", MaxAliases), "remove those that are not used")
		return nil
	}
	a := &alias{element: e}
	l.aliases[e.name] = a
	return a
}

// resolve returns the type of an alias, nil if it is faulty. chain is the aliases that lead to it.
func (l *loader) resolve(a *alias, chain []string) *DataType {
	switch a.state {
	case read:
		return a.t
	case reading:
		start := 0
		for i, name := range chain {
			if name == a.name {
				start = i
			}
		}
		l.fault(a.position, a.name, "cycle of aliases: "+strings.Join(append(chain[start:len(chain):len(chain)], a.name), " → "), "let one of them end in a data type")
		return nil
	}
	a.state = reading
	t := l.parseType(a.element, a.name, append(chain[:len(chain):len(chain)], a.name))
	if d := a.child("Default"); d != nil && t != nil {
		if v, ok := l.parseDefault(t, d, a.name+"/Default"); ok {
			if u, err := t.WithDefault(v); err == nil {
				t = u
			} else {
				l.badDefault(t, d, a.name+"/Default")
			}
		}
	}
	a.t, a.state = t, read
	return t
}

// parseType reads a data type from an element's text and children, or reports why it cannot and returns nil.
func (l *loader) parseType(e *element, path string, chain []string) *DataType {
	name := e.text
	if inner := e.child("Type"); name == "" && inner != nil {
		return l.parseType(inner, path+"/Type", chain)
	}
	if remedy, ok := refused[name]; ok {
		l.fault(e.position, path, fmt.Sprintf("type %s is not supported", name), remedy)
		return nil
	}
	if a := l.aliases[name]; a != nil {
		l.noChildren(e, path, "Default")
		return l.resolve(a, chain)
	}
	kind, ok := builtin[name]
	if !ok {
		l.fault(e.position, path, fmt.Sprintf("unknown type %q", shorten(name)), "use a data type, or declare the name in alias.xml or types.xml")
		return nil
	}
	if name == "OBJECT_ID" {
		l.notice(e.position, path, "OBJECT_ID is ENTITY_ID here, 64 bits wide", "write ENTITY_ID")
	}
	switch kind {
	case KindArray, KindTuple:
		return l.parseSequence(kind, e, path, chain)
	case KindFixedDict:
		return l.parseDict(e, path, chain)
	}
	l.noChildren(e, path, "Default")
	return Scalar(kind)
}

// noChildren reports children where the type has none, but for those allowed.
func (l *loader) noChildren(e *element, path, allowed string) {
	for _, c := range e.children {
		if c.name != allowed {
			l.unknown(c, path)
		}
	}
}

func (l *loader) parseSequence(kind Kind, e *element, path string, chain []string) *DataType {
	var elem *DataType
	size, bad, seen := 0, false, make(map[string]bool)
	for _, c := range e.children {
		l.once(seen, c, path)
		switch c.name {
		case "of":
			elem = l.parseType(c, path+"/of", chain)
			bad = bad || elem == nil
		case "size":
			var err error
			if size, err = strconv.Atoi(c.text); err != nil || size < 0 {
				l.fault(c.position, path+"/size", fmt.Sprintf("%q is not a number of elements", shorten(c.text)), "state a number, 0 for any number")
				bad = true
			}
		case "persistAsBlob", "Default":
		default:
			l.unknown(c, path)
		}
	}
	if !seen["of"] {
		l.fault(e.position, path, fmt.Sprintf("%v without element type", kind), "add <of> TYPE </of>")
		return nil
	}
	if bad {
		return nil
	}
	return l.made(e, path)(newSequence(kind, elem, size))
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

func (l *loader) parseDict(e *element, path string, chain []string) *DataType {
	var fields []DictField
	allowNone, bad, seen := false, false, make(map[string]bool)
	if p := e.child("Parent"); p != nil {
		if parent := l.parseType(p, path+"/Parent", chain); parent == nil {
			bad = true
		} else if parent.kind != KindFixedDict {
			l.fault(p.position, path+"/Parent", fmt.Sprintf("%v is not a FIXED_DICT", parent.kind), "name an alias of a FIXED_DICT")
			bad = true
		} else {
			fields = append(fields, parent.fields...)
		}
	}
	for _, c := range e.children {
		l.once(seen, c, path)
		switch c.name {
		case "Properties":
			l.noText(c, path+"/Properties")
			for _, f := range c.children {
				field, ok := l.parseDictField(f, path+"/Properties/"+f.name, chain)
				fields, bad = append(fields, field), bad || !ok
			}
		case "AllowNone":
			allowNone = l.boolean(c, path)
		case "implementedBy":
			l.notice(c.position, path+"/implementedBy", "a FIXED_DICT is a plain record here", "convert values in the script that uses them")
		case "Parent", "TypeName", "Default":
		default:
			l.unknown(c, path)
		}
	}
	if bad {
		return nil
	}
	return l.made(e, path)(NewFixedDict(allowNone, fields...))
}

func (l *loader) parseDictField(e *element, path string, chain []string) (f DictField, ok bool) {
	f.Name = e.name
	l.noText(e, path)
	seen := make(map[string]bool)
	for _, c := range e.children {
		l.once(seen, c, path)
		switch c.name {
		case "Type":
			f.Type = l.parseType(c, path+"/Type", chain)
		case "Default", "DatabaseLength", "Persistent": // the default is read below, when the type is known
		default:
			l.unknown(c, path)
		}
	}
	if !seen["Type"] {
		l.fault(e.position, path, "field has no Type", "add <Type> TYPE </Type>")
	}
	if f.Type == nil {
		return f, false
	}
	if d := e.child("Default"); d != nil {
		f.Default, ok = l.parseDefault(f.Type, d, path+"/Default")
		return f, ok
	}
	return f, true
}
