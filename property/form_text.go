package property

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// text is a STRING or a UNICODE_STRING.
type text struct{ plain }

func (text) fit(t *DataType, v Value) (Value, error) {
	switch {
	case v.kind != isString:
		return v, t.refuse(v)
	case v.lo > MaxString:
		return v, fmt.Errorf("%w: %v of %d bytes is longer than %d", ErrLength, t.kind, v.lo, MaxString)
	case t.kind == KindUnicodeString && !utf8.ValidString(v.text()):
		return v, fmt.Errorf("%w: UNICODE_STRING is not valid UTF-8", ErrValue)
	}
	return v, nil
}

func (text) append(_ *DataType, b []byte, v *Value) []byte {
	return append(binary.AppendUvarint(b, v.lo), v.text()...)
}

func (f text) read(t *DataType, v *Value, b []byte) (rest []byte, err error) {
	n, rest, err := readCount(b, MaxString, 1)
	if err != nil {
		return nil, err
	}
	*v, err = f.fit(t, Bytes(rest[:n]))
	return rest[n:], err
}

func (text) most(*DataType) int { return prefixed(MaxString) }

func (text) appendText(_ *DataType, b []byte, v Value) ([]byte, error) {
	if !plainText(v.Str()) {
		return append(base64.StdEncoding.AppendEncode(append(b, "<base64>"...), v.Bytes()), "</base64>"...), nil
	}
	return appendEscaped(b, v.Str()), nil
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

func (text) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	if coded := e.child("base64"); coded != nil && e.text == "" {
		l.noChildren(e, path, "base64")
		return base64Value(coded.text)
	}
	l.noChildren(e, path)
	return StringValue(e.text), true
}

func base64Value(s string) (Value, bool) {
	p, err := base64.StdEncoding.DecodeString(s)
	return Bytes(p), err == nil
}

func (text) literal(t *DataType, x any) (Value, error) {
	s, ok := x.(string)
	return t.fromLiteral(StringValue(s), ok, x)
}

func (text) store(w storeWriter, _ *DataType, v Value, _ int) error {
	if utf8.ValidString(v.Str()) {
		return w.Enc.EncodeString(v.Str())
	}
	w.Bin(v.Str())
	return nil
}

func (text) unstore(r *storeReader, t *DataType, _ int) (Value, error) {
	if err := r.want(t.kind, mpack.Str, mpack.Bin); err != nil {
		return Value{}, err
	}
	s, err := r.Bytes(MaxString)
	return Bytes(s), err
}

// blob is a BLOB, which travels as text does.
type blob struct{ text }

func (blob) appendText(_ *DataType, b []byte, v Value) ([]byte, error) {
	return base64.StdEncoding.AppendEncode(b, v.Bytes()), nil
}

func (blob) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	l.noChildren(e, path)
	if e.text != "" && !l.textOnly {
		if l.blobs = true; l.rawBlobs {
			return StringValue(e.text), true
		}
	}
	return base64Value(e.text)
}

func (blob) literal(t *DataType, x any) (Value, error) {
	switch x := x.(type) {
	case string:
		return t.Fit(StringValue(x))
	case []byte:
		return t.Fit(Bytes(x))
	}
	return t.fromLiteral(Value{}, false, x)
}

func (blob) store(w storeWriter, _ *DataType, v Value, _ int) error {
	w.Bin(v.Str())
	return nil
}
