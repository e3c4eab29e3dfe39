package property

import "fmt"

// parseDict reads a FIXED_DICT: the fields of its Parent first, then its own.
func (l *loader) parseDict(e *element, path string, chain []string) *DataType {
	var fields []DictField
	allowNone, bad, by := false, false, ""
	if e.text == "CLASS" {
		l.notice(e.position, path, "CLASS is a FIXED_DICT here", "write FIXED_DICT")
	}
	if p := e.child("Parent"); p != nil {
		fields, bad = l.parseDictParent(p, path+"/Parent", chain)
	}
	for _, c := range e.children {
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
			l.noChildren(c, path+"/implementedBy")
			by = c.text
			l.notice(c.position, path+"/implementedBy", "a FIXED_DICT is a plain record here", "convert values in the script that uses them")
		case "TypeName":
			l.keep(c, path+"/TypeName")
		case "Parent", "Default":
		default:
			l.unknown(c, path)
		}
	}
	if bad {
		return nil
	}
	t := l.made(e, path)(NewFixedDict(allowNone, fields...))
	if t != nil && by != "" {
		t = t.WithImplementedBy(by)
	}
	return t
}

func (l *loader) parseDictParent(e *element, path string, chain []string) (fields []DictField, bad bool) {
	parent := l.parseType(e, path, chain)
	if parent == nil {
		return nil, true
	}
	if parent.kind != KindFixedDict {
		l.fault(e.position, path, fmt.Sprintf("%v is not a FIXED_DICT", parent.kind), "name an alias of a FIXED_DICT")
		return nil, true
	}
	return append(fields, parent.fields...), false
}

func (l *loader) parseDictField(e *element, path string, chain []string) (f DictField, ok bool) {
	f.Name = e.name
	l.noText(e, path)
	l.once(e, path, "")
	for _, c := range e.children {
		switch c.name {
		case "Type":
			f.Type = l.parseType(c, path+"/Type", chain)
		case "DatabaseLength":
			l.noChildren(c, path+"/DatabaseLength")
			f.DatabaseLength = l.length(c, path+"/DatabaseLength")
		case "Persistent":
			f.Transient = !l.boolean(c, path)
		case "Default": // read below, when the type is known
		default:
			l.unknown(c, path)
		}
	}
	if e.child("Type") == nil {
		l.fault(e.position, path, "field has no Type", "add <Type> TYPE </Type>")
	}
	if f.Type == nil {
		return f, false
	}
	if d := e.child("Default"); d != nil {
		f.Default, ok = l.parseValue(f.Type, d, path+"/Default")
		return f, ok
	}
	return f, true
}
