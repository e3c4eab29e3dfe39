package property

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// variant says which constructor made a Value.
type variant uint8

const (
	isNone variant = iota
	isInt
	isUint
	isFloat
	isFloat32 // as FLOAT32 keeps it; lo is the bits of a float32
	isBool
	isString // strings and blobs alike
	isAny    // MessagePack
	isUser   // a *userValue
	isVec2
	isVec3
	isVec4
	isList
	isMailbox
)

// Value is the value of a property, an argument, an element or a field: an immutable tree. It is a
// plain struct of 32 bytes: storing a number allocates nothing. Copies share what they refer to,
// and nothing may change that. So an assignment is a deep copy, and an old value stays what it was.
// The zero Value is None, the absent FIXED_DICT.
//
// Compare with [Equal]; == would compare where a string lies, and does not compile. An accessor of
// another kind than the value's returns zero.
type Value struct {
	_ [0]func() // no ==
	// Handles read a string from ref and lo, and all else from lo and hi, where they lie as Go has
	// them: see [Field.Get].
	ref unsafe.Pointer // bytes of a string, elements of a list, a *userValue
	// lo and hi hold a number, or the parts of a vector, two to a word. For what ref refers to, lo
	// is its length.
	lo, hi uint64
	kind   variant
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
func StringValue(s string) Value { return stringOf(isString, s) }

// Bytes returns a blob that holds a copy of p.
func Bytes(p []byte) Value { return StringValue(string(p)) }

func stringOf(k variant, s string) Value {
	return Value{kind: k, lo: uint64(len(s)), ref: unsafe.Pointer(unsafe.StringData(s))}
}

// Vec2 returns a vector.
func Vec2(v Vector2) Value { return Value{kind: isVec2, lo: pair(v.X, v.Y)} }

// Vec3 returns a vector.
func Vec3(v Vector3) Value { return Value{kind: isVec3, lo: pair(v.X, v.Y), hi: pair(v.Z, 0)} }

// Vec4 returns a vector.
func Vec4(v Vector4) Value { return Value{kind: isVec4, lo: pair(v.X, v.Y), hi: pair(v.Z, v.W)} }

// List returns the elements of an ARRAY or TUPLE, the fields of a FIXED_DICT in the order of its
// type, or the keys and values of a MAP in turn. It keeps the slice: do not change it afterwards.
func List(elements ...Value) Value {
	return Value{kind: isList, lo: uint64(len(elements)), ref: unsafe.Pointer(unsafe.SliceData(elements))}
}

// MailboxValue returns a mailbox.
func MailboxValue(m Mailbox) Value {
	at := m.packAddress()
	return Value{kind: isMailbox, lo: m.Entity, hi: uint64(len(at))<<32 | uint64(m.Type)<<8 | uint64(m.Kind),
		ref: unsafe.Pointer(unsafe.StringData(at))}
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
	switch v.kind {
	case isFloat:
		return math.Float64frombits(v.lo)
	case isFloat32:
		return float64(low(v.lo))
	}
	return 0
}

func float32Value(f float32) Value { return Value{kind: isFloat32, lo: uint64(float32bits(f))} }

// Bool returns a truth value.
func (v Value) Bool() bool { return v.kind == isBool && v.lo != 0 }

// Str returns a string, or the bytes of a blob, without copying.
func (v Value) Str() string {
	if v.kind == isString {
		return v.text()
	}
	return ""
}

// text returns the bytes of a string, a blob or an ANY.
func (v *Value) text() string { return unsafe.String((*byte)(v.ref), int(v.lo)) }

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
	if at := v.address(); at != "" {
		var zone string
		m.At, m.Salt, zone, _ = cutAddress(at) // written by packAddress: cannot fail
		if zone != "" {
			m.At = netip.AddrPortFrom(m.At.Addr().WithZone(zone), m.At.Port())
		}
	}
	return m
}

// address returns the packed address of a mailbox.
func (v *Value) address() string { return unsafe.String((*byte)(v.ref), int(v.hi>>32)) }

// Len returns the number of elements of a list; of a MAP, keys and values together.
func (v Value) Len() int { return len(v.list()) }

// At returns element i of a list, 0 ≤ i < Len.
func (v Value) At(i int) Value { return v.list()[i] }

// list returns the elements, which nobody may change.
func (v *Value) list() []Value {
	if v.kind != isList {
		return nil
	}
	return unsafe.Slice((*Value)(v.ref), int(v.lo))
}

// Equal reports whether a and b are the same value, elements of lists included. Numbers of the same
// amount are equal, signed or unsigned, of single or double precision; all NaNs are equal; 0 and -0
// are not, since a client can tell them apart.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		whole := (a.kind == isInt || a.kind == isUint) && (b.kind == isInt || b.kind == isUint)
		return whole && a.lo == b.lo && int64(a.lo) >= 0 ||
			a.isFloating() && b.isFloating() && Float(a.Float()).lo == Float(b.Float()).lo
	}
	if a.kind == isUser {
		return a.ref == b.ref || a.user().wire == b.user().wire
	}
	if a.lo != b.lo || a.hi != b.hi {
		return false
	}
	if a.ref == b.ref {
		return true // what is shared cannot differ
	}
	switch a.kind {
	case isString, isAny:
		return a.text() == b.text()
	case isMailbox:
		return a.address() == b.address()
	case isList:
		return slices.EqualFunc(a.list(), b.list(), Equal)
	}
	return true
}

func (v *Value) isFloating() bool { return v.kind == isFloat || v.kind == isFloat32 }

// String writes v for logs and for digests: the same value gives the same text.
func (v Value) String() string {
	switch v.kind {
	case isInt:
		return strconv.FormatInt(int64(v.lo), 10)
	case isUint:
		return strconv.FormatUint(v.lo, 10)
	case isFloat, isFloat32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case isBool:
		return strconv.FormatBool(v.Bool())
	case isString:
		return strconv.Quote(v.text())
	case isAny:
		return anyText(v.text())
	case isUser:
		return fmt.Sprintf("user(%x)", v.user().wire)
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
		for i, e := range v.list() {
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
