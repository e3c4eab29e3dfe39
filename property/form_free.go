package property

import (
	"github.com/cellscape/cellscape/property/internal/literal"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// free is an ANY. It travels as text does.
type free struct{ text }

func (free) fit(t *DataType, v Value) (Value, error) { return plain{}.fit(t, v) }

// read checks the MessagePack once, here. Later it can be decoded without fear.
func (free) read(_ *DataType, v *Value, b []byte) ([]byte, error) {
	n, rest, err := readCount(b, MaxAny, 1)
	if err != nil {
		return nil, err
	}
	if err := mpack.Check(rest[:n]); err != nil {
		return nil, err
	}
	*v = stringOf(isAny, string(rest[:n]))
	return rest[n:], nil
}

func (free) most(*DataType) int { return prefixed(MaxAny) }

func (free) appendText(_ *DataType, b []byte, v Value) ([]byte, error) {
	text, err := mpack.ToJSON(v.text())
	return appendEscaped(b, text), err
}

func (free) parse(l *loader, t *DataType, e *element, path string) (Value, bool) {
	l.noChildren(e, path)
	if e.text == "" {
		return t.def, true
	}
	v, err := anyFromJSON(e.text)
	if err != nil && !l.textOnly {
		var x any
		if x, err = literal.Parse(e.text); err == nil {
			v, err = AnyValue(x)
		}
	}
	return v, err == nil
}

func (free) literal(_ *DataType, x any) (Value, error) { return AnyValue(x) }

func (free) store(w storeWriter, _ *DataType, v Value, _ int) error {
	w.B = append(w.B, v.text()...)
	return nil
}

// unstore brings the value to its one form: tools that edit a store need not know it.
func (free) unstore(r *storeReader, _ *DataType, _ int) (Value, error) {
	at := r.At()
	if err := r.SkipValue(); err != nil {
		return Value{}, err
	}
	s, err := mpack.Canon(r.B[at:r.At()])
	return stringOf(isAny, s), err
}
