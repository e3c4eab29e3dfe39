package property

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendTo appends v as it travels. v must fit the type: it came from [DataType.Fit], [DataType.Read] or a Values. A value
// that does not fit is a bug of the caller, and panics.
func (t *DataType) AppendTo(b []byte, v Value) []byte { return t.append(b, &v) }

func (t *DataType) append(b []byte, v *Value) []byte {
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
		if v.kind == isFloat {
			return binary.LittleEndian.AppendUint32(b, float32bits(float32(v.Float())))
		}
		return binary.LittleEndian.AppendUint32(b, uint32(v.lo))
	case KindString, KindUnicodeString, KindBlob, KindAny:
		return append(binary.AppendUvarint(b, v.lo), v.text()...)
	case KindVec3:
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, v.lo), uint32(v.hi))
	case KindVec4:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, v.lo), v.hi)
	case KindMailbox:
		return appendMailbox(b, v.Mailbox())
	case KindUser:
		wire := v.user().wire
		return append(binary.AppendUvarint(b, uint64(len(wire))), wire...)
	case KindArray, KindTuple, KindMap:
		return t.appendSequence(b, v)
	default:
		return t.appendDict(b, v)
	}
}

func (t *DataType) appendSequence(b []byte, v *Value) []byte {
	list := v.list()
	switch {
	case t.kind == KindMap:
		b = binary.AppendUvarint(b, uint64(len(list)/2))
	case t.size == 0:
		b = binary.AppendUvarint(b, uint64(len(list)))
	case len(list) != t.size:
		panic("property: AppendTo of a list that does not fit its type")
	}
	for i := range list {
		b = t.child(i).append(b, &list[i])
	}
	return b
}

func (t *DataType) appendDict(b []byte, v *Value) []byte {
	if t.allowNone {
		if v.kind == isNone {
			return append(b, 0)
		}
		b = append(b, 1)
	}
	list := v.list()
	if len(list) != len(t.fields) {
		panic("property: AppendTo of a FIXED_DICT that does not fit its type")
	}
	for i := range t.fields {
		b = t.fields[i].Type.append(b, &list[i])
	}
	return b
}

// Read takes one value off the front of b. The value fits the type and shares no memory with b. Errors are ErrTruncated,
// ErrTrailing for a user type whose codec leaves bytes, ErrLength and ErrValue. It allocates at most in proportion to
// len(b).
func (t *DataType) Read(b []byte) (v Value, rest []byte, err error) {
	if rest, err = t.read(&v, b); err != nil {
		return Value{}, b, err
	}
	return v, rest, nil
}

