package property

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// variant says which constructor made a Value.
type variant uint8

const (
	isNone variant = iota
	isInt
	isUint
	isFloat
	isBool
	isString // strings and blobs alike
	isVec2
	isVec3
	isVec4
	isList
	isMailbox
)

// Value is the value of a property, an argument, an element or a field. It is a plain struct of 64 bytes: no interface, so
// that storing a number allocates nothing. Copies are cheap and share lists and strings, which nobody may change. The zero
// Value is None, the absent FIXED_DICT.
//
// Compare with [Equal]. An accessor of another kind than the value's returns zero.
type Value struct {
	kind   variant
	lo, hi uint64 // number, or vector parts, two to a word
	str    string
	list   []Value
}

// Int returns a signed number.
func Int(n int64) Value { return Value{kind: isInt, lo: uint64(n)} }

// Uint returns an unsigned number, or an entity id.
func Uint(n uint64) Value { return Value{kind: isUint, lo: n} }

// Float returns a floating-point number. All NaNs become one.
func Float(f float64) Value {
	if f != f {
		f = math.NaN() // a NaN's payload may change between machines, and two copies would then differ for ever
	}
	return Value{kind: isFloat, lo: math.Float64bits(f)}
}

// BoolValue returns a truth value. (Bool is the handle.)
func BoolValue(b bool) Value {
	if b {
		return Value{kind: isBool, lo: 1}
	}
	return Value{kind: isBool}
}

// StringValue returns a string. (String is the handle.)
func StringValue(s string) Value { return Value{kind: isString, str: s} }

// Bytes returns a blob that holds a copy of p.
func Bytes(p []byte) Value { return Value{kind: isString, str: string(p)} }

// Vec2 returns a vector.
func Vec2(v Vector2) Value { return Value{kind: isVec2, lo: pair(v.X, v.Y)} }

// Vec3 returns a vector.
func Vec3(v Vector3) Value { return Value{kind: isVec3, lo: pair(v.X, v.Y), hi: pair(v.Z, 0)} }

// Vec4 returns a vector.
func Vec4(v Vector4) Value { return Value{kind: isVec4, lo: pair(v.X, v.Y), hi: pair(v.Z, v.W)} }

// List returns the elements of an ARRAY or TUPLE, or the fields of a FIXED_DICT in the order of its type. It keeps the
// slice: do not change it afterwards.
func List(elements ...Value) Value { return Value{kind: isList, list: elements} }

// MailboxValue returns a mailbox.
func MailboxValue(m Mailbox) Value {
	return Value{kind: isMailbox, lo: m.Entity, hi: uint64(m.Type)<<8 | uint64(m.Kind), str: m.packAddress()}
}

// IsNone reports whether v is the absent value.
func (v Value) IsNone() bool { return v.kind == isNone }

// Int returns a number; one above the range of int64 wraps.
func (v Value) Int() int64 { return int64(v.Uint()) }

// Uint returns a number; a negative one wraps.
func (v Value) Uint() uint64 {
	if v.kind == isInt || v.kind == isUint {
		return v.lo
	}
	return 0
}

// Float returns a floating-point number.
func (v Value) Float() float64 {
	if v.kind == isFloat {
		return math.Float64frombits(v.lo)
	}
	return 0
}

// Bool returns a truth value.
func (v Value) Bool() bool { return v.kind == isBool && v.lo != 0 }

// Str returns a string, or the bytes of a blob, without copying.
func (v Value) Str() string {
	if v.kind == isString {
		return v.str
	}
	return ""
}

// Bytes returns a copy of a blob.
func (v Value) Bytes() []byte { return []byte(v.Str()) }

// Vec2 returns a vector.
func (v Value) Vec2() Vector2 {
	if v.kind != isVec2 {
		return Vector2{}
	}
	return Vector2{low(v.lo), high(v.lo)}
}

// Vec3 returns a vector.
func (v Value) Vec3() Vector3 {
	if v.kind != isVec3 {
		return Vector3{}
	}
	return Vector3{low(v.lo), high(v.lo), low(v.hi)}
}

// Vec4 returns a vector.
func (v Value) Vec4() Vector4 {
	if v.kind != isVec4 {
		return Vector4{}
	}
	return Vector4{low(v.lo), high(v.lo), low(v.hi), high(v.hi)}
}

// Mailbox returns a mailbox.
func (v Value) Mailbox() Mailbox {
	if v.kind != isMailbox {
		return Mailbox{}
	}
	m := Mailbox{Entity: v.lo, Type: uint16(v.hi >> 8), Kind: uint8(v.hi)}
	if v.str != "" {
		m.At, m.Salt, _, _ = cutAddress(v.str) // written by packAddress: cannot fail
	}
	return m
}

// Len returns the number of elements of a list.
func (v Value) Len() int { return len(v.list) }

// At returns element i of a list, 0 ≤ i < Len.
func (v Value) At(i int) Value { return v.list[i] }

// Equal reports whether a and b are the same value, elements of lists included. Signed and unsigned numbers of the same
// amount are equal; all NaNs are equal; 0 and -0 are not, since a client can tell them apart.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		whole := (a.kind == isInt || a.kind == isUint) && (b.kind == isInt || b.kind == isUint)
		return whole && a.lo == b.lo && int64(a.lo) >= 0
	}
	return a.lo == b.lo && a.hi == b.hi && a.str == b.str && slices.EqualFunc(a.list, b.list, Equal)
}

// String writes v for logs and for digests: the same value gives the same text.
func (v Value) String() string {
	switch v.kind {
	case isInt:
		return strconv.FormatInt(int64(v.lo), 10)
	case isUint:
		return strconv.FormatUint(v.lo, 10)
	case isFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case isBool:
		return strconv.FormatBool(v.Bool())
	case isString:
		return strconv.Quote(v.str)
	case isVec2:
		w := v.Vec2()
		return floats(w.X, w.Y)
	case isVec3:
		w := v.Vec3()
		return floats(w.X, w.Y, w.Z)
	case isVec4:
		w := v.Vec4()
		return floats(w.X, w.Y, w.Z, w.W)
	case isMailbox:
		m := v.Mailbox()
		return fmt.Sprintf("mailbox(%d %d %d %v %d)", m.Entity, m.Type, m.Kind, m.At, m.Salt)
	case isList:
		var b strings.Builder
		b.WriteByte('[')
		for i, e := range v.list {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(e.String())
		}
		b.WriteByte(']')
		return b.String()
	}
	return "none"
}

func floats(fs ...float32) string {
	b := []byte{'('}
	for i, f := range fs {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendFloat(b, float64(f), 'g', -1, 32)
	}
	return string(append(b, ')'))
}

// pair packs two floats into a word, NaNs made one.
func pair(a, b float32) uint64 { return uint64(float32bits(a)) | uint64(float32bits(b))<<32 }

func low(w uint64) float32  { return math.Float32frombits(uint32(w)) }
func high(w uint64) float32 { return math.Float32frombits(uint32(w >> 32)) }

func float32bits(f float32) uint32 {
	if f != f {
		return 0x7fc00000
	}
	return math.Float32bits(f)
}
