package property

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// parseDefault reads a default value of type t: a number, a truth value, a text, numbers for a vector, base64 for a BLOB,
// an <item> for each element of a list, an element for each field of a FIXED_DICT.
func (l *loader) parseDefault(t *DataType, e *element, path string) (Value, bool) {
	switch t.kind {
	case KindArray, KindTuple:
		return l.parseItems(t, e, path)
	case KindFixedDict:
		return l.parseRecord(t, e, path)
	}
	l.noChildren(e, path, "")
	v, ok := parseScalar(t.kind, e.text)
	if ok {
		var err error
		v, err = t.Fit(v)
		ok = err == nil
	}
	if !ok {
		l.badDefault(t, e, path)
	}
	return v, ok
}

func (l *loader) badDefault(t *DataType, e *element, path string) {
	remedy := "state a value of that type"
	if t.kind == KindMailbox {
		remedy = "remove it: a mailbox begins empty"
	}
	l.fault(e.position, path, fmt.Sprintf("%q is not a %v", shorten(e.text), t), remedy)
}

func parseScalar(k Kind, text string) (Value, bool) {
	switch k {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		n, err := strconv.ParseInt(text, 10, 64)
		return Int(n), err == nil
	case KindUint8, KindUint16, KindUint32, KindUint64, KindEntityID:
		n, err := strconv.ParseUint(text, 10, 64)
		return Uint(n), err == nil
	case KindFloat32, KindFloat64:
		f, err := strconv.ParseFloat(text, 64)
		return Float(f), err == nil
	case KindBool:
		b, ok := parseBool(text)
		return BoolValue(b), ok
	case KindString, KindUnicodeString:
		return StringValue(text), true
	case KindBlob:
		p, err := base64.StdEncoding.DecodeString(text)
		return Bytes(p), err == nil
	case KindVec2, KindVec3, KindVec4:
		return parseVector(k, text)
	}
	return Value{}, false
}

func parseVector(k Kind, text string) (Value, bool) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	var f [4]float32
	if len(words) != 2+int(k-KindVec2) {
		return Value{}, false
	}
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 32)
		if err != nil {
			return Value{}, false
		}
		f[i] = float32(x)
	}
	switch k {
	case KindVec2:
		return Vec2(Vector2{f[0], f[1]}), true
	case KindVec3:
		return Vec3(Vector3{f[0], f[1], f[2]}), true
	}
	return Vec4(Vector4{f[0], f[1], f[2], f[3]}), true
}

func (l *loader) parseItems(t *DataType, e *element, path string) (Value, bool) {
	l.noText(e, path)
	list := make([]Value, 0, len(e.children))
	ok := e.text == ""
	for i, c := range e.children {
		v, good := l.parseDefault(t.elem, c, fmt.Sprintf("%s/%s[%d]", path, c.name, i))
		list, ok = append(list, v), ok && good
	}
	if ok && t.size > 0 && len(list) != t.size {
		l.fault(e.position, path, fmt.Sprintf("%d elements for a size of %d", len(list), t.size), "state all elements, or none of the default")
		return Value{}, false
	}
	if ok && len(list) > MaxList {
		l.fault(e.position, path, fmt.Sprintf("%d elements, more than %d", len(list), MaxList), "shorten the default")
		return Value{}, false
	}
	return List(list...), ok
}

func (l *loader) parseRecord(t *DataType, e *element, path string) (Value, bool) {
	l.noText(e, path)
	if len(e.children) == 0 && t.allowNone {
		return Value{}, e.text == ""
	}
	list := make([]Value, len(t.fields))
	for i, f := range t.fields {
		list[i] = f.Default
	}
	ok, seen := e.text == "", make(map[string]bool)
	for _, c := range e.children {
		l.once(seen, c, path)
		i := t.Field(c.name)
		if i < 0 {
			l.fault(c.position, path+"/"+c.name, "the FIXED_DICT has no such field", "remove it, or correct its name")
			ok = false
			continue
		}
		v, good := l.parseDefault(t.fields[i].Type, c, path+"/"+c.name)
		list[i], ok = v, ok && good
	}
	return List(list...), ok
}
