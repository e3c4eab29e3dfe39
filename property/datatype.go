package property

import "fmt"

// DataType is the type of a property, an argument, an element or a field. It never changes once
// made.
type DataType struct {
	kind      Kind
	form      form        // of the kind
	wire      wireForm    // the same, unless width says how a value travels
	width     width       // of a number or vector
	holds     variant     // of a value of a scalar kind
	key       *DataType   // MAP
	elem      *DataType   // ARRAY, TUPLE, MAP
	size      int         // ARRAY, TUPLE: number of elements, 0 if variable
	fields    []DictField // FIXED_DICT
	allowNone bool        // FIXED_DICT
	user      userOps     // USER_TYPE
	def       Value

	// What the store does with it.
	implementedBy string // FIXED_DICT
	asBlob        bool   // ARRAY, TUPLE

	// At least 1 for every type: a list of elements without bytes could claim any count.
	minWire int
	fixed   bool // always minWire bytes long
	depth   int
	nodes   int // elements when written out in full; see MaxElements
}

// DictField is a field of a FIXED_DICT.
type DictField struct {
	Name    string
	Type    *DataType
	Default Value // None means the default of Type
	// What the store does with it.
	DatabaseLength int  // as of a Property
	Transient      bool // not kept: it has its default again when it comes from the store
}

// NewArray returns the type of lists of elem; size is the exact number of elements, or 0 for any
// number.
func NewArray(elem *DataType, size int) (*DataType, error) { return newSequence(KindArray, elem, size) }

// NewTuple is [NewArray] under the name that older definitions use for lists that are only changed
// whole.
func NewTuple(elem *DataType, size int) (*DataType, error) { return newSequence(KindTuple, elem, size) }

func newSequence(k Kind, elem *DataType, size int) (*DataType, error) {
	switch {
	case elem == nil:
		return nil, fmt.Errorf("%v has no element type", k)
	case size < 0 || size > MaxElements:
		return nil, fmt.Errorf("size %d of %v is not within 0 to %d", size, k, MaxElements)
	}
	// The product cannot overflow: both factors are at most MaxElements.
	t := newDataType(k, elem.depth+1, 1+max(1, size)*elem.nodes)
	t.elem, t.size = elem, size
	if err := t.checkExtent(); err != nil {
		return nil, err
	}
	t.def = List()
	if size > 0 {
		t.minWire, t.fixed = size*elem.minWire, elem.fixed
		def := make([]Value, size)
		for i := range def {
			def[i] = elem.def
		}
		t.def = List(def...)
	}
	return t, nil
}

// NewMap returns the type of maps from key to value, at most [MaxList] pairs. A key is a whole
// number, BOOL, STRING, UNICODE_STRING or ENTITY_ID. The original has no such type; see the
// package's sources.
func NewMap(key, value *DataType) (*DataType, error) {
	switch {
	case key == nil:
		return nil, fmt.Errorf("MAP has no key type")
	case value == nil:
		return nil, fmt.Errorf("MAP has no value type")
	case !kindTable[key.kind].key:
		return nil, fmt.Errorf("%v cannot be the key of a MAP", key.kind)
	}
	t := newDataType(KindMap, value.depth+1, 1+value.nodes)
	t.key, t.elem, t.def = key, value, List()
	return t, t.checkExtent()
}

// NewFixedDict returns the type of records with the given fields, in this order. With allowNone a
// value may be None, and is by default.
func NewFixedDict(allowNone bool, fields ...DictField) (*DataType, error) {
	t := newDataType(KindFixedDict, 0, 1)
	t.allowNone, t.fixed, t.minWire = allowNone, true, 0
	if len(fields) == 0 {
		return nil, fmt.Errorf("FIXED_DICT has no fields")
	}
	if len(fields) > MaxDictFields {
		return nil, fmt.Errorf("FIXED_DICT has %d fields, more than %d", len(fields), MaxDictFields)
	}
	def := make([]Value, 0, len(fields))
	for _, f := range fields {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		if t.Field(f.Name) >= 0 {
			return nil, fmt.Errorf("field %q is declared twice", f.Name)
		}
		if f.Type == nil {
			return nil, fmt.Errorf("field %q has no type", f.Name)
		}
		if f.Default.IsNone() {
			f.Default = f.Type.def
		}
		v, err := f.Type.Fit(f.Default)
		if err != nil {
			return nil, fmt.Errorf("default of field %q: %w", f.Name, err)
		}
		f.Default = v
		t.fields, def = append(t.fields, f), append(def, v)
		t.minWire += f.Type.minWire
		t.fixed = t.fixed && f.Type.fixed
		t.depth = max(t.depth, f.Type.depth)
		t.nodes += f.Type.nodes
	}
	t.depth++
	if err := t.checkExtent(); err != nil {
		return nil, err
	}
	if allowNone {
		t.minWire, t.fixed = 1, false
	} else {
		t.def = List(def...)
	}
	return t, nil
}

