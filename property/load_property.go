package property

import (
	"fmt"
	"strings"
)

// placeholder stands for a type that could not be read, and lets the rest of the definition be
// checked. A report with its fault never yields a Schema.
func placeholder(t *DataType) *DataType {
	if t == nil {
		return Scalar(KindInt8)
	}
	return t
}

func (l *loader) parseProperty(e *element, path string) *Property {
	p := &Property{Name: e.name, Flags: EditorOnly, where: e.position}
	defer l.keepIn(&p.Kept, path+"/")()
	l.noText(e, path)
	l.once(e, path, "")
	var flags, typed, replay bool
	var def *element
	for _, c := range e.children {
		switch c.name {
		case "Flags":
			flags = true
		case "Type":
			typed = true
		case "ExposedForReplay":
			replay = true
		case "Default": // read below, when the type is known
			def = c
			continue
		}
		l.parsePropertyElement(p, c, path)
	}
	if !flags {
		l.fault(e.position, path, "property has no Flags", "add <Flags> with one of "+flagList())
	}
	if !typed {
		l.fault(e.position, path, "property has no Type", "add <Type> TYPE </Type>")
	}
	if !replay {
		p.ExposedForReplay = p.Flags&OtherClient != 0
	}
	if def != nil && p.Type != nil {
		if v, ok := l.parseValue(p.Type, def, path+"/Default"); ok {
			p.Default = v // else a fault was reported, and the type's default lets the check go on
		}
	}
	p.Type = placeholder(p.Type)
	return p
}

func (l *loader) parsePropertyElement(p *Property, c *element, path string) {
	switch c.name {
	case "Type":
		p.Type = l.parseType(c, path+"/Type", nil)
	case "Flags":
		l.noChildren(c, path+"/Flags")
		flags, ok := ParseFlags(strings.ToUpper(c.text)) // in any case, as KBEngine does
		if !ok {
			l.fault(c.position, path+"/Flags", fmt.Sprintf("unknown flag %q", shorten(c.text)), "use one of "+flagList())
			return
		}
		p.Flags = flags
	case "Persistent":
		p.Persistent = l.boolean(c, path)
	case "SendLatestOnly":
		p.SendLatestOnly = l.boolean(c, path)
	case "IsReliable":
		p.Unreliable = !l.boolean(c, path)
	case "ExposedForReplay":
		p.ExposedForReplay = l.boolean(c, path)
	case "Editable":
		p.Editable = l.boolean(c, path)
	case "DetailLevel":
		l.noChildren(c, path+"/DetailLevel")
		p.Detail = c.text
	case "VariableLengthHeaderSize":
		p.WarnBytes = l.warnBytes(c, path+"/VariableLengthHeaderSize")
	case "Widget", "Utype": // a world editor's, and the number that another engine sends for the name
		l.keep(c, path+"/"+c.name)
	default:
		l.parseStoreElement(p, c, path)
	}
}

// parseStoreElement reads an element that says how the store keeps the property.
func (l *loader) parseStoreElement(p *Property, c *element, path string) {
	switch c.name {
	case "Identifier":
		p.Identifier = l.boolean(c, path)
	case "Indexed":
		l.parseIndexed(p, c, path)
	case "Unique":
		p.Unique = l.boolean(c, path)
	case "Index":
		l.noChildren(c, path+"/Index")
		l.evidence.note(dialectOfElement(c.name), c.name, c.position)
		index := strings.ToUpper(c.text)
		p.Indexed, p.Unique = true, index == "UNIQUE"
		if index != "UNIQUE" && index != "INDEX" {
			l.fault(c.position, path+"/Index", fmt.Sprintf("%q is no index", shorten(c.text)), "use UNIQUE or INDEX")
		}
	case "DatabaseLength":
		l.noChildren(c, path+"/DatabaseLength")
		p.DatabaseLength = l.length(c, path+"/DatabaseLength")
	default:
		l.unknown(c, path)
	}
}

// parseIndexed reads <Indexed> true </Indexed>, or the form that holds Unique, with or without
// text.
func (l *loader) parseIndexed(p *Property, e *element, path string) {
	u := e.child("Unique")
	if u == nil {
		p.Indexed = l.boolean(e, path)
		return
	}
	l.noChildren(e, path+"/Indexed", "Unique")
	p.Indexed, p.Unique = true, l.boolean(u, path+"/Indexed")
	if e.text != "" {
		indexed, ok := parseBool(e.text)
		if !ok {
			l.notBoolean(e, path+"/Indexed")
		}
		p.Indexed, p.Unique = indexed, p.Unique && indexed
	}
}
