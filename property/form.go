package property

import (
	"fmt"
	"slices"
)

// form is what is done with the values of a kind, or of several kinds that are alike. A new kind of
// a form that there is takes a row in the table of kinds. Another needs a form of its own, and the
// compiler asks for all of these.
type form interface {
	// fit is [DataType.Fit].
	fit(t *DataType, v Value) (Value, error)
	// describe appends what there is to say of the type beside its kind. With full it says all that
	// servers must agree on, else what clients must.
	describe(t *DataType, b []byte, full bool) []byte
	// appendText is [DataType.AppendText].
	appendText(t *DataType, b []byte, v Value) ([]byte, error)
	// parse reads an element of a definition. A value of a scalar kind need not fit yet, and ok
	// false reports no fault of it.
	parse(l *loader, t *DataType, e *element, path string) (v Value, ok bool)
	// literal makes a value of what literal.Parse returns.
	literal(t *DataType, x any) (Value, error)
	// store writes a value that fits, in the form of [DataType.AppendStore].
	store(w storeWriter, t *DataType, v Value, depth int) error
	// unstore reads what store wrote. The value of a scalar kind need not fit yet.
	unstore(r *storeReader, t *DataType, depth int) (Value, error)
}

// wireForm is the form of a kind whose values travel otherwise than as one or two words of a Value.
type wireForm interface {
	form
	// append is [DataType.AppendTo].
	append(t *DataType, b []byte, v *Value) []byte
	// read is [DataType.Read] into a Value that is None. After an error v and rest mean nothing.
	// There are at least minWire bytes.
	read(t *DataType, v *Value, b []byte) (rest []byte, err error)
	// most returns how many bytes a value takes at the most.
	most(t *DataType) int
}

// plain is what most kinds without parts have in common.
type plain struct{}

func (plain) fit(t *DataType, v Value) (Value, error) {
	if v.kind != t.holds {
		return v, t.refuse(v)
	}
	return v, nil
}

func (plain) describe(_ *DataType, b []byte, _ bool) []byte { return b }

func (plain) appendText(_ *DataType, b []byte, v Value) ([]byte, error) {
	return append(b, v.String()...), nil
}

func (t *DataType) refuse(v Value) error {
	text := v.String()
	if len(text) > 80 {
		text = text[:80] + "…" // an error is for reading, not for carrying a blob into a log
	}
	return fmt.Errorf("%w: %s is not a %v", ErrValue, text, t.kind)
}

// fromLiteral fits a value that was made of the literal x, if it was.
func (t *DataType) fromLiteral(v Value, ok bool, x any) (Value, error) {
	if !ok {
		return Value{}, fmt.Errorf("%w: %s is not a %v", ErrValue, shorten(fmt.Sprint(x)), t)
	}
	return t.Fit(v)
}

// composite reports whether values of the type are lists of values.
func (t *DataType) composite() bool { return t.elem != nil || t.fields != nil }

// parts is what the kinds of lists have in common.
type parts struct{}

// fit fits every element, and copies the list only if one of them changes by it.
func (parts) fit(t *DataType, v Value) (Value, error) {
	list, copied := v.list(), false
	for i, e := range list {
		f, err := t.child(i).Fit(e)
		if err != nil {
			return v, fmt.Errorf("element %d: %w", i, err)
		}
		if f.kind == e.kind && f.lo == e.lo && f.ref == e.ref {
			continue
		}
		if !copied {
			list, copied = slices.Clone(list), true
		}
		list[i] = f
	}
	if !copied {
		return v, nil
	}
	return List(list...), nil
}

func (parts) append(t *DataType, b []byte, v *Value) []byte {
	list := v.list()
	for i := range list {
		b = t.child(i).append(b, &list[i])
	}
	return b
}

// read reads n elements; the caller has checked that b can hold so many.
func (parts) read(t *DataType, v *Value, n int, b []byte) (rest []byte, err error) {
	list := make([]Value, n)
	for i := range list {
		if b, err = t.child(i).read(&list[i], b); err != nil {
			return nil, err
		}
	}
	*v = List(list...)
	return b, nil
}

func (parts) store(w storeWriter, t *DataType, v Value, depth int) error {
	for i := range v.Len() {
		if err := w.value(t.child(i), v.At(i), depth+1); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (parts) unstore(r *storeReader, t *DataType, n, depth int) (_ Value, err error) {
	list := make([]Value, n)
	for i := range list {
		if list[i], err = r.value(t.child(i), depth+1); err != nil {
			return Value{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return List(list...), nil
}
