package property

import (
	"fmt"
	"strconv"
)

// DataType is the type of a property, an argument, an element or a field. It never changes once made.
type DataType struct {
	kind      Kind
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
	DatabaseLength int  // column size, 0 for the store's default
	Transient      bool // not kept: it has its default again when it comes from the store
}

// scalars is written once, here, and only read.
var scalars = func() (t [KindUser + 1]*DataType) {
	sizes := [...]int{
		KindInt8: 1, KindInt16: 2, KindInt32: 4, KindInt64: 8, KindUint8: 1, KindUint16: 2, KindUint32: 4, KindUint64: 8,
		KindFloat32: 4, KindFloat64: 8, KindBool: 1, KindVec2: 8, KindVec3: 12, KindVec4: 16, KindEntityID: 8, KindUser: 0,
	}
	for k := KindInt8; k <= KindUser; k++ {
		d := &DataType{kind: k, minWire: sizes[k], fixed: sizes[k] > 0, depth: 1, nodes: 1}
		switch k {
		case KindInt8, KindInt16, KindInt32, KindInt64:
			d.def = Int(0)
		case KindUint8, KindUint16, KindUint32, KindUint64, KindEntityID:
			d.def = Uint(0)
		case KindFloat32:
			d.def = float32Value(0)
		case KindFloat64:
			d.def = Float(0)
		case KindBool:
			d.def = BoolValue(false)
		case KindString, KindUnicodeString, KindBlob:
			d.def, d.minWire = StringValue(""), 1
		case KindVec2:
			d.def = Vec2(Vector2{})
		case KindVec3:
			d.def = Vec3(Vector3{})
		case KindVec4:
			d.def = Vec4(Vector4{})
		case KindMailbox:
			d.def, d.minWire = MailboxValue(Mailbox{}), mailboxFixed
		case KindAny:
			d.def, d.minWire = stringOf(isAny, "\xc0"), 2 // nil
		default:
			continue // made by their constructors
		}
		t[k] = d
	}
	return t
}()

// Scalar returns the type of a kind that needs no description. It panics for the kinds of [NewArray], [NewTuple],
// [NewFixedDict], [NewMap] and [NewUserType].
func Scalar(k Kind) *DataType {
	if int(k) >= len(scalars) || scalars[k] == nil {
		panic("property: " + k.String() + " is not a scalar kind")
	}
	return scalars[k]
}

// NewArray returns the type of lists of elem; size is the exact number of elements, or 0 for any number.
func NewArray(elem *DataType, size int) (*DataType, error) { return newSequence(KindArray, elem, size) }

// NewTuple is [NewArray] under the name that older definitions use for lists that are only changed whole.
func NewTuple(elem *DataType, size int) (*DataType, error) { return newSequence(KindTuple, elem, size) }

func newSequence(k Kind, elem *DataType, size int) (*DataType, error) {
	switch {
	case elem == nil:
		return nil, fmt.Errorf("%v has no element type", k)
	case size < 0 || size > MaxElements:
		return nil, fmt.Errorf("size %d of %v is not within 0 to %d", size, k, MaxElements)
	}
	// The product cannot overflow: both factors are at most MaxElements.
	t := &DataType{kind: k, elem: elem, size: size, depth: elem.depth + 1, nodes: 1 + max(1, size)*elem.nodes, minWire: 1}
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

// NewMap returns the type of maps from key to value, at most [MaxList] pairs. A key is a whole number, BOOL, STRING,
// UNICODE_STRING or ENTITY_ID. The original has no such type; see the package's sources.
func NewMap(key, value *DataType) (*DataType, error) {
	switch {
	case key == nil:
		return nil, fmt.Errorf("MAP has no key type")
	case value == nil:
		return nil, fmt.Errorf("MAP has no value type")
	case !key.kind.isKey():
		return nil, fmt.Errorf("%v cannot be the key of a MAP", key.kind)
	}
	t := &DataType{kind: KindMap, key: key, elem: value, depth: value.depth + 1, nodes: 1 + value.nodes, minWire: 1, def: List()}
	return t, t.checkExtent()
}

// isKey reports whether values of the kind have an order that every process agrees on.
func (k Kind) isKey() bool {
	return k >= KindInt8 && k <= KindUint64 || k == KindBool || k == KindString || k == KindUnicodeString || k == KindEntityID
}

// NewFixedDict returns the type of records with the given fields, in this order. With allowNone a value may be None, and
// is by default.
func NewFixedDict(allowNone bool, fields ...DictField) (*DataType, error) {
	t := &DataType{kind: KindFixedDict, allowNone: allowNone, fixed: true, nodes: 1}
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

// ImplementedBy returns what a .def file says to implement a FIXED_DICT, or "". The value is a plain record all the same.
func (t *DataType) ImplementedBy() string { return t.implementedBy }

// WithImplementedBy returns the type with a note of what implements it.
func (t *DataType) WithImplementedBy(name string) *DataType {
	c := *t
	c.implementedBy = name
	return &c
}

// PersistAsBlob reports whether a store may keep an ARRAY or TUPLE as one blob instead of a table of its own.
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

// String writes the type in full, aliases resolved: equal types give equal text. Digests are made of it.
func (t *DataType) String() string { return string(t.appendText(nil)) }

func (t *DataType) appendText(b []byte) []byte {
	b = append(b, t.kind.String()...)
	switch t.kind {
	case KindMap:
		b = t.key.appendText(append(b, '<'))
		b = append(t.elem.appendText(append(b, ' ')), '>')
	case KindUser:
		b = append(append(append(b, '<'), t.user.typeName()...), '>')
	case KindArray, KindTuple:
		b = t.elem.appendText(append(b, '<'))
		if t.size > 0 {
			b = strconv.AppendInt(append(b, ' '), int64(t.size), 10)
		}
		b = append(b, '>')
	case KindFixedDict:
		if t.allowNone {
			b = append(b, '?')
		}
		b = append(b, '{')
		for i, f := range t.fields {
			if i > 0 {
				b = append(b, ' ')
			}
			b = f.Type.appendText(append(append(b, f.Name...), ':'))
		}
		b = append(b, '}')
	}
	return b
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