func (t *DataType) checkExtent() error {
	if t.depth > MaxTypeDepth {
		return fmt.Errorf("data types are nested deeper than %d", MaxTypeDepth)
	}
	if t.nodes > MaxElements {
		return fmt.Errorf("data type has more than %d elements", MaxElements)
	}
	return nil
}

// WithDefault returns the type with another default, as an alias may state it.
func (t *DataType) WithDefault(v Value) (*DataType, error) {
	v, err := t.Fit(v)
	if err != nil {
		return nil, err
	}
	c := *t
	c.def = v
	return &c, nil
}

// Kind returns the kind.
func (t *DataType) Kind() Kind { return t.kind }

// ImplementedBy returns what a .def file says to implement a FIXED_DICT, or "". The value is a
// plain record all the same.
func (t *DataType) ImplementedBy() string { return t.implementedBy }

// WithImplementedBy returns the type with a note of what implements it.
func (t *DataType) WithImplementedBy(name string) *DataType {
	c := *t
	c.implementedBy = name
	return &c
}

// PersistAsBlob reports whether a store may keep an ARRAY or TUPLE as one blob instead of a table
// of its own.
func (t *DataType) PersistAsBlob() bool { return t.asBlob }

// WithStorage returns the type with [DataType.PersistAsBlob] set.
func (t *DataType) WithStorage(asBlob bool) *DataType {
	c := *t
	c.asBlob = asBlob
	return &c
}

// Key returns the key type of a MAP, else nil.
func (t *DataType) Key() *DataType { return t.key }

// Elem returns the element type of an ARRAY or TUPLE, the value type of a MAP, else nil.
func (t *DataType) Elem() *DataType { return t.elem }

// Size returns the fixed number of elements of an ARRAY or TUPLE, or 0 if it varies.
func (t *DataType) Size() int { return t.size }

// Fields returns the fields of a FIXED_DICT in order. Do not change it.
func (t *DataType) Fields() []DictField { return t.fields }

// Field returns the position of the named field of a FIXED_DICT, or -1.
func (t *DataType) Field(name string) int {
	for i := range t.fields {
		if t.fields[i].Name == name {
			return i
		}
	}
	return -1
}

// AllowsNone reports whether a FIXED_DICT may be absent.
func (t *DataType) AllowsNone() bool { return t.allowNone }

// Default returns the value of a property for which nothing else is stated.
func (t *DataType) Default() Value { return t.def }

// WireSize returns how many bytes every value takes, or 0 if it varies.
func (t *DataType) WireSize() int {
	if t.fixed {
		return t.minWire
	}
	return 0
}

// String writes the type in full, aliases resolved: equal types give equal text. Digests are made
// of it.
func (t *DataType) String() string { return string(t.describe(nil, false)) }

// describe appends the kind and what there is to say beside it; see [form].
func (t *DataType) describe(b []byte, full bool) []byte {
	return t.form.describe(t, append(b, t.kind.String()...), full)
}

// child returns the type of the element at position i of a value's list.
func (t *DataType) child(i int) *DataType {
	switch t.kind {
	case KindFixedDict:
		return t.fields[i].Type
	case KindMap:
		if i%2 == 0 {
			return t.key
		}
	}
	return t.elem
}

// hasMailbox reports whether a value of the type can hold a mailbox.
func (t *DataType) hasMailbox() bool {
	if t.kind == KindMailbox || t.elem != nil && t.elem.hasMailbox() {
		return true
	}
	for _, f := range t.fields {
		if f.Type.hasMailbox() {
			return true
		}
	}
	return false
}
