package property

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendText appends a value of the type as the Default of a definition file holds it: what stands between <Default> and
// </Default>. v must fit the type. [DataType.ParseText] reads it back.
//
//	numbers, BOOL, ENTITY_ID          12, -0.5, NaN, true
//	STRING, UNICODE_STRING            the text; <base64> … </base64> for what XML cannot hold, such as spaces around it
//	BLOB                              base64
//	VECTOR2 to VECTOR4                1 2.5 -3
//	ARRAY, TUPLE                      <item>1</item><item>2</item>
//	MAP                               <item><key>1</key><value>a</value></item>
//	FIXED_DICT                        <field>1</field> for each field; nothing for None
//	MAILBOX                           nothing, or: entity, type, kind, address or -, port, salt
//	ANY                               JSON; a number with a point or an exponent is a float
//	USER_TYPE                         the form of its StoreType
func (t *DataType) AppendText(b []byte, v Value) ([]byte, error) {
	switch t.kind {
	case KindString, KindUnicodeString:
		if !plainText(v.Str()) {
			return append(base64.StdEncoding.AppendEncode(append(b, "<base64>"...), v.Bytes()), "</base64>"...), nil
		}
		return appendEscaped(b, v.Str()), nil
	case KindBlob:
		return base64.StdEncoding.AppendEncode(b, v.Bytes()), nil
	case KindArray, KindTuple:
		return t.appendItems(b, v)
	case KindMap:
		return t.appendPairs(b, v)
	case KindFixedDict:
		return t.appendFields(b, v)
	case KindUser:
		stored, err := t.user.toStore(v)
		if err != nil {
			return b, err
		}
		return t.StoreType().AppendText(b, stored)
	case KindAny:
		text, err := anyToJSON(v.text())
		return appendEscaped(b, text), err
	}
	return t.appendScalarText(b, v), nil
}

func (t *DataType) appendScalarText(b []byte, v Value) []byte {
	switch t.kind {
	case KindVec2, KindVec3, KindVec4, KindMailbox:
		if t.kind == KindMailbox {
			return appendMailboxText(b, v.Mailbox())
		}
		return append(b, strings.Trim(v.String(), "()")...)
	}
	return append(b, v.String()...)
}

func (t *DataType) appendItems(b []byte, v Value) (_ []byte, err error) {
	for i := range v.Len() {
		if b, err = t.elem.AppendText(append(b, "<item>"...), v.At(i)); err != nil {
			return b, err
		}
		b = append(b, "</item>"...)
	}
	return b, nil
}

func (t *DataType) appendPairs(b []byte, v Value) (_ []byte, err error) {
	for i := 0; i+1 < v.Len(); i += 2 {
		if b, err = t.key.AppendText(append(b, "<item><key>"...), v.At(i)); err != nil {
			return b, err
		}
		if b, err = t.elem.AppendText(append(b, "</key><value>"...), v.At(i+1)); err != nil {
			return b, err
		}
		b = append(b, "</value></item>"...)
	}
	return b, nil
}

func (t *DataType) appendFields(b []byte, v Value) (_ []byte, err error) {
	for i := range v.Len() {
		f, e := &t.fields[i], v.At(i)
		b = append(append(append(b, '<'), f.Name...), '>')
		if b, err = f.Type.AppendText(b, e); err != nil {
			return b, err
		}
		b = append(append(append(b, "</"...), f.Name...), '>')
	}
	return b, nil
}

// ParseText reads a value in the form of [DataType.AppendText]. The error is a [Faults].
func (t *DataType) ParseText(text []byte) (Value, error) {
	l := &loader{report: newReport(), textOnly: true}
	if len(text) > MaxFileSize {
		l.fault(position{}, "", fmt.Sprintf("text is longer than %d bytes", MaxFileSize), "shorten the value")
		return Value{}, l.err()
	}
	data := append(append([]byte("<Default>"), text...), "</Default>"...)
	root := parseXML("", data, l.report)
	if root == nil {
		return Value{}, l.err()
	}
	l.noAttributesBelow(root)
	v, _ := l.parseValue(t, root, root.name)
	return v, l.err()
}

// plainText reports whether XML brings a text back as it is.
func plainText(s string) bool {
	if strings.TrimSpace(s) != s || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return false
		}
	}
	return true
}

func appendEscaped(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	_ = xml.EscapeText(buf, []byte(s)) // a Buffer takes everything
	return buf.Bytes()
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
	case KindMailbox:
		return parseMailboxText(text)
	case KindAny:
		if text == "" {
			text = "null"
		}
		v, err := anyFromJSON(text)
		return v, err == nil
	}
	return Value{}, false
}

func parseVector(k Kind, text string) (Value, bool) {
	words := vectorWords(text)
	var f [4]float32
	if len(words) != vectorSize(k) {
		return Value{}, false
	}
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 32)
		if err != nil {
			return Value{}, false
		}
		f[i] = float32(x)
	}
	return vectorValue(k, f), true
}

// vectorWords splits a vector at commas and blanks.
func vectorWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

func vectorSize(k Kind) int { return 2 + int(k-KindVec2) }

func vectorValue(k Kind, f [4]float32) Value {
	switch k {
	case KindVec2:
		return Vec2(Vector2{f[0], f[1]})
	case KindVec3:
		return Vec3(Vector3{f[0], f[1], f[2]})
	}
	return Vec4(Vector4{f[0], f[1], f[2], f[3]})
}

func appendMailboxText(b []byte, m Mailbox) []byte {
	if m.IsZero() {
		return b
	}
	ip := "-"
	if m.At.Addr().IsValid() {
		ip = m.At.Addr().String()
	}
	return fmt.Appendf(b, "%d %d %d %s %d %d", m.Entity, m.Type, m.Kind, ip, m.At.Port(), m.Salt)
}

func parseMailboxText(text string) (Value, bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return MailboxValue(Mailbox{}), true
	}
	if len(words) != 6 {
		return Value{}, false
	}
	var ip netip.Addr
	var n [6]uint64
	for i, limit := range [6]uint64{MaxEntityID, math.MaxUint16, math.MaxUint8, 0, math.MaxUint16, math.MaxUint32} {
		var err error
		switch {
		case i != 3:
			n[i], err = strconv.ParseUint(words[i], 10, 64)
		case words[i] != "-":
			ip, err = netip.ParseAddr(words[i])
		}
		if err != nil || n[i] > limit {
			return Value{}, false
		}
	}
	return MailboxValue(Mailbox{Entity: n[0], Type: uint16(n[1]), Kind: uint8(n[2]), At: netip.AddrPortFrom(ip, uint16(n[4])), Salt: uint32(n[5])}), true
}
