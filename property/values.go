package property

import "fmt"

// Holder is how a change of a value reaches the entity. PropertyChanged is called after the value
// is in place. It may read and set properties, the changed one included, but only after it has
// recorded c and passed it on. What it sets is told at once, and copies that heard of that first
// would end with the older value, or find no such part. c belongs to the caller: do not keep or
// change it.
type Holder interface{ PropertyChanged(c *Change) }

// Values holds the properties of one side of one entity. Every value in it fits its type. It
// belongs to one goroutine.
type Values struct {
	def    *Definition
	holder Holder
	vals   []Value // by slot; never reallocated: handles point into it
	varied *varied // nil if all are of fixed size, and no handle looks into one
	change *Change // of the notification under way, kept for the next; nil until somebody is told
	side   Side
	busy   bool // change is in use
}

// varied is what Values hold of values of variable size, and for handles of parts.
type varied struct {
	sizes  []int32 // by slot: bytes of the value as it travels; 0 for what has a fixed size
	nested []views // by slot: where handles look for parts of the value; nil until one is bound
}

// NewValues returns the defaults of a side. h may be nil. d must be of a Schema.
func NewValues(d *Definition, side Side, h Holder) *Values {
	if !d.compiled {
		panic("property: NewValues of a Definition that is not of a Schema: " + d.Name)
	}
	held := d.Held(side)
	v := &Values{def: d, side: side, holder: h, vals: make([]Value, len(held))}
	for slot, i := range held {
		p := d.Properties[i]
		v.vals[slot] = p.Default
		if !p.Type.fixed {
			v.vary().sizes[slot] = int32(p.Type.variableSize(&p.Default))
		}
	}
	return v
}

func (v *Values) vary() *varied {
	if v.varied == nil {
		v.varied = &varied{sizes: make([]int32, len(v.vals))}
	}
	return v.varied
}

// Definition returns the type that the values belong to.
func (v *Values) Definition() *Definition { return v.def }

// Side returns the side that the values belong to.
func (v *Values) Side() Side { return v.side }

// SetHolder replaces the holder; with nil, no one is told.
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

// Size returns how many bytes property i takes as it travels, 0 if this side does not hold it.
func (v *Values) Size(i int) int {
	slot := v.def.slot(v.side, i)
	if slot < 0 {
		return 0
	}
	return v.size(slot, v.def.Properties[i].Type)
}

func (v *Values) size(slot int, t *DataType) int {
	if t.fixed {
		return t.minWire
	}
	return int(v.varied.sizes[slot])
}

// Set changes property i and tells the holder, unless it has that value already. Errors are
// ErrIndex, ErrSide, ErrReadOnly for values that are a copy of another process's, ErrValue,
// ErrLength and ErrOversize; nothing has changed then.
func (v *Values) Set(i int, val Value) error {
	if err := v.writable(i); err != nil {
		return err
	}
	old, changed, err := v.put(i, val)
	if changed {
		v.notify(Change{Index: i, Op: SetValue, Old: old, New: v.Get(i)})
	}
	return err
}

// Force tells the holder of property i as if it had changed: every copy of it is sent again. Errors
// are ErrIndex, ErrSide and ErrReadOnly.
func (v *Values) Force(i int) error {
	if err := v.writable(i); err != nil {
		return err
	}
	val := v.Get(i)
	v.notify(Change{Index: i, Op: SetValue, Old: val, New: val})
	return nil
}

// Load changes property i without telling the holder: for what arrives from the real, the store or
// a backup. Errors as of Set, but for ErrReadOnly.
func (v *Values) Load(i int, val Value) error {
	_, _, err := v.put(i, val)
	return err
}

// setField is Set for a handle, which knows the slot, and whether its Go type leaves Fit anything
// to do.
func (v *Values) setField(i int, at, val *Value, fits bool) error {
	if v.side != CellSide && v.side != BaseSide || !fits {
		return v.Set(i, *val)
	}
	if at.lo == val.lo && at.hi == val.hi {
		return nil
	}
	if v.holder == nil {
		*at = *val // of fixed size, and without parts: neither sizes nor nested know of it
		return nil
	}
	c := v.begin()
	c.Index, c.Op, c.Path, c.Start, c.End = i, SetValue, nil, 0, 0
	c.Old, c.New = *at, *val
	*at = *val
	v.tell(c)
	return nil
}

// writable reports whether a script may change property i here.
func (v *Values) writable(i int) error {
	if err := v.held(i); err != nil {
		return err
	}
	if v.side != CellSide && v.side != BaseSide {
		return fmt.Errorf("%w: property %s.%s, side %v", ErrReadOnly, v.def.Name, v.def.Properties[i].Name, v.side)
	}
	return nil
}

// held reports whether property i is here.
func (v *Values) held(i int) error {
	if i < 0 || i >= len(v.def.Properties) {
		return fmt.Errorf("%w: index %d of %s", ErrIndex, i, v.def.Name)
	}
	if v.def.slot(v.side, i) < 0 {
		p := v.def.Properties[i]
		return fmt.Errorf("%w: property %s.%s (%v), side %v", ErrSide, v.def.Name, p.Name, p.Flags, v.side)
	}
	return nil
}

