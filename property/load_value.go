package property

import (
	"encoding/base64"
	"fmt"
)

// parseValue reads a value of type t as a Default holds it; [DataType.AppendText] says in what form.
func (l *loader) parseValue(t *DataType, e *element, path string) (Value, bool) {
	if v, ok := l.parseEmpty(t, e); ok {
		return v, true
	}
	if e.text != "" && len(e.children) == 0 && !l.textOnly && !t.isStandIn() && isComposite(t.StoreType().kind) {
		return l.parseLiteralOf(t, e, path)
	}
	switch t.kind {
	case KindArray, KindTuple:
		return l.parseItems(t, e, path)
	case KindMap:
		return l.parsePairs(t, e, path)
	case KindFixedDict:
		return l.parseRecord(t, e, path)
	case KindUser:
		return l.parseUserDefault(t, e, path)
	}
	v, ok := l.parseScalarElement(t, e, path)
	if ok {
		var err error
		v, err = t.Fit(v)
		ok = err == nil
	}
	if !ok {
		l.badValue(t, e, path)
	}
	return v, ok
}

// parseEmpty reads an empty element for a number or a vector, which the original takes for zero. A text that is read back
// from a store has none.
func (l *loader) parseEmpty(t *DataType, e *element) (Value, bool) {
	if l.textOnly || len(e.children) > 0 {
		return Value{}, false
	}
	switch t.kind {
	case KindArray, KindTuple, KindMap, KindFixedDict, KindAny, KindMailbox, KindString, KindUnicodeString, KindBlob, KindUser:
		return Value{}, false
	}
	return scalars[t.kind].def, e.text == ""
}

func isComposite(k Kind) bool {
	return k == KindArray || k == KindTuple || k == KindMap || k == KindFixedDict
}

// parseLiteralOf reads a composite value that is written as a literal of the original's script language: [1, 2].
func (l *loader) parseLiteralOf(t *DataType, e *element, path string) (Value, bool) {
	x, err := parseLiteral(e.text)
	var v Value
	if err == nil {
		v, err = literalValue(t, x)
	}
	if err != nil {
		l.fault(e.position, path, fmt.Sprintf("%q is not a %v: %v", shorten(e.text), t, err), "state it as elements, or as a literal of lists, dictionaries, numbers and strings")
	}
	return v, err == nil
}

func (l *loader) parseScalarElement(t *DataType, e *element, path string) (Value, bool) {
	if coded := e.child("base64"); coded != nil && e.text == "" && (t.kind == KindString || t.kind == KindUnicodeString) {
		l.noChildren(e, path, "base64")
		p, err := base64.StdEncoding.DecodeString(coded.text)
		return Bytes(p), err == nil
	}
	l.noChildren(e, path)
	if t.kind == KindMailbox && e.text != "" && !l.textOnly {
		if e.text != "None" { // it would name a process that was gone before the definition was read
			l.notice(e.position, path, fmt.Sprintf("%q is not read: a mailbox begins empty", shorten(e.text)), "remove it")
		}
		return t.Default(), true
	}
	if t.kind == KindBlob && e.text != "" && !l.textOnly {
		if l.blobs = true; l.rawBlobs {
			return Bytes([]byte(e.text)), true
		}
	}
	if v, ok := parseScalar(t.kind, e.text); ok || l.textOnly {
		return v, ok
	}
	return l.spelledScalar(t.kind, e, path)
}

func (l *loader) badValue(t *DataType, e *element, path string) {
	remedy := "state a value of that type"
	if t.kind == KindAny {
		remedy = "state a JSON value"
	}
	l.fault(e.position, path, fmt.Sprintf("%q is not a %v", shorten(e.text), t), remedy)
}

// parseUserDefault reads a value of a USER_TYPE in the form in which the store keeps it.
func (l *loader) parseUserDefault(t *DataType, e *element, path string) (Value, bool) {
	if t.isStandIn() {
		return t.def, true // only the codec knows what a value looks like
	}
	stored, ok := l.parseValue(t.StoreType(), e, path)
	if !ok {
		return Value{}, false
	}
	v, err := t.user.fromStore(stored)
	if err != nil {
		l.fault(e.position, path, fmt.Sprintf("%s refuses the value: %v", t.UserName(), err), "state a value that it takes")
		return Value{}, false
	}
	return v, true
}

func (l *loader) parseItems(t *DataType, e *element, path string) (Value, bool) {
	l.noText(e, path)
	if n := len(e.children); n > MaxList {
		return l.tooLong(e, path)
	}
	list := make([]Value, 0, len(e.children))
	ok := e.text == ""
	for i, c := range e.children {
		v, good := l.parseValue(t.elem, c, fmt.Sprintf("%s/%s[%d]", path, c.name, i))
		list, ok = append(list, v), ok && good
	}
	if ok && t.size > 0 && len(list) != t.size {
		l.fault(e.position, path, fmt.Sprintf("%d elements for a size of %d", len(list), t.size), "state all elements, or none of the default")
		return Value{}, false
	}
	return List(list...), ok
}

func (l *loader) tooLong(e *element, path string) (Value, bool) {
	l.fault(e.position, path, fmt.Sprintf("%d elements, more than %d", len(e.children), MaxList), "shorten the default")
	return Value{}, false
}

// parsePairs reads <item> <key> KEY </key> <value> VALUE </value> </item> for each pair of a MAP.
func (l *loader) parsePairs(t *DataType, e *element, path string) (Value, bool) {
	l.noText(e, path)
	if n := len(e.children); n > MaxList {
		return l.tooLong(e, path)
	}
	list := make([]Value, 0, 2*len(e.children))
	ok := e.text == ""
	for i, c := range e.children {
		path := fmt.Sprintf("%s/%s[%d]", path, c.name, i)
		l.noText(c, path)
		l.noChildren(c, path, "key", "value")
		l.once(c, path, "")
		k, v := c.child("key"), c.child("value")
		if k == nil || v == nil {
			l.fault(c.position, path, "pair without key or value", "add <key> and <value>")
			ok = false
			continue
		}
		key, good := l.parseValue(t.key, k, path+"/key")
		value, fine := l.parseValue(t.elem, v, path+"/value")
		list, ok = append(list, key, value), ok && good && fine
	}
	if !ok {
		return Value{}, false
	}
	v, err := t.Fit(List(list...))
	if err != nil {
		l.fault(e.position, path, err.Error(), "state each key once")
	}
	return v, err == nil
}

func (l *loader) parseRecord(t *DataType, e *element, path string) (Value, bool) {
	l.noText(e, path)
	if len(e.children) == 0 && t.allowNone {
		return Value{}, e.text == ""
	}
	l.once(e, path, "")
	list := make([]Value, len(t.fields))
	for i, f := range t.fields {
		list[i] = f.Default
	}
	ok := e.text == ""
	for _, c := range e.children {
		i := t.Field(c.name)
		if i < 0 {
			l.fault(c.position, path+"/"+c.name, "the FIXED_DICT has no such field", unknownRemedy)
			ok = false
			continue
		}
		v, good := l.parseValue(t.fields[i].Type, c, path+"/"+c.name)
		list[i], ok = v, ok && good
	}
	return List(list...), ok
}
