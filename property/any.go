package property

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// AnyValue returns a free value, for properties of type ANY. x may be nil, a bool, any of Go's whole numbers, a float32 or
// float64, a string of UTF-8, a []byte, and a []any, map[string]any or map[int64]any of these, nested at most
// [MaxAnyDepth] deep, of [MaxAnyItems] items and [MaxAny] bytes at most. Other types are refused, named types and structs
// too: convert them, or describe them by a FIXED_DICT. A value that holds itself is refused for its depth.
//
// The value is held as MessagePack in one form, so that equal values have equal bytes: keys ascend, numbers take the
// fewest bytes that lose nothing, all NaNs are one. A whole number and a float are never equal, nil slices and maps are
// empty ones, and an empty map[int64]any is an empty map[string]any.
//
// Errors are ErrValue for a type or a string that is refused, ErrLength beyond a bound.
func AnyValue(x any) (Value, error) {
	s, err := encodeAny(x)
	if err != nil {
		return Value{}, err
	}
	return stringOf(isAny, s), nil
}

// Any returns a copy of a free value: nil, bool, int64 (uint64 above its range), float64, string, []byte, []any,
// map[string]any or map[int64]any. It is nil for other kinds.
func (v Value) Any() any {
	if v.kind != isAny {
		return nil
	}
	x, err := newStoreReader([]byte(v.text())).any()
	if err != nil {
		return nil // cannot be: only encodeAny makes the bytes
	}
	return x
}

// canonAny returns the one form of the value that is the whole of b. Errors are ErrTruncated, ErrTrailing, ErrLength and
// ErrValue.
func canonAny(b []byte) (string, error) {
	if len(b) > MaxAny {
		return "", fmt.Errorf("%w: ANY of %d bytes is longer than %d", ErrLength, len(b), MaxAny)
	}
	n, err := scanMsgpack(b)
	if err != nil {
		return "", err
	}
	if n < len(b) {
		return "", ErrTrailing
	}
	x, err := newStoreReader(b).any()
	if err != nil {
		return "", err
	}
	return encodeAny(x)
}

// anyEncoder writes one free value.
type anyEncoder struct {
	*storeWriter
	items int
}

func encodeAny(x any) (string, error) {
	e := anyEncoder{storeWriter: newStoreWriter(nil)}
	if err := e.value(x, 0); err != nil {
		return "", err
	}
	return string(e.b), nil
}

// room refuses to go on once the value is too long, before more is written: a list that holds itself twice would double at
// every level.
func (e *anyEncoder) room(bytes int) error {
	if len(e.b)+bytes > MaxAny {
		return fmt.Errorf("%w: ANY is longer than %d bytes", ErrLength, MaxAny)
	}
	return nil
}

func (e *anyEncoder) value(x any, depth int) error {
	if e.items++; e.items > MaxAnyItems {
		return fmt.Errorf("%w: ANY has more than %d items", ErrLength, MaxAnyItems)
	}
	switch x := x.(type) {
	case nil:
		_ = e.enc.EncodeNil()
	case bool:
		_ = e.enc.EncodeBool(x)
	case string:
		if err := e.text(x); err != nil {
			return err
		}
	case []byte:
		if err := e.room(len(x)); err != nil {
			return err
		}
		e.bin(string(x))
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

// number writes x in the fewest bytes, if it is a number.
func (e *anyEncoder) number(x any) bool {
	switch n := x.(type) {
	case int:
		_ = e.enc.EncodeInt(int64(n))
	case int8:
		_ = e.enc.EncodeInt(int64(n))
	case int16:
		_ = e.enc.EncodeInt(int64(n))
	case int32:
		_ = e.enc.EncodeInt(int64(n))
	case int64:
		_ = e.enc.EncodeInt(n)
	case uint:
		_ = e.enc.EncodeUint(uint64(n))
	case uint8:
		_ = e.enc.EncodeUint(uint64(n))
	case uint16:
		_ = e.enc.EncodeUint(uint64(n))
	case uint32:
		_ = e.enc.EncodeUint(uint64(n))
	case uint64:
		_ = e.enc.EncodeUint(n)
	case float32:
		e.float32(float64(n))
	case float64:
		if r := float64(float32(n)); r == n || n != n {
			e.float32(n)
		} else {
			_ = e.enc.EncodeFloat64(n)
		}
	default:
		return false
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
	_ = e.enc.EncodeString(s)
	return nil
}

func (e *anyEncoder) list(list []any, depth int) error {
	if err := e.enter(len(list), depth); err != nil {
		return err
	}
	_ = e.enc.EncodeArrayLen(len(list))
	for _, x := range list {
		if err := e.value(x, depth); err != nil {
			return err
		}
	}
	return e.room(0)
}

// encodeMap writes a map by ascending keys. The library sorts those of few types, and none by default.
func encodeMap[K string | int64](e *anyEncoder, m map[K]any, depth int) error {
	if err := e.enter(2*len(m), depth); err != nil {
		return err
	}
	_ = e.enc.EncodeMapLen(len(m))
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
	if depth > MaxAnyDepth {
		return fmt.Errorf("%w: ANY is nested deeper than %d", ErrLength, MaxAnyDepth)
	}
	return e.room(1 + items)
}

// any decodes a free value. The bytes have passed scanMsgpack. The library's own decoding into free values is not used:
// it keeps the width of numbers, so that one value has many types, takes only strings for keys, and lets a key that comes
// twice win.
func (r *storeReader) any() (any, error) {
	switch c := r.class(); c {
	case classNil:
		return nil, r.dec.DecodeNil()
	case classBool:
		return r.dec.DecodeBool()
	case classInt:
		return r.dec.DecodeInt64()
	case classUint:
		n, err := r.dec.DecodeUint64()
		if n <= math.MaxInt64 {
			return int64(n), err
		}
		return n, err
	case classFloat:
		return r.dec.DecodeFloat64()
	case classStr:
		s, err := r.text()
		if err == nil && !utf8.ValidString(s) {
			err = fmt.Errorf("%w: a string of an ANY is not UTF-8", ErrValue)
		}
		return s, err
	case classBin:
		s, err := r.text()
		return []byte(s), err
	case classArray:
		return r.anyList()
	case classMap:
		return r.anyMap()
	default:
		return nil, fmt.Errorf("%w: %v in an ANY", ErrValue, c)
	}
}

func (r *storeReader) anyList() (any, error) {
	n, err := r.dec.DecodeArrayLen()
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

func (r *storeReader) anyMap() (any, error) {
	n, err := r.dec.DecodeMapLen()
	if err != nil {
		return nil, err
	}
	if n > 0 && r.class() != classStr {
		return decodeMap[int64](r, n)
	}
	return decodeMap[string](r, n)
}

func decodeMap[K string | int64](r *storeReader, n int) (map[K]any, error) {
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