func (v *Values) put(i int, val Value) (old Value, changed bool, err error) {
	if err := v.held(i); err != nil {
		return Value{}, false, err
	}
	p, slot := v.def.Properties[i], v.def.slot(v.side, i)
	if val, err = p.Type.Fit(val); err != nil {
		return Value{}, false, fmt.Errorf("property %s.%s: %w", v.def.Name, p.Name, err)
	}
	old = v.vals[slot]
	if Equal(old, val) {
		return old, false, nil
	}
	size := p.Type.variableSize(&val)
	if err := v.checkSize(p, size); err != nil {
		return old, false, err
	}
	v.store(slot, nil, val, size)
	return old, true, nil
}

// checkSize refuses a value that could not travel whole: with it, real, ghosts and clients would
// come to differ.
func (v *Values) checkSize(p *Property, size int) error {
	limit := v.def.maxSize(p)
	if size > limit {
		return fmt.Errorf("property %s.%s: %w: %d bytes, more than %d", v.def.Name, p.Name, ErrOversize, size, limit)
	}
	return nil
}

// maxSize returns how many bytes a value of the property may take as it travels.
func (d *Definition) maxSize(p *Property) int {
	if p.ClientVisible() && d.HasClient {
		return MaxClientProperty
	}
	return MaxProperty
}

// store puts a value in place. path says which part of it differs, nil for all.
func (v *Values) store(slot int, path []int, val Value, size int) {
	v.vals[slot] = val
	if x := v.varied; x != nil {
		x.sizes[slot] = int32(size)
		if x.nested != nil {
			x.nested[slot].follow(path, &v.vals[slot])
		}
	}
}

// notify tells the holder of a change that is in place.
func (v *Values) notify(c Change) {
	if v.holder != nil {
		p := v.begin()
		*p = c
		v.tell(p)
	}
}

// begin returns the Change to tell of, with anything in it. It is kept with v, which saves an
// allocation, and not part of it: clients hold thousands of Values of which they tell nobody. If a
// holder changes properties itself, it is told of those by Changes of their own.
func (v *Values) begin() *Change {
	if v.busy {
		return new(Change)
	}
	v.busy = true
	if v.change == nil {
		v.change = new(Change)
	}
	return v.change
}

func (v *Values) tell(c *Change) {
	if c == v.change {
		defer v.done() // also if the script panics: its entity is restored and goes on
	}
	v.holder.PropertyChanged(c)
}

// done lets go of the old value. The rest of the Change is not worth clearing, at each set of a
// number.
func (v *Values) done() {
	v.busy = false
	v.change.Path, v.change.Old.ref, v.change.New.ref = nil, nil, nil
}

// AppendValue appends property i as it travels; this side must hold it.
func (v *Values) AppendValue(b []byte, i int) []byte {
	slot := v.def.slot(v.side, i)
	if slot < 0 {
		panic(fmt.Sprintf("property: AppendValue of property %d of %s, which the %v does not hold", i, v.def.Name, v.side))
	}
	return v.def.Properties[i].Type.append(b, &v.vals[slot])
}

// AppendStream appends the properties of a stream in ascending index order. The side must carry the
// stream ([Side.Carries]).
func (v *Values) AppendStream(b []byte, dom Stream) []byte {
	if !v.side.Carries(dom) {
		panic(fmt.Sprintf("property: the %v side does not carry the %v", v.side, dom))
	}
	slots := v.def.slots[v.side]
	for _, i := range v.def.Stream(dom) {
		b = v.def.Properties[i].Type.append(b, &v.vals[slots[i]])
	}
	return b
}

// streamOnStack is how many properties ReadStream reads without allocating for them.
const streamOnStack = 48

// ReadStream takes a stream off the front of b, without telling the holder. It takes every value
// or, with an error, none. Errors are ErrSide, ErrOversize and those of [DataType.Read].
func (v *Values) ReadStream(b []byte, dom Stream) (rest []byte, err error) {
	return v.readStream(b, dom, false)
}

// readStream is ReadStream; with whole, bytes after the stream are ErrTrailing, and nothing is
// taken.
func (v *Values) readStream(b []byte, dom Stream, whole bool) (rest []byte, err error) {
	if !v.side.Carries(dom) {
		return b, fmt.Errorf("%w: %v, side %v", ErrSide, dom, v.side)
	}
	var buf [streamOnStack]Value
	read, indices := buf[:], v.def.Stream(dom)
	if len(indices) > len(buf) {
		read = make([]Value, len(indices))
	}
	rest = b
	for n, i := range indices {
		p, before := v.def.Properties[i], len(rest)
		if rest, err = p.Type.read(&read[n], rest); err != nil {
			return b, fmt.Errorf("property %s.%s: %w", v.def.Name, p.Name, err)
		}
		if err := v.checkSize(p, before-len(rest)); err != nil {
			return b, err
		}
	}
	if whole && len(rest) > 0 {
		return b, fmt.Errorf("%w: %d after the %v of %s", ErrTrailing, len(rest), dom, v.def.Name)
	}
	slots := v.def.slots[v.side]
	for n, i := range indices {
		v.store(int(slots[i]), nil, read[n], v.def.Properties[i].Type.variableSize(&read[n]))
	}
	return rest, nil
}
