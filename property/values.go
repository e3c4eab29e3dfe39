package property

import "fmt"

// Holder is how a change of a value reaches the entity. PropertyChanged is called after property index has its new value;
// it may read and set properties, the changed one included.
type Holder interface{ PropertyChanged(index int) }

// Values holds the properties of one side of one entity. Every value in it fits its type. It belongs to one goroutine.
type Values struct {
	def    *Definition
	side   Side
	holder Holder
	vals   []Value // by slot
}

// NewValues returns the defaults of a side. h may be nil. d must be of a Schema.
func NewValues(d *Definition, side Side, h Holder) *Values {
	if !d.compiled {
		panic("property: NewValues of a Definition that is not of a Schema: " + d.Name)
	}
	v := &Values{def: d, side: side, holder: h, vals: make([]Value, len(d.Held(side)))}
	for slot, i := range d.Held(side) {
		v.vals[slot] = d.Properties[i].Default
	}
	return v
}

// Definition returns the type that the values belong to.
func (v *Values) Definition() *Definition { return v.def }

// Side returns the side that the values belong to.
func (v *Values) Side() Side { return v.side }

// SetHolder replaces the holder; nil means that nobody listens.
func (v *Values) SetHolder(h Holder) { v.holder = h }

// Holds reports whether this side holds property i.
func (v *Values) Holds(i int) bool { return v.def.slot(v.side, i) >= 0 }

// Get returns property i, or None if this side does not hold it.
func (v *Values) Get(i int) Value {
	slot := v.def.slot(v.side, i)
	if slot < 0 {
		return Value{}
	}
	return v.vals[slot]
}

// Set changes property i and tells the holder, unless it has that value already. Errors are ErrIndex, ErrSide, ErrValue
// and ErrLength; nothing has changed then.
func (v *Values) Set(i int, val Value) error {
	changed, err := v.put(i, val)
	if changed && v.holder != nil {
		v.holder.PropertyChanged(i)
	}
	return err
}

// Load changes property i without telling the holder: for what arrives from the real, the store or a backup. Errors as of
// Set.
func (v *Values) Load(i int, val Value) error {
	_, err := v.put(i, val)
	return err
}

func (v *Values) put(i int, val Value) (changed bool, err error) {
	if i < 0 || i >= len(v.def.Properties) {
		return false, fmt.Errorf("%w: index %d of %s", ErrIndex, i, v.def.Name)
	}
	p := v.def.Properties[i]
	slot := v.def.slot(v.side, i)
	if slot < 0 {
		return false, fmt.Errorf("%w: property %s.%s (%v), side %v", ErrSide, v.def.Name, p.Name, p.Flags, v.side)
	}
	val, err = p.Type.Fit(val)
	if err != nil {
		return false, fmt.Errorf("property %s.%s: %w", v.def.Name, p.Name, err)
	}
	if Equal(v.vals[slot], val) {
		return false, nil
	}
	v.vals[slot] = val
	return true, nil
}

// AppendValue appends property i as it travels; this side must hold it.
func (v *Values) AppendValue(b []byte, i int) []byte {
	slot := v.def.slot(v.side, i)
	if slot < 0 {
		panic(fmt.Sprintf("property: AppendValue of property %d of %s, which the %v does not hold", i, v.def.Name, v.side))
	}
	return v.def.Properties[i].Type.AppendTo(b, v.vals[slot])
}

// AppendStream appends the properties of a stream in ascending index order. The side must carry the stream
// ([Side.Carries]).
func (v *Values) AppendStream(b []byte, dom Domain) []byte {
	if !v.side.Carries(dom) {
		panic(fmt.Sprintf("property: the %v side does not carry the %v", v.side, dom))
	}
	for _, i := range v.def.Stream(dom) {
		b = v.AppendValue(b, i)
	}
	return b
}

// ReadStream takes a stream off the front of b, without telling the holder. It takes every value or, with an error, none.
// Errors are ErrSide and those of [DataType.Read].
func (v *Values) ReadStream(b []byte, dom Domain) (rest []byte, err error) {
	if !v.side.Carries(dom) {
		return b, fmt.Errorf("%w: %v, side %v", ErrSide, dom, v.side)
	}
	indices := v.def.Stream(dom)
	read := make([]Value, len(indices))
	rest = b
	for n, i := range indices {
		if read[n], rest, err = v.def.ReadValue(rest, i); err != nil {
			return b, fmt.Errorf("property %s.%s: %w", v.def.Name, v.def.Properties[i].Name, err)
		}
	}
	for n, i := range indices {
		v.vals[v.def.slot(v.side, i)] = read[n]
	}
	return rest, nil
}
