package property

// FieldType lists the Go types that a [Field] may have, with the data types each is for:
//
//	int8 … uint64, float32, float64, bool   the type of that name; uint64 also ENTITY_ID
//	string                                  STRING, UNICODE_STRING
//	[]byte                                  BLOB
//	Vector2, Vector3, Vector4, Mailbox      the type of that name
//	Value                                   every type: ARRAY, TUPLE and FIXED_DICT go by it
type FieldType interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | bool |
		string | []byte | Vector2 | Vector3 | Vector4 | Mailbox | Value
}

// Field is a property as a field of a script's struct. [BindFields] connects it; before that, Get and Set panic. A Field
// reads straight from the entity's Values: it holds no copy, and a copy of a Field is the same property.
type Field[T FieldType] struct {
	values      *Values
	index, slot int
}

// Handles for the common types. Vectors, mailboxes and structured values go by Field[Vector3] and so on.
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
	Blob    = Field[[]byte]
)

// Get returns the property's value. It allocates nothing, except for a Field[[]byte], which copies.
func (f Field[T]) Get() T {
	if f.values == nil {
		panic(unbound)
	}
	return fromValue[T](&f.values.vals[f.slot])
}

// Set changes the property and tells the holder, unless it has that value already. It cannot fail for types of fixed size
// but ENTITY_ID; a string that is too long or not UTF-8, a list of the wrong shape and the like panic. Use TrySet for what
// comes from a player.
func (f *Field[T]) Set(x T) {
	if err := f.TrySet(x); err != nil {
		panic(err)
	}
}

// TrySet is Set that returns the error of a value that does not fit, ErrValue or ErrLength; nothing has changed then.
func (f *Field[T]) TrySet(x T) error {
	if f.values == nil {
		panic(unbound)
	}
	return f.values.Set(f.index, toValue(x))
}

const unbound = "property: use of a Field that BindFields has not bound"

// handle is what CheckFields and BindFields see of a Field of any type.
type handle interface {
	accepts(k Kind) bool
	bind(v *Values, index int)
}

func (f *Field[T]) bind(v *Values, index int) {
	*f = Field[T]{v, index, v.def.slot(v.side, index)}
}

func (f *Field[T]) accepts(k Kind) bool {
	var x T
	switch any(&x).(type) {
	case *int8:
		return k == KindInt8
	case *int16:
		return k == KindInt16
	case *int32:
		return k == KindInt32
	case *int64:
		return k == KindInt64
	case *uint8:
		return k == KindUint8
	case *uint16:
		return k == KindUint16
	case *uint32:
		return k == KindUint32
	case *uint64:
		return k == KindUint64 || k == KindEntityID
	case *float32:
		return k == KindFloat32
	case *float64:
		return k == KindFloat64
	case *bool:
		return k == KindBool
	case *string:
		return k == KindString || k == KindUnicodeString
	case *[]byte:
		return k == KindBlob
	case *Vector2:
		return k == KindVec2
	case *Vector3:
		return k == KindVec3
	case *Vector4:
		return k == KindVec4
	case *Mailbox:
		return k == KindMailbox
	}
	return true // Value
}

// fromValue and toValue switch on pointers: a pointer in an interface is not boxed, so nothing is allocated.
func fromValue[T FieldType](v *Value) (x T) {
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
		*p = float32(v.Float())
	case *float64:
		*p = v.Float()
	case *bool:
		*p = v.lo != 0
	case *string:
		*p = v.str
	case *[]byte:
		*p = []byte(v.str)
	case *Vector2:
		*p = v.Vec2()
	case *Vector3:
		*p = v.Vec3()
	case *Vector4:
		*p = v.Vec4()
	case *Mailbox:
		*p = v.Mailbox()
	case *Value:
		*p = *v
	}
	return x
}

func toValue[T FieldType](x T) Value {
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
		return Float(float64(*p))
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
