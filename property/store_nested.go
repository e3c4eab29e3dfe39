package property

import "fmt"

// sequence reads an ARRAY or TUPLE. The scanner has seen that many items, so the list is in proportion to the bytes.
func (r *storeReader) sequence(t *DataType, depth int) (Value, error) {
	n, err := r.count(t.Kind(), classArray)
	if err != nil {
		return Value{}, err
	}
	if t.Size() > 0 && n != t.Size() {
		return Value{}, fmt.Errorf("%w: %d elements are stored for %v of %d", ErrLength, n, t.Kind(), t.Size())
	}
	if n > MaxList {
		return Value{}, fmt.Errorf("%w: %v of %d elements is longer than %d", ErrLength, t.Kind(), n, MaxList)
	}
	list := make([]Value, n)
	for i := range list {
		if list[i], err = r.value(t.Elem(), depth+1); err != nil {
			return Value{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return List(list...), nil
}

// pairs reads a MAP; Fit sorts it and refuses a key that comes twice.
func (r *storeReader) pairs(t *DataType, depth int) (Value, error) {
	n, err := r.count(t.Kind(), classMap)
	if err != nil {
		return Value{}, err
	}
	if n > MaxList {
		return Value{}, fmt.Errorf("%w: MAP of %d pairs is longer than %d", ErrLength, n, MaxList)
	}
	list := make([]Value, 2*n)
	for i := range list {
		of := t.Key()
		if i&1 == 1 {
			of = t.Elem()
		}
		if list[i], err = r.value(of, depth+1); err != nil {
			return Value{}, fmt.Errorf("pair %d: %w", i/2, err)
		}
	}
	return List(list...), nil
}

// dict reads a FIXED_DICT by the names of its fields.
func (r *storeReader) dict(t *DataType, depth int) (Value, error) {
	if r.class() == classNil {
		if err := r.dec.DecodeNil(); err != nil {
			return Value{}, err
		}
		if t.AllowsNone() {
			return Value{}, nil
		}
		return t.Default(), nil
	}
	n, err := r.count(t.Kind(), classMap)
	if err != nil {
		return Value{}, err
	}
	fields := t.Fields()
	if err := r.fill(len(fields) - n); err != nil {
		return Value{}, err
	}
	list := make([]Value, len(fields))
	var seen [MaxDictFields]bool
	next := 0 // where the next field is, if none came or went
	for range n {
		i, name, err := r.field(t, next)
		if err != nil {
			return Value{}, err
		}
		if i < 0 || fields[i].Transient {
			if err := r.skipValue(); err != nil {
				return Value{}, err
			}
			continue
		}
		if seen[i] {
			return Value{}, fmt.Errorf("%w: field %s comes twice", ErrValue, name)
		}
		if list[i], err = r.value(fields[i].Type, depth+1); err != nil {
			return Value{}, fmt.Errorf("field %s: %w", name, err)
		}
		seen[i], next = true, i+1
	}
	for i := range fields {
		if !seen[i] {
			list[i] = fields[i].Default
		}
	}
	return List(list...), nil
}

// field reads a key, and returns the position of the field of that name or -1. The name is the type's own text.
func (r *storeReader) field(t *DataType, next int) (i int, name string, err error) {
	key, err := r.name()
	if err != nil {
		return 0, "", err
	}
	fields := t.Fields()
	if next < len(fields) && fields[next].Name == string(key) {
		return next, fields[next].Name, nil
	}
	for i := range fields {
		if fields[i].Name == string(key) {
			return i, fields[i].Name, nil
		}
	}
	return -1, "", nil
}

// name reads a key that must be a string, in place.
func (r *storeReader) name() ([]byte, error) {
	if c := r.class(); c != classStr {
		return nil, fmt.Errorf("%w: %v where a name is due", ErrValue, c)
	}
	return r.bytes(len(r.b))
}

// fill counts defaults before there is room made for them.
func (r *storeReader) fill(missing int) error {
	if r.filled += max(missing, 0); r.filled > maxStoreDefaults {
		return fmt.Errorf("%w: more than %d fields are missing", ErrLength, maxStoreDefaults)
	}
	return nil
}
