package mpack

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"
)

// Canon returns the one form of the value that is the whole of b. Errors are ErrTruncated,
// ErrTrailing, ErrLength and ErrValue.
func Canon(b []byte) (string, error) {
	if len(b) > MaxFree {
		return "", fmt.Errorf("%w: ANY of %d bytes is longer than %d", ErrLength, len(b), MaxFree)
	}
	n, err := ScanFree(b)
	if err != nil {
		return "", err
	}
	if n < len(b) {
		return "", ErrTrailing
	}
	x, err := Decode(b)
	if err != nil {
		return "", err
	}
	return Encode(x)
}

// anyEncoder writes one free value.
type anyEncoder struct {
	*Writer
	items int
}

// Encode writes a free value in its one form. Errors are ErrValue for a type or a string that is
// refused, ErrLength beyond a bound.
func Encode(x any) (string, error) {
	e := anyEncoder{Writer: NewWriter(nil)}
	if err := e.value(x, 0); err != nil {
		return "", err
	}
	return string(e.B), nil
}

// room refuses to go on once the value is too long, before more is written: a list that holds
// itself twice would double at every level.
func (e *anyEncoder) room(bytes int) error {
	if len(e.B)+bytes > MaxFree {
		return fmt.Errorf("%w: ANY is longer than %d bytes", ErrLength, MaxFree)
	}
	return nil
}

func (e *anyEncoder) value(x any, depth int) error {
	if e.items++; e.items > MaxFreeItems {
		return fmt.Errorf("%w: ANY has more than %d items", ErrLength, MaxFreeItems)
	}
	switch x := x.(type) {
	case nil:
		_ = e.Enc.EncodeNil()
	case bool:
		_ = e.Enc.EncodeBool(x)
	case string:
		if err := e.text(x); err != nil {
			return err
		}
	case []byte:
		if err := e.room(len(x)); err != nil {
			return err
		}
		e.Bin(string(x))
	case []any:
		return e.list(x, depth+1)
	case map[string]any:
		return encodeMap(e, x, depth+1)
	case map[int64]any:
		return encodeMap(e, x, depth+1)
	default:
		if !e.number(x) {
			return fmt.Errorf("%w: an ANY cannot hold a Go %T", ErrValue, x)
		}
	}
	return e.room(0)
}

// number writes x in the fewest bytes, if it is a number of a type without a name of its own.
func (e *anyEncoder) number(x any) bool {
	r := reflect.ValueOf(x)
	switch k := r.Kind(); {
	case r.Type().PkgPath() != "" || k == reflect.Uintptr:
		return false
	case r.CanInt():
		_ = e.Enc.EncodeInt(r.Int())
	case r.CanUint():
		_ = e.Enc.EncodeUint(r.Uint())
	case !r.CanFloat():
		return false
	default:
		f := r.Float()
		if float64(float32(f)) == f || f != f {
			e.Float32(f)
		} else {
			_ = e.Enc.EncodeFloat64(f)
		}
	}
	return true
}

func (e *anyEncoder) text(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: a string of an ANY is not UTF-8; give a []byte", ErrValue)
	}
	if err := e.room(len(s)); err != nil {
		return err
	}
	_ = e.Enc.EncodeString(s)
	return nil
}

func (e *anyEncoder) list(list []any, depth int) error {
	if err := e.enter(len(list), depth); err != nil {
		return err
	}
	_ = e.Enc.EncodeArrayLen(len(list))
	for _, x := range list {
		if err := e.value(x, depth); err != nil {
			return err
		}
	}
	return e.room(0)
}

// encodeMap writes a map by ascending keys. The library sorts those of few types, and none by
// default.
func encodeMap[K string | int64](e *anyEncoder, m map[K]any, depth int) error {
	if err := e.enter(2*len(m), depth); err != nil {
		return err
	}
	_ = e.Enc.EncodeMapLen(len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if err := e.value(k, depth); err != nil {
			return err
		}
		if err := e.value(m[k], depth); err != nil {
			return err
		}
	}
	return e.room(0)
}

// enter checks a list or map before its elements are walked, or its keys sorted.
func (e *anyEncoder) enter(items, depth int) error {
	if depth > MaxFreeDepth {
		return fmt.Errorf("%w: ANY is nested deeper than %d", ErrLength, MaxFreeDepth)
	}
	return e.room(1 + items)
}

// Decode returns a free value: nil, bool, int64 (uint64 above its range), float64, string, []byte,
// []any, map[string]any or map[int64]any. The bytes have passed [ScanFree].
func Decode(b []byte) (any, error) { return NewReader(b).any() }

// any decodes a free value. The library's own decoding is not used: it keeps the width of numbers,
// and one value has many types; it takes only strings for keys; and it takes the second of two
// equal keys.
func (r *Reader) any() (any, error) {
	switch c := r.Class(); c {
	case Nil:
		return nil, r.Dec.DecodeNil()
	case Bool:
		return r.Dec.DecodeBool()
	case Int:
		return r.Dec.DecodeInt64()
	case Uint:
		n, err := r.Dec.DecodeUint64()
		if n <= math.MaxInt64 {
			return int64(n), err
		}
		return n, err
	case Float:
		return r.Dec.DecodeFloat64()
	case Str:
		s, err := r.text()
		if err == nil && !utf8.ValidString(s) {
			err = fmt.Errorf("%w: a string of an ANY is not UTF-8", ErrValue)
		}
		return s, err
	case Bin:
		s, err := r.text()
		return []byte(s), err
	case Array:
		return r.anyList()
	case Map:
		return r.anyMap()
	default:
		return nil, fmt.Errorf("%w: %v in an ANY", ErrValue, c)
	}
}

func (r *Reader) anyList() (any, error) {
	n, err := r.Dec.DecodeArrayLen()
	if err != nil {
		return nil, err
	}
	list := make([]any, n)
	for i := range list {
		if list[i], err = r.any(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r *Reader) anyMap() (any, error) {
	n, err := r.Dec.DecodeMapLen()
	if err != nil {
		return nil, err
	}
	if n > 0 && r.Class() != Str {
		return decodeMap[int64](r, n)
	}
	return decodeMap[string](r, n)
}

func decodeMap[K string | int64](r *Reader, n int) (map[K]any, error) {
	m := make(map[K]any, n)
	for range n {
		key, err := r.any()
		if err != nil {
			return nil, err
		}
		k, ok := key.(K)
		if !ok {
			return nil, fmt.Errorf("%w: the keys of a map in an ANY must all be strings, or all whole numbers of 64 bits with sign", ErrValue)
		}
		if _, twice := m[k]; twice {
			return nil, fmt.Errorf("%w: a key comes twice in an ANY", ErrValue)
		}
		if m[k], err = r.any(); err != nil {
			return nil, err
		}
	}
	return m, nil
}
