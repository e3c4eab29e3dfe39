package property

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// fixedDict is a FIXED_DICT: a list of the values of its fields, or None.
type fixedDict struct{ parts }

func (f fixedDict) fit(t *DataType, v Value) (Value, error) {
	switch {
	case v.kind == isNone && t.allowNone:
		return v, nil
	case v.kind != isList:
		return v, t.refuse(v)
	case v.Len() != len(t.fields):
		return v, fmt.Errorf("%w: %d values for FIXED_DICT of %d fields", ErrLength, v.Len(), len(t.fields))
	}
	return f.parts.fit(t, v)
}

// describe also gives the defaults of fields, if full: a record takes them that is stored without
// the fields.
func (fixedDict) describe(t *DataType, b []byte, full bool) []byte {
	if t.allowNone {
		b = append(b, '?')
	}
	b = append(b, '{')
	for i, f := range t.fields {
		if i > 0 {
			b = append(b, ' ')
		}
		b = f.Type.describe(append(append(b, f.Name...), ':'), full)
		if !full {
			continue
		}
		b = strconv.AppendQuote(append(b, '='), f.Type.DefaultText(f.Default))
		if f.DatabaseLength != 0 {
			b = fmt.Appendf(b, " length=%d", f.DatabaseLength)
		}
		if f.Transient {
			b = append(b, " transient"...)
		}
	}
	return append(b, '}')
}

func (f fixedDict) append(t *DataType, b []byte, v *Value) []byte {
	if t.allowNone {
		if v.kind == isNone {
			return append(b, 0)
		}
		b = append(b, 1)
	}
	if len(v.list()) != len(t.fields) {
		panic("property: AppendTo of a FIXED_DICT that does not fit its type")
	}
	return f.parts.append(t, b, v)
}

func (f fixedDict) read(t *DataType, v *Value, b []byte) ([]byte, error) {
	if t.allowNone {
		if b[0] > 1 {
			return nil, fmt.Errorf("%w: presence byte %d", ErrValue, b[0])
		}
		present := b[0] == 1
		if b = b[1:]; !present {
			return b, nil
		}
	}
	return f.parts.read(t, v, len(t.fields), b)
}

func (fixedDict) most(t *DataType) int {
	sum := 0
	if t.allowNone {
		sum = 1
	}
	for i := range t.fields {
		sum = min(sum+t.fields[i].Type.most(), MaxProperty)
	}
	return sum
}

func (fixedDict) appendText(t *DataType, b []byte, v Value) (_ []byte, err error) {
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

func (fixedDict) parse(l *loader, t *DataType, e *element, path string) (Value, bool) {
	l.noText(e, path)
	if len(e.children) == 0 && t.allowNone {
		return Value{}, e.text == ""
	}
	l.once(e, path, "")
	list, ok := t.fieldDefaults(), e.text == ""
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

// fieldDefaults returns the values that a record has if nothing is said of them.
func (t *DataType) fieldDefaults() []Value {
	list := make([]Value, len(t.fields))
	for i := range list {
		list[i] = t.fields[i].Default
	}
	return list
}

func (fixedDict) literal(t *DataType, x any) (Value, error) {
	if x == nil && t.allowNone {
		return Value{}, nil
	}
	m, ok := x.(map[string]any)
	if !ok {
		return t.fromLiteral(Value{}, false, x)
	}
	values := t.fieldDefaults()
	for _, name := range slices.Sorted(maps.Keys(m)) {
		i := t.Field(name)
		if i < 0 {
			return Value{}, fmt.Errorf("%w: the FIXED_DICT has no field %q", ErrValue, shorten(name))
		}
		of := t.fields[i].Type
		v, err := of.form.literal(of, m[name])
		if err != nil {
			return Value{}, fmt.Errorf("field %s: %w", name, err)
		}
		values[i] = v
	}
	return t.Fit(List(values...))
}

func (fixedDict) store(w storeWriter, t *DataType, v Value, depth int) error {
	if v.IsNone() {
		return w.Enc.EncodeNil()
	}
	kept := 0
	for i := range t.fields {
		if !t.fields[i].Transient {
			kept++
		}
	}
	_ = w.Enc.EncodeMapLen(kept)
	for i := range t.fields {
		f := &t.fields[i]
		if f.Transient {
			continue
		}
		_ = w.Enc.EncodeString(f.Name)
		if err := w.value(f.Type, v.At(i), depth+1); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

// unstore reads a record by the names of its fields.
func (fixedDict) unstore(r *storeReader, t *DataType, depth int) (Value, error) {
	if r.Class() == mpack.Nil {
		if err := r.Dec.DecodeNil(); err != nil {
			return Value{}, err
		}
		if t.allowNone {
			return Value{}, nil
		}
		return t.def, nil
	}
	n, err := r.count(t.kind, mpack.Map)
	if err != nil {
		return Value{}, err
	}
	if err := r.fill(len(t.fields) - n); err != nil {
		return Value{}, err
	}
	list := make([]Value, len(t.fields))
	var seen [MaxDictFields]bool
	next := 0 // where the next field is, if none came or went
	for range n {
		i, name, err := r.field(t, next)
		if err != nil {
			return Value{}, err
		}
		if i < 0 || t.fields[i].Transient {
			if err := r.SkipValue(); err != nil {
				return Value{}, err
			}
			continue
		}
		if seen[i] {
			return Value{}, fmt.Errorf("%w: field %s comes twice", ErrValue, name)
		}
		if list[i], err = r.value(t.fields[i].Type, depth+1); err != nil {
			return Value{}, fmt.Errorf("field %s: %w", name, err)
		}
		seen[i], next = true, i+1
	}
	for i := range list {
		if !seen[i] {
			list[i] = t.fields[i].Default
		}
	}
	return List(list...), nil
}
