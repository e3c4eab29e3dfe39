package property

import (
	"math"
	"reflect"
	"unsafe"
)

// FieldType lists the Go types that a [Field] may have, with the data types each is for:
//
//	int8 … uint64, float32, float64, bool   the type of that name; uint64 also ENTITY_ID
//	string                                  STRING, UNICODE_STRING
//	Vector2, Vector3, Vector4               the type of that name
//	Value                                   every type
type FieldType interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | bool |
		string | Vector2 | Vector3 | Vector4 | Value
}

// ElementType lists the Go types that a [Slice] or [Map] may have: those of FieldType, []byte for
// BLOB, and Mailbox.
type ElementType interface {
	FieldType | []byte | Mailbox
}

// Field is a property, or a part of one, as a field of a script's struct. [BindFields] connects it;
// before that, Get and Set panic. A Field reads straight from the entity's Values: it holds no
// copy, and a copy of a Field is the same property.
//
// A Field of a part ([Dict], [Array]) means a place: the third element, whatever that is now. While
// there is none, it reads the default of its type, and Set is ErrPath.
type Field[T FieldType] struct {
	// raw is where the value lies in the property's slot, or in its cell: both last as long as the
	// Values.
	raw    unsafe.Pointer
	at     *Value // what raw points into
	values *Values
	index  int
	cell   *partView // of a part, else nil
}

// Handles for the common types. Vectors go by Field[Vector3] and so on.
type (
	Int8    = Field[int8]
	Int16   = Field[int16]
	Int32   = Field[int32]
	Int64   = Field[int64]
	Uint8   = Field[uint8]
	Uint16  = Field[uint16]
	Uint32  = Field[uint32]
	Uint64  = Field[uint64]
	Float32 = Field[float32]
	Float64 = Field[float64]
	Bool    = Field[bool]
	String  = Field[string]
)

// Get returns the property's value. It allocates nothing.
func (f *Field[T]) Get() T {
	if f.raw == nil {
		panic(unbound)
	}
	if !direct {
		return fromValue[T](f.at)
	}
	// A conversion by a switch over all types would be four times as slow: it is above what the
	// compiler inlines.
	return *(*T)(f.raw)
}

// rawOf returns where a T lies in a Value.
func rawOf[T FieldType](v *Value) unsafe.Pointer {
	var x T
	switch any(&x).(type) {
	case *string:
		return unsafe.Pointer(&v.ref) // ref and lo are a string's bytes and length
	case *Value:
		return unsafe.Pointer(v)
	}
	return unsafe.Pointer(&v.lo)
}

// Set changes the property and tells the holder, unless it has that value already. It cannot fail
// for types of fixed size but ENTITY_ID; a string that is too long or not UTF-8, a list of the
// wrong shape, a part that is not there, a write to a ghost and the like panic. Use TrySet for what
// comes from a player.
func (f *Field[T]) Set(x T) {
	if err := f.TrySet(x); err != nil {
		panic(err)
	}
}

// TrySet is Set that returns the error, one of those of [Values.SetAt]; nothing has changed then.
func (f *Field[T]) TrySet(x T) error {
	if f.at == nil {
		panic(unbound)
	}
	if f.cell != nil {
		return f.values.SetAt(f.index, f.cell.path, toValue(x))
	}
	val := toValue(x)
	return f.values.setField(f.index, f.at, &val, fits[T]())
}

const unbound = "property: use of a Field that BindFields has not bound"

// fits reports whether every T fits the types that a Field of it may have, so that Fit would change
// nothing.
func fits[T FieldType]() bool {
	var x T
	switch any(&x).(type) {
	case *uint64, *string, *Value:
		return false
	}
	return true
}

// handle is what CheckFields and BindFields see of a handle of any type.
type handle interface {
	// accepts reports whether the handle can hold values of the type.
	accepts(t *DataType) bool
	bind(v *Values, index int, path []int)
}

func (f *Field[T]) bind(v *Values, index int, path []int) {
	t := v.def.Properties[index].Type
	if len(path) == 0 {
		at := &v.vals[v.def.slot(v.side, index)]
		*f = Field[T]{raw: rawOf[T](at), at: at, values: v, index: index}
		return
	}
	for _, k := range path {
		t = t.child(k)
	}
	c := v.viewAt(index, path, t)
	*f = Field[T]{raw: rawOf[T](&c.v), at: &c.v, values: v, index: index, cell: c}
}

func (f *Field[T]) accepts(t *DataType) bool { return acceptsKind[T](t.kind) }

// acceptsKind reports whether a T holds the values of a kind. A Value holds all.
func acceptsKind[T ElementType](k Kind) bool {
	t := reflect.TypeFor[T]()
	return t == kindTable[k].goType || t == reflect.TypeFor[Value]()
}

// fromValue and toValue switch on pointers: a pointer in an interface is not boxed, so nothing is
// allocated.
func fromValue[T ElementType](v *Value) (x T) {
	switch p := any(&x).(type) {
	case *int8:
		*p = int8(v.lo)
	case *int16:
		*p = int16(v.lo)
	case *int32:
		*p = int32(v.lo)
	case *int64:
		*p = int64(v.lo)
	case *uint8:
		*p = uint8(v.lo)
	case *uint16:
		*p = uint16(v.lo)
	case *uint32:
		*p = uint32(v.lo)
	case *uint64:
		*p = v.lo
	case *float32:
		*p = low(v.lo)
	case *float64:
		*p = math.Float64frombits(v.lo)
	case *bool:
		*p = v.lo != 0
	case *string:
		*p = v.text()
	case *[]byte:
		*p = []byte(v.text())
	case *Vector2:
		*p = Vector2{low(v.lo), high(v.lo)}
	case *Vector3:
		*p = Vector3{low(v.lo), high(v.lo), low(v.hi)}
	case *Vector4:
		*p = Vector4{low(v.lo), high(v.lo), low(v.hi), high(v.hi)}
	case *Mailbox:
		*p = v.Mailbox()
	case *Value:
		*p = *v
	}
	return x
}

func toValue[T ElementType](x T) Value {
	switch p := any(&x).(type) {
	case *int8:
		return Int(int64(*p))
	case *int16:
		return Int(int64(*p))
	case *int32:
		return Int(int64(*p))
	case *int64:
		return Int(*p)
	case *uint8:
		return Uint(uint64(*p))
	case *uint16:
		return Uint(uint64(*p))
	case *uint32:
		return Uint(uint64(*p))
	case *uint64:
		return Uint(*p)
	case *float32:
		return float32Value(*p)
	case *float64:
		return Float(*p)
	case *bool:
		return BoolValue(*p)
	case *string:
		return StringValue(*p)
	case *[]byte:
		return Bytes(*p)
	case *Vector2:
		return Vec2(*p)
	case *Vector3:
		return Vec3(*p)
	case *Vector4:
		return Vec4(*p)
	case *Mailbox:
		return MailboxValue(*p)
	case *Value:
		return *p
	}
	return Value{}
}
