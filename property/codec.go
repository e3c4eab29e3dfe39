package property

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendTo appends v as it travels. v must fit the type: it came from [DataType.Fit], [DataType.Read] or a Values. A value
// that does not fit is a bug of the caller, and panics.
func (t *DataType) AppendTo(b []byte, v Value) []byte {
	switch t.kind {
	case KindInt8, KindUint8, KindBool:
		return append(b, byte(v.lo))
	case KindInt16, KindUint16:
		return binary.LittleEndian.AppendUint16(b, uint16(v.lo))
	case KindInt32, KindUint32:
		return binary.LittleEndian.AppendUint32(b, uint32(v.lo))
	case KindInt64, KindUint64, KindEntityID, KindFloat64, KindVec2:
		return binary.LittleEndian.AppendUint64(b, v.lo)
	case KindFloat32:
		return binary.LittleEndian.AppendUint32(b, float32bits(float32(v.Float())))
	case KindString, KindUnicodeString, KindBlob:
		return append(binary.AppendUvarint(b, uint64(len(v.str))), v.str...)
	case KindVec3:
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, v.lo), uint32(v.hi))
	case KindVec4:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, v.lo), v.hi)
	case KindMailbox:
		return appendMailbox(b, v.Mailbox())
	case KindArray, KindTuple:
		return t.appendSequence(b, v)
	default:
		return t.appendDict(b, v)
	}
}

func (t *DataType) appendSequence(b []byte, v Value) []byte {
	if t.size == 0 {
		b = binary.AppendUvarint(b, uint64(len(v.list)))
	} else if len(v.list) != t.size {
		panic("property: AppendTo of a list that does not fit its type")
	}
	for _, e := range v.list {
		b = t.elem.AppendTo(b, e)
	}
	return b
}

func (t *DataType) appendDict(b []byte, v Value) []byte {
	if t.allowNone {
		if v.IsNone() {
			return append(b, 0)
		}
		b = append(b, 1)
	}
	if len(v.list) != len(t.fields) {
		panic("property: AppendTo of a FIXED_DICT that does not fit its type")
	}
	for i := range t.fields {
		b = t.fields[i].Type.AppendTo(b, v.list[i])
	}
	return b
}

// Read takes one value off the front of b. The value fits the type and shares no memory with b. Errors are ErrTruncated,
// ErrLength and ErrValue. It allocates at most in proportion to len(b).
func (t *DataType) Read(b []byte) (v Value, rest []byte, err error) {
	if len(b) < t.minWire {
		return Value{}, b, ErrTruncated
	}
	switch t.kind {
	case KindString, KindUnicodeString, KindBlob:
		return t.readString(b)
	case KindMailbox:
		m, rest, err := readMailbox(b)
		if err != nil {
			return Value{}, b, err
		}
		return MailboxValue(m), rest, nil
	case KindArray, KindTuple:
		return t.readSequence(b)
	case KindFixedDict:
		return t.readDict(b)
	}
	v, err = t.readFixed(b)
	return v, b[t.minWire:], err
}

// readFixed reads a scalar of fixed size; the caller has checked that b holds it.
func (t *DataType) readFixed(b []byte) (Value, error) {
	switch t.kind {
	case KindInt8:
		return Int(int64(int8(b[0]))), nil
	case KindInt16:
		return Int(int64(int16(binary.LittleEndian.Uint16(b)))), nil
	case KindInt32:
		return Int(int64(int32(binary.LittleEndian.Uint32(b)))), nil
	case KindInt64:
		return Int(int64(binary.LittleEndian.Uint64(b))), nil
	case KindUint8:
		return Uint(uint64(b[0])), nil
	case KindUint16:
		return Uint(uint64(binary.LittleEndian.Uint16(b))), nil
	case KindUint32:
		return Uint(uint64(binary.LittleEndian.Uint32(b))), nil
	case KindUint64:
		return Uint(binary.LittleEndian.Uint64(b)), nil
	case KindEntityID:
		n := binary.LittleEndian.Uint64(b)
		if n > MaxEntityID {
			return Value{}, fmt.Errorf("%w: entity id %d is above 53 bits", ErrValue, n)
		}
		return Uint(n), nil
	case KindFloat32:
		return Float(float64(readFloat(b))), nil
	case KindFloat64:
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(b))), nil
	case KindBool:
		if b[0] > 1 {
			return Value{}, fmt.Errorf("%w: %d is not a BOOL", ErrValue, b[0])
		}
		return BoolValue(b[0] == 1), nil
	case KindVec2:
		return Vec2(Vector2{readFloat(b), readFloat(b[4:])}), nil
	case KindVec3:
		return Vec3(Vector3{readFloat(b), readFloat(b[4:]), readFloat(b[8:])}), nil
	default: // KindVec4
		return Vec4(Vector4{readFloat(b), readFloat(b[4:]), readFloat(b[8:]), readFloat(b[12:])}), nil
	}
}

func readFloat(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func (t *DataType) readString(b []byte) (Value, []byte, error) {
	n, rest, err := readCount(b, MaxString, 1)
	if err != nil {
		return Value{}, b, err
	}
	v := Bytes(rest[:n])
	if err := t.checkString(v); err != nil {
		return Value{}, b, err
	}
	return v, rest[n:], nil
}

func (t *DataType) readSequence(b []byte) (Value, []byte, error) {
	n, rest := t.size, b
	if n == 0 {
		var err error
		if n, rest, err = readCount(b, MaxList, t.elem.minWire); err != nil {
			return Value{}, b, err
		}
	}
	if n == 0 {
		return Value{kind: isList}, rest, nil
	}
	list := make([]Value, n)
	for i := range list {
		var err error
		if list[i], rest, err = t.elem.Read(rest); err != nil {
			return Value{}, b, err
		}
	}
	return Value{kind: isList, list: list}, rest, nil
}

func (t *DataType) readDict(b []byte) (Value, []byte, error) {
	rest := b
	if t.allowNone {
		if b[0] > 1 {
			return Value{}, b, fmt.Errorf("%w: presence byte %d", ErrValue, b[0])
		}
		rest = b[1:]
		if b[0] == 0 {
			return Value{}, rest, nil
		}
	}
	list := make([]Value, len(t.fields))
	for i := range list {
		var err error
		if list[i], rest, err = t.fields[i].Type.Read(rest); err != nil {
			return Value{}, b, err
		}
	}
	return Value{kind: isList, list: list}, rest, nil
}

// readCount reads a uvarint in its shortest form, checks it against a limit, and that the rest can hold that many of
// at least each bytes, before anyone allocates by it.
func readCount(b []byte, limit, each int) (n int, rest []byte, err error) {
	u, rest, err := readUvarint(b)
	if err != nil {
		return 0, b, err
	}
	if u > uint64(limit) {
		return 0, b, fmt.Errorf("%w: %d is above %d", ErrLength, u, limit)
	}
	if u*uint64(each) > uint64(len(rest)) {
		return 0, b, ErrTruncated
	}
	return int(u), rest, nil
}

// readUvarint reads a uvarint in its shortest form: one value has one encoding.
func readUvarint(b []byte) (u uint64, rest []byte, err error) {
	u, n := binary.Uvarint(b)
	switch {
	case n == 0:
		return 0, b, ErrTruncated
	case n < 0 || n > 1 && b[n-1] == 0:
		return 0, b, fmt.Errorf("%w: uvarint", ErrLength)
	}
	return u, b[n:], nil
}
