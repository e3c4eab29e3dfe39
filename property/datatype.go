package property

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Kind is the kind of a data type.
type Kind uint8

// The kinds. The comment says how a value travels: numbers are little-endian, lengths and counts are uvarints.
const (
	KindInt8          Kind = iota + 1 // 1 byte
	KindInt16                         // 2 bytes
	KindInt32                         // 4 bytes
	KindInt64                         // 8 bytes
	KindUint8                         // 1 byte
	KindUint16                        // 2 bytes
	KindUint32                        // 4 bytes
	KindUint64                        // 8 bytes
	KindFloat32                       // 4 bytes
	KindFloat64                       // 8 bytes
	KindBool                          // 1 byte, 0 or 1
	KindString                        // length, bytes
	KindUnicodeString                 // length, UTF-8
	KindBlob                          // length, bytes
	KindVec2                          // 8 bytes
	KindVec3                          // 12 bytes
	KindVec4                          // 16 bytes
	KindArray                         // count unless of fixed size, elements
	KindTuple                         // as an array
	KindFixedDict                     // presence byte if it may be None, fields in order
	KindEntityID                      // 8 bytes, at most MaxEntityID
	KindMailbox                       // 18 bytes and an IP address
)

var kindNames = [...]string{
	KindInt8: "INT8", KindInt16: "INT16", KindInt32: "INT32", KindInt64: "INT64",
	KindUint8: "UINT8", KindUint16: "UINT16", KindUint32: "UINT32", KindUint64: "UINT64",
	KindFloat32: "FLOAT32", KindFloat64: "FLOAT64", KindBool: "BOOL",
	KindString: "STRING", KindUnicodeString: "UNICODE_STRING", KindBlob: "BLOB",
	KindVec2: "VECTOR2", KindVec3: "VECTOR3", KindVec4: "VECTOR4",
	KindArray: "ARRAY", KindTuple: "TUPLE", KindFixedDict: "FIXED_DICT",
	KindEntityID: "ENTITY_ID", KindMailbox: "MAILBOX",
}

// String returns the kind's name in a .def file.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// DataType is the type of a property, an argument, an element or a field. It never changes once made.
type DataType struct {
	kind      Kind
	elem      *DataType   // ARRAY, TUPLE
	size      int         // ARRAY, TUPLE: number of elements, 0 if variable
	fields    []DictField // FIXED_DICT
	allowNone bool        // FIXED_DICT
	def       Value

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
}

// scalars is written once, here, and only read.
var scalars = func() (t [KindMailbox + 1]*DataType) {
	sizes := [...]int{
		KindInt8: 1, KindInt16: 2, KindInt32: 4, KindInt64: 8, KindUint8: 1, KindUint16: 2, KindUint32: 4, KindUint64: 8,
		KindFloat32: 4, KindFloat64: 8, KindBool: 1, KindVec2: 8, KindVec3: 12, KindVec4: 16, KindEntityID: 8, KindMailbox: 0,
	}
	for k := KindInt8; k <= KindMailbox; k++ {
		d := &DataType{kind: k, minWire: sizes[k], fixed: sizes[k] > 0, depth: 1, nodes: 1}
		switch k {
		case KindInt8, KindInt16, KindInt32, KindInt64:
			d.def = Int(0)
		case KindUint8, KindUint16, KindUint32, KindUint64, KindEntityID:
			d.def = Uint(0)
		case KindFloat32, KindFloat64:
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
		default:
			continue // made by NewArray, NewTuple and NewFixedDict
		}
		t[k] = d
	}
	return t
}()

// Scalar returns the type of a kind that needs no description. It panics for the kinds of [NewArray], [NewTuple] and
// [NewFixedDict].
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
	t.def = Value{kind: isList}
	if size > 0 {
		t.minWire, t.fixed = size*elem.minWire, elem.fixed
		t.def.list = make([]Value, size)
		for i := range t.def.list {
			t.def.list[i] = elem.def
		}
	}
	return t, nil
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
		t.def = Value{kind: isList, list: def}
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

// Elem returns the element type of an ARRAY or TUPLE, else nil.
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

// Check reports whether v fits the type; the error says why not and is ErrValue or ErrLength.
func (t *DataType) Check(v Value) error {
	_, err := t.Fit(v)
	return err
}

