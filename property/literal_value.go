package property

import (
	"fmt"
	"maps"
	"slices"
)

// literalValue makes a value of type t of what parseLiteral returns. What a record does not name has its field's default.
func literalValue(t *DataType, x any) (Value, error) {
	switch t.kind {
	case KindAny:
		return AnyValue(x)
	case KindArray, KindTuple:
		return literalList(t, x)
	case KindMap:
		return literalMap(t, x)
	case KindFixedDict:
		return literalRecord(t, x)
	case KindUser:
		stored, err := literalValue(t.StoreType(), x)
		if err != nil {
			return Value{}, err
		}
		return t.user.fromStore(stored)
	case KindVec2, KindVec3, KindVec4:
		return literalVector(t.kind, x)
	}
	v, ok := literalScalar(t.kind, x)
	if !ok {
		return Value{}, notOf(t, x)
	}
	return t.Fit(v)
}

func notOf(t *DataType, x any) error {
	return fmt.Errorf("%w: %s is not a %v", ErrValue, shorten(fmt.Sprint(x)), t)
}

func literalScalar(k Kind, x any) (Value, bool) {
	switch x := x.(type) {
	case nil:
		return scalars[k].def, k == KindMailbox
	case bool:
		if k == KindBool {
			return BoolValue(x), true
		}
		n := int64(0) // a whole number in that language
		if x {
			n = 1
		}
		return literalScalar(k, n)
	case int64:
		switch {
		case k == KindBool:
			return BoolValue(x != 0), x == 0 || x == 1
		case k == KindFloat32 || k == KindFloat64:
			return Float(float64(x)), true
		case x >= 0 && isUnsigned(k):
			return Uint(uint64(x)), true
		}
		return Int(x), isSigned(k)
	case uint64:
		if k == KindFloat32 || k == KindFloat64 {
			return Float(float64(x)), true
		}
		return Uint(x), isUnsigned(k)
	case float64:
		return Float(x), k == KindFloat32 || k == KindFloat64
	case string:
		if k == KindBlob {
			return Bytes([]byte(x)), true
		}
		return StringValue(x), k == KindString || k == KindUnicodeString
	case []byte:
		return Bytes(x), k == KindBlob
	}
	return Value{}, false
}

func isSigned(k Kind) bool {
	return k == KindInt8 || k == KindInt16 || k == KindInt32 || k == KindInt64
}

func isUnsigned(k Kind) bool {
	return k == KindUint8 || k == KindUint16 || k == KindUint32 || k == KindUint64 || k == KindEntityID
}

func literalVector(k Kind, x any) (Value, error) {
	list, ok := x.([]any)
	if !ok || len(list) != vectorSize(k) {
		return Value{}, notOf(Scalar(k), x)
	}
	var f [4]float32
	for i, e := range list {
		v, ok := literalScalar(KindFloat64, e)
		if !ok || !fitsFloat32(v.Float()) {
			return Value{}, notOf(Scalar(k), x)
		}
		f[i] = float32(v.Float())
	}
	return vectorValue(k, f), nil
}

func literalList(t *DataType, x any) (Value, error) {
	list, ok := x.([]any)
	if !ok {
		return Value{}, notOf(t, x)
	}
	values := make([]Value, len(list))
	for i, e := range list {
		v, err := literalValue(t.elem, e)
		if err != nil {
			return Value{}, fmt.Errorf("element %d: %w", i, err)
		}
		values[i] = v
	}
	if t.size > 0 && len(values) != t.size {
		return Value{}, fmt.Errorf("%w: %d elements for a size of %d", ErrLength, len(values), t.size)
	}
	return t.Fit(List(values...))
}

func literalMap(t *DataType, x any) (Value, error) {
	switch m := x.(type) {
	case map[string]any:
		return literalPairs(t, m)
	case map[int64]any:
		return literalPairs(t, m)
	}
	return Value{}, notOf(t, x)
}

func literalPairs[K string | int64](t *DataType, m map[K]any) (Value, error) {
	pairs := make([]Value, 0, 2*len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key, err := literalValue(t.key, k)
		if err != nil {
			return Value{}, fmt.Errorf("key %v: %w", k, err)
		}
		value, err := literalValue(t.elem, m[k])
		if err != nil {
			return Value{}, fmt.Errorf("value of %v: %w", k, err)
		}
		pairs = append(pairs, key, value)
	}
	return t.Fit(List(pairs...))
}

func literalRecord(t *DataType, x any) (Value, error) {
	if x == nil && t.allowNone {
		return Value{}, nil
	}
	m, ok := x.(map[string]any)
	if !ok {
		return Value{}, notOf(t, x)
	}
	values := make([]Value, len(t.fields))
	for i, f := range t.fields {
		values[i] = f.Default
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		i := t.Field(name)
		if i < 0 {
			return Value{}, fmt.Errorf("%w: the FIXED_DICT has no field %q", ErrValue, shorten(name))
		}
		v, err := literalValue(t.fields[i].Type, m[name])
		if err != nil {
			return Value{}, fmt.Errorf("field %s: %w", name, err)
		}
		values[i] = v
	}
	return t.Fit(List(values...))
}