// read is Read into the caller's Value, which must be None. After an error v and rest mean nothing.
func (t *DataType) read(v *Value, b []byte) (rest []byte, err error) {
	if len(b) < t.minWire {
		return nil, ErrTruncated
	}
	switch t.kind {
	case KindInt8:
		v.kind, v.lo = isInt, uint64(int8(b[0]))
	case KindInt16:
		v.kind, v.lo = isInt, uint64(int16(binary.LittleEndian.Uint16(b)))
	case KindInt32:
		v.kind, v.lo = isInt, uint64(int32(binary.LittleEndian.Uint32(b)))
	case KindInt64:
		v.kind, v.lo = isInt, binary.LittleEndian.Uint64(b)
	case KindUint8:
		v.kind, v.lo = isUint, uint64(b[0])
	case KindUint16:
		v.kind, v.lo = isUint, uint64(binary.LittleEndian.Uint16(b))
	case KindUint32:
		v.kind, v.lo = isUint, uint64(binary.LittleEndian.Uint32(b))
	case KindUint64:
		v.kind, v.lo = isUint, binary.LittleEndian.Uint64(b)
	case KindFloat32:
		v.kind, v.lo = isFloat32, uint64(float32bits(readFloat(b)))
	case KindFloat64:
		*v = Float(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case KindVec2:
		*v = Vec2(Vector2{readFloat(b), readFloat(b[4:])})
	case KindVec3:
		*v = Vec3(Vector3{readFloat(b), readFloat(b[4:]), readFloat(b[8:])})
	case KindVec4:
		*v = Vec4(Vector4{readFloat(b), readFloat(b[4:]), readFloat(b[8:]), readFloat(b[12:])})
	default:
		return t.readChecked(v, b)
	}
	return b[t.minWire:], nil
}

// readChecked reads what not all bytes stand for.
func (t *DataType) readChecked(v *Value, b []byte) (rest []byte, err error) {
	switch t.kind {
	case KindEntityID:
		n := binary.LittleEndian.Uint64(b)
		if n > MaxEntityID {
			return nil, fmt.Errorf("%w: entity id %d is above 53 bits", ErrValue, n)
		}
		*v = Uint(n)
		return b[8:], nil
	case KindBool:
		if b[0] > 1 {
			return nil, fmt.Errorf("%w: %d is not a BOOL", ErrValue, b[0])
		}
		*v = BoolValue(b[0] == 1)
		return b[1:], nil
	case KindString, KindUnicodeString, KindBlob:
		return t.readString(v, b)
	case KindMailbox:
		m, rest, err := readMailbox(b)
		*v = MailboxValue(m)
		return rest, err
	case KindAny:
		return readAny(v, b)
	case KindUser:
		n, rest, err := readCount(b, MaxUser, 1)
		if err != nil {
			return nil, err
		}
		*v, err = t.user.read(rest[:n:n])
		return rest[n:], err
	case KindMap:
		return t.readMap(v, b)
	case KindArray, KindTuple:
		return t.readSequence(v, b)
	}
	return t.readDict(v, b)
}

func readFloat(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func (t *DataType) readString(v *Value, b []byte) ([]byte, error) {
	n, rest, err := readCount(b, MaxString, 1)
	if err != nil {
		return nil, err
	}
	*v = Bytes(rest[:n])
	return rest[n:], t.checkString(*v)
}

// readAny checks the MessagePack once, here, so that whoever decodes it later need not fear it.
func readAny(v *Value, b []byte) ([]byte, error) {
	n, rest, err := readCount(b, MaxAny, 1)
	if err != nil {
		return nil, err
	}
	if err := checkAny(rest[:n]); err != nil {
		return nil, err
	}
	*v = stringOf(isAny, string(rest[:n]))
	return rest[n:], nil
}

func (t *DataType) readSequence(v *Value, b []byte) (rest []byte, err error) {
	n, rest := t.size, b
	if n == 0 {
		if n, rest, err = readCount(b, MaxList, t.elem.minWire); err != nil {
			return nil, err
		}
	}
	return t.readList(v, n, rest)
}

func (t *DataType) readMap(v *Value, b []byte) (rest []byte, err error) {
	n, rest, err := readCount(b, MaxList, t.key.minWire+t.elem.minWire)
	if err != nil {
		return nil, err
	}
	if rest, err = t.readList(v, 2*n, rest); err == nil && !sorted(v.list()) {
		err = fmt.Errorf("%w: keys of a MAP do not ascend", ErrValue)
	}
	return rest, err
}

func (t *DataType) readDict(v *Value, b []byte) ([]byte, error) {
	if t.allowNone {
		if b[0] > 1 {
			return nil, fmt.Errorf("%w: presence byte %d", ErrValue, b[0])
		}
		present := b[0] == 1
		if b = b[1:]; !present {
			return b, nil
		}
	}
	return t.readList(v, len(t.fields), b)
}

// readList reads n elements; the caller has checked that b can hold so many.
func (t *DataType) readList(v *Value, n int, b []byte) (rest []byte, err error) {
	list := make([]Value, n)
	if t.kind != KindMap && t.elem != nil && t.elem.kind == KindFixedDict && !t.elem.allowNone {
		return t.readDicts(v, list, b)
	}
	for i := range list {
		if b, err = t.child(i).read(&list[i], b); err != nil {
			return nil, err
		}
	}
	*v = List(list...)
	return b, nil
}

// readDicts reads a list of records, whose fields lie in one piece of memory.
func (t *DataType) readDicts(v *Value, list []Value, b []byte) (rest []byte, err error) {
	width := len(t.elem.fields)
	fields := make([]Value, len(list)*width)
	for i := range list {
		row := fields[i*width : (i+1)*width : (i+1)*width]
		for k := range row {
			if b, err = t.elem.fields[k].Type.read(&row[k], b); err != nil {
				return nil, err
			}
		}
		list[i] = List(row...)
	}
	*v = List(list...)
	return b, nil
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