// Fit returns v as the type stores it: whole numbers take the type's sign, a FLOAT32 is rounded. A stored value that
// travels comes back equal. The error is ErrValue or ErrLength.
func (t *DataType) Fit(v Value) (Value, error) {
	switch t.kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return t.fitInt(v)
	case KindUint8, KindUint16, KindUint32, KindUint64, KindEntityID:
		return t.fitUint(v)
	case KindFloat32:
		return t.fitFloat32(v)
	case KindFloat64:
		return v, t.want(v, isFloat)
	case KindBool:
		return v, t.want(v, isBool)
	case KindString, KindUnicodeString, KindBlob:
		return v, t.checkString(v)
	case KindVec2:
		return v, t.want(v, isVec2)
	case KindVec3:
		return v, t.want(v, isVec3)
	case KindVec4:
		return v, t.want(v, isVec4)
	case KindMailbox:
		if err := t.want(v, isMailbox); err != nil {
			return v, err
		}
		return v, v.Mailbox().check()
	case KindArray, KindTuple:
		return t.fitSequence(v)
	default:
		return t.fitDict(v)
	}
}

func (t *DataType) want(v Value, k variant) error {
	if v.kind != k {
		return t.refuse(v)
	}
	return nil
}

func (t *DataType) refuse(v Value) error {
	text := v.String()
	if len(text) > 80 {
		text = text[:80] + "…" // an error is for reading, not for carrying a blob into a log
	}
	return fmt.Errorf("%w: %s is not a %v", ErrValue, text, t.kind)
}

func (t *DataType) bits() uint { return uint(t.minWire) * 8 }

func (t *DataType) fitInt(v Value) (Value, error) {
	n := int64(v.lo)
	shift := 64 - t.bits()
	if v.kind != isInt && (v.kind != isUint || n < 0) || n<<shift>>shift != n {
		return v, t.refuse(v)
	}
	return Int(n), nil
}

func (t *DataType) fitUint(v Value) (Value, error) {
	limit := uint64(math.MaxUint64) >> (64 - t.bits())
	if t.kind == KindEntityID {
		limit = MaxEntityID
	}
	if v.kind != isUint && (v.kind != isInt || int64(v.lo) < 0) || v.lo > limit {
		return v, t.refuse(v)
	}
	return Uint(v.lo), nil
}

func (t *DataType) fitFloat32(v Value) (Value, error) {
	if v.kind != isFloat {
		return v, t.refuse(v)
	}
	f := v.Float()
	r := float64(float32(f))
	if math.IsInf(r, 0) && !math.IsInf(f, 0) {
		return v, t.refuse(v) // a finite number must not turn into infinity silently
	}
	return Float(r), nil
}

func (t *DataType) checkString(v Value) error {
	if v.kind != isString {
		return t.refuse(v)
	}
	if len(v.str) > MaxString {
		return fmt.Errorf("%w: %v of %d bytes is longer than %d", ErrLength, t.kind, len(v.str), MaxString)
	}
	if t.kind == KindUnicodeString && !utf8.ValidString(v.str) {
		return fmt.Errorf("%w: UNICODE_STRING is not valid UTF-8", ErrValue)
	}
	return nil
}

func (t *DataType) fitSequence(v Value) (Value, error) {
	if v.kind != isList {
		return v, t.refuse(v)
	}
	if t.size > 0 && len(v.list) != t.size {
		return v, fmt.Errorf("%w: %d elements for %v of %d", ErrLength, len(v.list), t.kind, t.size)
	}
	if len(v.list) > MaxList {
		return v, fmt.Errorf("%w: %v of %d elements is longer than %d", ErrLength, t.kind, len(v.list), MaxList)
	}
	return fitList(v, func(int) *DataType { return t.elem })
}

func (t *DataType) fitDict(v Value) (Value, error) {
	if v.kind == isNone && t.allowNone {
		return v, nil
	}
	if v.kind != isList {
		return v, t.refuse(v)
	}
	if len(v.list) != len(t.fields) {
		return v, fmt.Errorf("%w: %d values for FIXED_DICT of %d fields", ErrLength, len(v.list), len(t.fields))
	}
	return fitList(v, func(i int) *DataType { return t.fields[i].Type })
}

// fitList fits every element, and copies the list only if one of them changes by it.
func fitList(v Value, typeOf func(i int) *DataType) (Value, error) {
	list, copied := v.list, false
	for i, e := range v.list {
		f, err := typeOf(i).Fit(e)
		if err != nil {
			return v, fmt.Errorf("element %d: %w", i, err)
		}
		if f.kind == e.kind && f.lo == e.lo && !changedList(f, e) {
			continue
		}
		if !copied {
			list, copied = append([]Value(nil), v.list...), true
		}
		list[i] = f
	}
	return Value{kind: isList, list: list}, nil
}

// changedList reports whether fitting made a new list of e.
func changedList(f, e Value) bool { return len(f.list) > 0 && &f.list[0] != &e.list[0] }
