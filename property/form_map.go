package property

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// mapping is a MAP. Its value is a list of keys and values in turn, keys ascending.
type mapping struct{ parts }

// fit sorts the pairs by key: one map has one form, whatever order it was given in.
func (f mapping) fit(t *DataType, v Value) (Value, error) {
	switch {
	case v.kind != isList || v.Len()%2 != 0:
		return v, t.refuse(v)
	case v.Len()/2 > MaxList:
		return v, fmt.Errorf("%w: MAP of %d pairs is larger than %d", ErrLength, v.Len()/2, MaxList)
	}
	v, err := f.parts.fit(t, v)
	if err != nil || sorted(v.list()) {
		return v, err
	}
	pairs := make([][2]Value, v.Len()/2)
	for i := range pairs {
		pairs[i] = [2]Value{v.At(2 * i), v.At(2*i + 1)}
	}
	slices.SortStableFunc(pairs, func(a, b [2]Value) int { return compareKeys(&a[0], &b[0]) })
	list := make([]Value, 0, v.Len())
	for _, p := range pairs {
		list = append(list, p[0], p[1])
	}
	if !sorted(list) {
		return v, fmt.Errorf("%w: MAP with a key twice", ErrValue)
	}
	return List(list...), nil
}

// sorted reports whether the keys of a MAP ascend.
func sorted(list []Value) bool {
	for i := 2; i < len(list); i += 2 {
		if compareKeys(&list[i-2], &list[i]) >= 0 {
			return false
		}
	}
	return true
}

// compareKeys orders keys of one fitted type: numbers by amount, strings by bytes.
func compareKeys(a, b *Value) int {
	switch a.kind {
	case isInt:
		return cmp.Compare(int64(a.lo), int64(b.lo))
	case isString:
		return cmp.Compare(a.text(), b.text())
	}
	return cmp.Compare(a.lo, b.lo)
}

func (mapping) describe(t *DataType, b []byte, full bool) []byte {
	b = t.key.describe(append(b, '<'), full)
	return append(t.elem.describe(append(b, ' '), full), '>')
}

func (f mapping) append(t *DataType, b []byte, v *Value) []byte {
	return f.parts.append(t, binary.AppendUvarint(b, uint64(len(v.list())/2)), v)
}

func (f mapping) read(t *DataType, v *Value, b []byte) (rest []byte, err error) {
	n, rest, err := readCount(b, MaxList, t.key.minWire+t.elem.minWire)
	if err != nil {
		return nil, err
	}
	if rest, err = f.parts.read(t, v, 2*n, rest); err == nil && !sorted(v.list()) {
		err = fmt.Errorf("%w: keys of a MAP do not ascend", ErrValue)
	}
	return rest, err
}

func (mapping) most(t *DataType) int { return mostOfList(t.key.most() + t.elem.most()) }

func (mapping) appendText(t *DataType, b []byte, v Value) (_ []byte, err error) {
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

// parse reads <item> <key> KEY </key> <value> VALUE </value> </item> for each pair.
func (mapping) parse(l *loader, t *DataType, e *element, path string) (Value, bool) {
	if !l.isList(e, path) {
		return Value{}, false
	}
	list := make([]Value, 0, 2*len(e.children))
	ok := e.text == ""
	for i, c := range e.children {
		path := itemPath(path, c, i)
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

func (mapping) literal(t *DataType, x any) (Value, error) {
	switch m := x.(type) {
	case map[string]any:
		return literalPairs(t, m)
	case map[int64]any:
		return literalPairs(t, m)
	}
	return t.fromLiteral(Value{}, false, x)
}

func literalPairs[K string | int64](t *DataType, m map[K]any) (Value, error) {
	pairs := make([]Value, 0, 2*len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key, err := t.key.form.literal(t.key, k)
		if err != nil {
			return Value{}, fmt.Errorf("key %v: %w", k, err)
		}
		value, err := t.elem.form.literal(t.elem, m[k])
		if err != nil {
			return Value{}, fmt.Errorf("value of %v: %w", k, err)
		}
		pairs = append(pairs, key, value)
	}
	return t.Fit(List(pairs...))
}

func (f mapping) store(w storeWriter, t *DataType, v Value, depth int) error {
	_ = w.Enc.EncodeMapLen(v.Len() / 2)
	return f.parts.store(w, t, v, depth)
}

// unstore reads the pairs; Fit sorts them and refuses a key that comes twice.
func (f mapping) unstore(r *storeReader, t *DataType, depth int) (Value, error) {
	n, err := r.count(t.kind, mpack.Map)
	if err != nil {
		return Value{}, err
	}
	if n > MaxList {
		return Value{}, fmt.Errorf("%w: MAP of %d pairs is longer than %d", ErrLength, n, MaxList)
	}
	v, err := f.parts.unstore(r, t, 2*n, depth)
	if err != nil {
		return Value{}, err
	}
	return t.Fit(v)
}
