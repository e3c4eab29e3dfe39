package property

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// UserCodec makes a data type of a Go type T: the USER_TYPE of a .def file. Its methods are called
// on any goroutine that uses the type, and must not panic.
type UserCodec[T any] interface {
	// Default returns the value of a property for which nothing else is stated.
	Default() T
	// Append appends x as it travels. Equal values must give equal bytes: they are how two values
	// are compared.
	Append(b []byte, x T) ([]byte, error)
	// Read takes a value off the front of b, which may be any bytes and must not be kept.
	Read(b []byte) (x T, rest []byte, err error)

	// StoreType is what the store keeps in place of T: the fields of a FIXED_DICT become columns,
	// an ARRAY a table of its own. A default in a .def file has this form, too.
	StoreType() *DataType
	ToStore(x T) (Value, error)
	FromStore(v Value) (T, error)
}

// userValue is a value of a user type: its Go value, and the bytes that say what it is. Nothing of
// it changes.
type userValue struct {
	x    any
	wire string
	of   userOps // whose codec wrote wire
}

// user returns what a Value of a user type refers to.
func (v *Value) user() *userValue { return (*userValue)(v.ref) }

// userOps is a UserCodec as a DataType sees it.
type userOps interface {
	typeName() string
	goType() reflect.Type
	storeType() *DataType
	fit(v Value) (Value, error)
	read(wire []byte) (Value, error)
	toStore(v Value) (Value, error)
	fromStore(v Value) (Value, error)
}

// NewUserType returns the USER_TYPE that a codec describes; name is what definitions call it, and
// part of the digests. The error says what is wrong with the codec's default or StoreType.
//
// Values hold a T and share it: whoever reads one must not change what it refers to.
func NewUserType[T any](name string, c UserCodec[T]) (*DataType, error) {
	if c == nil || c.StoreType() == nil {
		return nil, fmt.Errorf("USER_TYPE %s: the codec has no StoreType", name)
	}
	u := &userType[T]{name, c}
	def, err := u.value(c.Default())
	if err == nil {
		_, err = u.toStore(def)
	}
	if err != nil {
		return nil, fmt.Errorf("USER_TYPE %s: default: %w", name, err)
	}
	t := newDataType(KindUser, 1, 1)
	t.user, t.def = u, def
	return t, nil
}

// UserName returns the name of a USER_TYPE, else "".
func (t *DataType) UserName() string {
	if t.user == nil {
		return ""
	}
	return t.user.typeName()
}

// StoreType returns what the store keeps for a USER_TYPE, else t.
func (t *DataType) StoreType() *DataType {
	if t.user == nil {
		return t
	}
	return t.user.storeType()
}

// UserValue returns x as a value of the USER_TYPE t. Errors are ErrValue, if t is not the type of
// T, ErrLength, and those of the codec.
func UserValue[T any](t *DataType, x T) (Value, error) {
	u, ok := t.user.(*userType[T])
	if !ok {
		return Value{}, fmt.Errorf("%w: %T for %v", ErrValue, x, t)
	}
	return u.value(x)
}

// UserOf returns the Go value of a USER_TYPE's value; ok is false if it is of another type.
func UserOf[T any](v Value) (x T, ok bool) {
	if v.kind != isUser {
		return x, false
	}
	x, ok = v.user().x.(T)
	return x, ok
}

type userType[T any] struct {
	name  string
	codec UserCodec[T]
}

func (u *userType[T]) typeName() string     { return u.name }
func (u *userType[T]) goType() reflect.Type { return reflect.TypeFor[T]() }
func (u *userType[T]) storeType() *DataType { return u.codec.StoreType() }

func (u *userType[T]) value(x T) (Value, error) {
	wire, err := u.codec.Append(nil, x)
	if err != nil {
		return Value{}, fmt.Errorf("%w: USER_TYPE %s: %w", ErrValue, u.name, err)
	}
	if len(wire) > MaxUser {
		return Value{}, fmt.Errorf("%w: USER_TYPE %s of %d bytes is longer than %d", ErrLength, u.name, len(wire), MaxUser)
	}
	return u.of(x, string(wire)), nil
}

func (u *userType[T]) of(x T, wire string) Value {
	return Value{kind: isUser, ref: unsafe.Pointer(&userValue{x, wire, u})}
}

// fit takes a value of another user type of the same Go type, too, and writes it as this one does.
// This codec need not be able to read the other's bytes, and a real that kept them could never be
// mirrored.
func (u *userType[T]) fit(v Value) (Value, error) {
	if v.kind == isUser {
		w := v.user()
		if w.of == userOps(u) {
			return v, nil
		}
		if x, ok := w.x.(T); ok {
			return u.value(x)
		}
	}
	return v, fmt.Errorf("%w: %v is not a USER_TYPE %s", ErrValue, shorten(v.String()), u.name)
}

func (u *userType[T]) read(wire []byte) (Value, error) {
	x, rest, err := u.codec.Read(wire)
	switch {
	case err != nil && (errors.Is(err, ErrTruncated) || errors.Is(err, ErrLength)):
		return Value{}, err
	case err != nil:
		return Value{}, fmt.Errorf("%w: USER_TYPE %s: %w", ErrValue, u.name, err)
	case len(rest) > 0:
		return Value{}, fmt.Errorf("%w: USER_TYPE %s: %d", ErrTrailing, u.name, len(rest))
	}
	return u.of(x, string(wire)), nil
}

func (u *userType[T]) toStore(v Value) (Value, error) {
	v, err := u.fit(v)
	if err != nil {
		return Value{}, err
	}
	s, err := u.codec.ToStore(v.user().x.(T))
	if err == nil {
		s, err = u.codec.StoreType().Fit(s)
	}
	if err != nil {
		return Value{}, fmt.Errorf("%w: USER_TYPE %s to the store: %w", ErrValue, u.name, err)
	}
	return s, nil
}

func (u *userType[T]) fromStore(v Value) (Value, error) {
	x, err := u.codec.FromStore(v)
	if err != nil {
		return Value{}, fmt.Errorf("%w: USER_TYPE %s from the store: %w", ErrValue, u.name, err)
	}
	return u.value(x)
}
