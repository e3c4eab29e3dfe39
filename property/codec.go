package property

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendTo appends v as it travels. v must fit the type: it came from [DataType.Fit],
// [DataType.Read] or a Values. A value that does not fit is a bug of the caller, and panics.
func (t *DataType) AppendTo(b []byte, v Value) []byte { return t.append(b, &v) }

// append writes numbers and vectors itself, for speed.
func (t *DataType) append(b []byte, v *Value) []byte {
	switch t.width {
	case noWidth:
		return t.appendForm(b, v)
	case width1:
		return append(b, byte(v.lo))
	case width2:
		return binary.LittleEndian.AppendUint16(b, uint16(v.lo))
	case width4:
		return binary.LittleEndian.AppendUint32(b, uint32(v.lo))
	case widthFloat32:
		if v.kind == isFloat {
			return binary.LittleEndian.AppendUint32(b, float32bits(float32(v.Float())))
		}
		return binary.LittleEndian.AppendUint32(b, uint32(v.lo))
	case width8:
		return binary.LittleEndian.AppendUint64(b, v.lo)
	case width12:
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, v.lo), uint32(v.hi))
	default:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, v.lo), v.hi)
	}
}

// appendForm calls the forms of this package by name, so that neither b nor v escapes to the heap.
func (t *DataType) appendForm(b []byte, v *Value) []byte {
	switch f := t.wire.(type) {
	case text:
		return f.append(t, b, v)
	case fixedDict:
		return f.append(t, b, v)
	case sequence:
		return f.append(t, b, v)
	case mapping:
		return f.append(t, b, v)
	case blob:
		return f.append(t, b, v)
	case free:
		return f.append(t, b, v)
	case userForm:
		return f.append(t, b, v)
	case mailbox:
		return f.append(t, b, v)
	}
	w := *v
	return append(b, t.wire.append(t, nil, &w)...)
}

// Read takes one value off the front of b. The value fits the type and shares no memory with b.
// Errors are ErrTruncated, ErrTrailing for a user type whose codec leaves bytes, ErrLength and
// ErrValue. It allocates at most in proportion to len(b).
func (t *DataType) Read(b []byte) (v Value, rest []byte, err error) {
	if rest, err = t.read(&v, b); err != nil {
		return Value{}, b, err
	}
	return v, rest, nil
}

// read is Read into the caller's Value, which must be None. After an error v and rest mean nothing.
// It reads numbers and vectors itself, for speed.
func (t *DataType) read(v *Value, b []byte) (rest []byte, err error) {
	if len(b) < t.minWire {
		return nil, ErrTruncated
	}
	switch t.width {
	case noWidth:
		return t.readForm(v, b)
	case width1:
		v.lo = uint64(b[0])
	case width2:
		v.lo = uint64(binary.LittleEndian.Uint16(b))
	case width4, widthFloat32:
		v.lo = uint64(binary.LittleEndian.Uint32(b))
	case width16:
		v.hi = binary.LittleEndian.Uint64(b[8:])
		v.lo = binary.LittleEndian.Uint64(b)
	case width12:
		v.hi = uint64(binary.LittleEndian.Uint32(b[8:]))
		fallthrough
	case width8:
		v.lo = binary.LittleEndian.Uint64(b)
	}
	v.kind = t.holds
	switch v.kind {
	case isInt:
		shift := 64 - t.bits()
		v.lo = uint64(int64(v.lo<<shift) >> shift)
	case isFloat:
		*v = Float(math.Float64frombits(v.lo))
	case isFloat32:
		v.lo = uint64(float32bits(low(v.lo)))
	case isVec2, isVec3, isVec4:
		v.lo, v.hi = pair(low(v.lo), high(v.lo)), pair(low(v.hi), high(v.hi))
	case isUint:
		if t.kind == KindEntityID && v.lo > MaxEntityID {
			return nil, fmt.Errorf("%w: entity id %d is above 53 bits", ErrValue, v.lo)
		}
	case isBool:
		if v.lo > 1 {
			return nil, fmt.Errorf("%w: %d is not a BOOL", ErrValue, v.lo)
		}
	}
	return b[t.minWire:], nil
}

// readForm calls the forms of this package by name, as append does.
func (t *DataType) readForm(v *Value, b []byte) (rest []byte, err error) {
	switch f := t.wire.(type) {
	case text:
		return f.read(t, v, b)
	case fixedDict:
		return f.read(t, v, b)
	case sequence:
		return f.read(t, v, b)
	case mapping:
		return f.read(t, v, b)
	case blob:
		return f.read(t, v, b)
	case free:
		return f.read(t, v, b)
	case userForm:
		return f.read(t, v, b)
	case mailbox:
		return f.read(t, v, b)
	}
	var w Value
	rest, err = t.wire.read(t, &w, b)
	*v = w
	return rest, err
}

// readCount reads a uvarint in its shortest form, checks it against a limit, and that the rest can
// hold that many elements of at least each bytes. Only then may a caller allocate by it.
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
