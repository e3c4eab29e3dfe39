package property

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// AppendText appends a value of the type as the Default of a definition file holds it: what stands
// between <Default> and </Default>. v must fit the type. [DataType.ParseText] reads it back.
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
func (t *DataType) AppendText(b []byte, v Value) ([]byte, error) { return t.form.appendText(t, b, v) }

// DefaultText writes a default as a definition file holds it.
func (t *DataType) DefaultText(v Value) string {
	b, err := t.AppendText(nil, v)
	if err != nil {
		return "<!-- " + err.Error() + " -->" // of a codec that refuses its own value
	}
	return string(b)
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

func appendEscaped(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	_ = xml.EscapeText(buf, []byte(s)) // a Buffer takes everything
	return buf.Bytes()
}
