package property

import "github.com/cellscape/cellscape/property/internal/mpack"

// AnyValue returns a free value, for properties of type ANY. x may be nil, a bool, any of Go's
// whole numbers, a float32 or float64, a string of UTF-8, a []byte, and a []any, map[string]any or
// map[int64]any of these, nested at most [MaxAnyDepth] deep, of [MaxAnyItems] items and [MaxAny]
// bytes at most. Other types are refused, named types and structs too: convert them, or describe
// them by a FIXED_DICT. A value that holds itself is refused for its depth.
//
// The value is held as MessagePack in one form, so that equal values have equal bytes: keys ascend,
// numbers take the fewest bytes that lose nothing, all NaNs are one. A whole number and a float are
// never equal, nil slices and maps are empty ones, and an empty map[int64]any is an empty
// map[string]any.
//
// Errors are ErrValue for a type or a string that is refused, ErrLength beyond a bound.
func AnyValue(x any) (Value, error) {
	s, err := mpack.Encode(x)
	if err != nil {
		return Value{}, err
	}
	return stringOf(isAny, s), nil
}

// Any returns a copy of a free value: nil, bool, int64 (uint64 above its range), float64, string,
// []byte, []any, map[string]any or map[int64]any. It is nil for other kinds.
func (v Value) Any() any {
	if v.kind != isAny {
		return nil
	}
	x, err := mpack.Decode([]byte(v.text()))
	if err != nil {
		return nil // cannot be: only mpack.Encode makes the bytes
	}
	return x
}

// anyFromJSON reads a free value from JSON. Errors are ErrValue and ErrLength.
func anyFromJSON(text string) (Value, error) {
	s, err := mpack.FromJSON(text)
	if err != nil {
		return Value{}, err
	}
	return stringOf(isAny, s), nil
}

// anyText writes a free value for logs and digests: its JSON form.
func anyText(msgpack string) string {
	text, err := mpack.ToJSON(msgpack)
	if err != nil {
		return "any(?)"
	}
	return text
}
