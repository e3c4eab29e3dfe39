package property

import "fmt"

// userForm is a USER_TYPE: its codec says what becomes of a value.
type userForm struct{}

func (userForm) fit(t *DataType, v Value) (Value, error) { return t.user.fit(v) }

func (userForm) describe(t *DataType, b []byte, full bool) []byte {
	if !full {
		return append(append(append(b, '<'), t.UserName()...), '>')
	}
	return append(t.StoreType().describe(fmt.Appendf(b, "<%q ", t.UserName()), true), '>')
}

func (userForm) append(_ *DataType, b []byte, v *Value) []byte {
	wire := StringValue(v.user().wire)
	return text{}.append(nil, b, &wire)
}

func (userForm) read(t *DataType, v *Value, b []byte) ([]byte, error) {
	n, rest, err := readCount(b, MaxUser, 1)
	if err != nil {
		return nil, err
	}
	*v, err = t.user.read(rest[:n:n])
	return rest[n:], err
}

func (userForm) most(*DataType) int { return prefixed(MaxUser) }

func (userForm) appendText(t *DataType, b []byte, v Value) ([]byte, error) {
	stored, err := t.user.toStore(v)
	if err != nil {
		return b, err
	}
	return t.StoreType().AppendText(b, stored)
}

// parse reads the value in the form in which the store keeps it.
func (userForm) parse(l *loader, t *DataType, e *element, path string) (Value, bool) {
	if t.isStandIn() {
		return t.def, true // only the codec knows what a value looks like
	}
	stored, ok := l.parseValue(t.StoreType(), e, path)
	if !ok {
		return Value{}, false
	}
	v, err := t.user.fromStore(stored)
	if err != nil {
		l.fault(e.position, path, fmt.Sprintf("%s refuses the value: %v", t.UserName(), err), "state a value that it takes")
	}
	return v, err == nil
}

func (userForm) literal(t *DataType, x any) (Value, error) {
	of := t.StoreType()
	stored, err := of.form.literal(of, x)
	if err != nil {
		return Value{}, err
	}
	return t.user.fromStore(stored)
}

func (userForm) store(w storeWriter, t *DataType, v Value, depth int) error {
	stored, err := t.user.toStore(v)
	if err != nil {
		return err
	}
	return w.value(t.StoreType(), stored, depth+1)
}

func (userForm) unstore(r *storeReader, t *DataType, depth int) (Value, error) {
	stored, err := r.value(t.StoreType(), depth+1)
	if err != nil {
		return Value{}, err
	}
	v, err := t.user.fromStore(stored)
	if err != nil {
		return Value{}, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return v, nil
}
