package property

import (
	"encoding/binary"
	"fmt"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// sequence is an ARRAY or a TUPLE.
type sequence struct{ parts }

func (f sequence) fit(t *DataType, v Value) (Value, error) {
	switch {
	case v.kind != isList:
		return v, t.refuse(v)
	case t.size > 0 && v.Len() != t.size:
		return v, fmt.Errorf("%w: %d elements for %v of %d", ErrLength, v.Len(), t.kind, t.size)
	case v.Len() > MaxList:
		return v, fmt.Errorf("%w: %v of %d elements is longer than %d", ErrLength, t.kind, v.Len(), MaxList)
	}
	return f.parts.fit(t, v)
}

func (sequence) describe(t *DataType, b []byte, full bool) []byte {
	b = t.elem.describe(append(b, '<'), full)
	if t.size > 0 || full {
		b = fmt.Appendf(b, " %d", t.size)
	}
	if full && t.asBlob {
		b = append(b, " blob"...)
	}
	return append(b, '>')
}

func (f sequence) append(t *DataType, b []byte, v *Value) []byte {
	switch n := len(v.list()); {
	case t.size == 0:
		b = binary.AppendUvarint(b, uint64(n))
	case n != t.size:
		panic("property: AppendTo of a list that does not fit its type")
	}
	return f.parts.append(t, b, v)
}

func (f sequence) read(t *DataType, v *Value, b []byte) (rest []byte, err error) {
	n, rest := t.size, b
	if n == 0 {
		if n, rest, err = readCount(b, MaxList, t.elem.minWire); err != nil {
			return nil, err
		}
	}
	if t.elem.kind == KindFixedDict && !t.elem.allowNone {
		return f.readRecords(t.elem, v, n, rest)
	}
	return f.parts.read(t, v, n, rest)
}

// readRecords reads a list of records, whose fields lie in one piece of memory.
func (sequence) readRecords(t *DataType, v *Value, n int, b []byte) (rest []byte, err error) {
	width := len(t.fields)
	list, fields := make([]Value, n), make([]Value, n*width)
	for i := range list {
		row := fields[i*width : (i+1)*width : (i+1)*width]
		for k := range row {
			if b, err = t.fields[k].Type.read(&row[k], b); err != nil {
				return nil, err
			}
		}
		list[i] = List(row...)
	}
	*v = List(list...)
	return b, nil
}

func (sequence) most(t *DataType) int {
	if t.size > 0 {
		return min(t.size*t.elem.most(), MaxProperty)
	}
	return mostOfList(t.elem.most())
}

// mostOfList returns how many bytes a list of variable size takes at the most.
func mostOfList(each int) int { return min(uvarintLen(MaxList)+MaxList*each, MaxProperty) }

func (sequence) appendText(t *DataType, b []byte, v Value) (_ []byte, err error) {
	for i := range v.Len() {
		if b, err = t.elem.AppendText(append(b, "<item>"...), v.At(i)); err != nil {
			return b, err
		}
		b = append(b, "</item>"...)
	}
	return b, nil
}

func (sequence) parse(l *loader, t *DataType, e *element, path string) (Value, bool) {
	if !l.isList(e, path) {
		return Value{}, false
	}
	list := make([]Value, len(e.children))
	ok := e.text == ""
	for i, c := range e.children {
		var good bool
		list[i], good = l.parseValue(t.elem, c, itemPath(path, c, i))
		ok = ok && good
	}
	if ok && t.size > 0 && len(list) != t.size {
		l.fault(e.position, path, fmt.Sprintf("%d elements for a size of %d", len(list), t.size), "state all elements, or none of the default")
		return Value{}, false
	}
	return List(list...), ok
}

func (sequence) literal(t *DataType, x any) (Value, error) {
	list, ok := x.([]any)
	if !ok {
		return t.fromLiteral(Value{}, false, x)
	}
	values := make([]Value, len(list))
	for i, e := range list {
		v, err := t.elem.form.literal(t.elem, e)
		if err != nil {
			return Value{}, fmt.Errorf("element %d: %w", i, err)
		}
		values[i] = v
	}
	return t.Fit(List(values...))
}

func (f sequence) store(w storeWriter, t *DataType, v Value, depth int) error {
	_ = w.Enc.EncodeArrayLen(v.Len())
	return f.parts.store(w, t, v, depth)
}

// unstore reads a list. The scanner has seen that many items, so it is in proportion to the bytes.
func (f sequence) unstore(r *storeReader, t *DataType, depth int) (Value, error) {
	n, err := r.count(t.kind, mpack.Array)
	switch {
	case err != nil:
		return Value{}, err
	case t.size > 0 && n != t.size:
		return Value{}, fmt.Errorf("%w: %d elements are stored for %v of %d", ErrLength, n, t.kind, t.size)
	case n > MaxList:
		return Value{}, fmt.Errorf("%w: %v of %d elements is longer than %d", ErrLength, t.kind, n, MaxList)
	}
	return f.parts.unstore(r, t, n, depth)
}
