package property

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Check reports whether v fits the type; the error says why not and is ErrValue or ErrLength.
func (t *DataType) Check(v Value) error {
	_, err := t.Fit(v)
	return err
}

// Fit returns v as the type stores it: whole numbers take the type's sign, a FLOAT32 is rounded. A stored value that
// travels comes back equal. The error is ErrValue or ErrLength.
func (t *DataType) Fit(v Value) (Value, error) {
	switch t.kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return t.fitInt(v)
	case KindUint8, KindUint16, KindUint32, KindUint64, KindEntityID:
		return t.fitUint(v)
	case KindFloat32:
		return t.fitFloat32(v)
	case KindFloat64:
		return t.fitFloat64(v)
	case KindBool:
		return v, t.want(v, isBool)
	case KindString, KindUnicodeString, KindBlob:
		return v, t.checkString(v)
	case KindVec2:
		return v, t.want(v, isVec2)
	case KindVec3:
		return v, t.want(v, isVec3)
	case KindVec4:
		return v, t.want(v, isVec4)
	case KindMailbox:
		if err := t.want(v, isMailbox); err != nil {
			return v, err
		}
		return v, v.Mailbox().check()
	case KindArray, KindTuple:
		return t.fitSequence(v)
	case KindMap:
		return t.fitMap(v)
	case KindAny:
		return v, t.want(v, isAny)
	case KindUser:
		return t.user.fit(v)
	default:
		return t.fitDict(v)
	}
}

func (t *DataType) want(v Value, k variant) error {
	if v.kind != k {
		return t.refuse(v)
	}
	return nil
}

func (t *DataType) refuse(v Value) error {
	text := v.String()
	if len(text) > 80 {
		text = text[:80] + "…" // an error is for reading, not for carrying a blob into a log
	}
	return fmt.Errorf("%w: %s is not a %v", ErrValue, text, t.kind)
}

func (t *DataType) bits() uint { return uint(t.minWire) * 8 }

func (t *DataType) fitInt(v Value) (Value, error) {
	n := int64(v.lo)
	shift := 64 - t.bits()
	if v.kind != isInt && (v.kind != isUint || n < 0) || n<<shift>>shift != n {
		return v, t.refuse(v)
	}
	return Int(n), nil
}

func (t *DataType) fitUint(v Value) (Value, error) {
	limit := uint64(math.MaxUint64) >> (64 - t.bits())
	if t.kind == KindEntityID {
		limit = MaxEntityID
	}
	if v.kind != isUint && (v.kind != isInt || int64(v.lo) < 0) || v.lo > limit {
		return v, t.refuse(v)
	}
	return Uint(v.lo), nil
}

func (t *DataType) fitFloat32(v Value) (Value, error) {
	if v.kind != isFloat {
		return v, t.want(v, isFloat32)
	}
	f := v.Float()
	r := float32(f)
	if math.IsInf(float64(r), 0) && !math.IsInf(f, 0) {
		return v, t.refuse(v) // a finite number must not turn into infinity silently
	}
	return float32Value(r), nil
}

func (t *DataType) fitFloat64(v Value) (Value, error) {
	if v.kind == isFloat32 {
		return Float(v.Float()), nil
	}
	return v, t.want(v, isFloat)
}

func (t *DataType) checkString(v Value) error {
	if v.kind != isString {
		return t.refuse(v)
	}
	if v.lo > MaxString {
		return fmt.Errorf("%w: %v of %d bytes is longer than %d", ErrLength, t.kind, v.lo, MaxString)
	}
	if t.kind == KindUnicodeString && !utf8.ValidString(v.text()) {
		return fmt.Errorf("%w: UNICODE_STRING is not valid UTF-8", ErrValue)
	}
	return nil
}

func (t *DataType) fitSequence(v Value) (Value, error) {
	if v.kind != isList {
		return v, t.refuse(v)
	}
	if t.size > 0 && v.Len() != t.size {
		return v, fmt.Errorf("%w: %d elements for %v of %d", ErrLength, v.Len(), t.kind, t.size)
	}
	if v.Len() > MaxList {
		return v, fmt.Errorf("%w: %v of %d elements is longer than %d", ErrLength, t.kind, v.Len(), MaxList)
	}
	return t.fitList(v)
}

func (t *DataType) fitDict(v Value) (Value, error) {
	if v.kind == isNone && t.allowNone {
		return v, nil
	}
	if v.kind != isList {
		return v, t.refuse(v)
	}
	if v.Len() != len(t.fields) {
		return v, fmt.Errorf("%w: %d values for FIXED_DICT of %d fields", ErrLength, v.Len(), len(t.fields))
	}
	return t.fitList(v)
}

// fitMap sorts the pairs by key: one map has one form, whatever order it was given in.
func (t *DataType) fitMap(v Value) (Value, error) {
	if v.kind != isList || v.Len()%2 != 0 {
		return v, t.refuse(v)
	}
	if v.Len()/2 > MaxList {
		return v, fmt.Errorf("%w: MAP of %d pairs is larger than %d", ErrLength, v.Len()/2, MaxList)
	}
	v, err := t.fitList(v)
	if err != nil || sorted(v.list()) {
		return v, err
	}
	pairs := make([][2]Value, v.Len()/2)
	for i := range pairs {
		pairs[i] = [2]Value{v.At(2 * i), v.At(2*i + 1)}
	}
	slices.SortStableFunc(pairs, func(a, b [2]Value) int { return compareKeys(&a[0], &b[0]) })
	list := make([]Value, 0, v.Len())
	for _, p := range pairs {
		list = append(list, p[0], p[1])
	}
	if !sorted(list) {
		return v, fmt.Errorf("%w: MAP with a key twice", ErrValue)
	}
	return List(list...), nil
}

// sorted reports whether the keys of a MAP ascend.
func sorted(list []Value) bool {
	for i := 2; i < len(list); i += 2 {
		if compareKeys(&list[i-2], &list[i]) >= 0 {
			return false
		}
	}
	return true
}

// compareKeys orders keys of one fitted type: numbers by amount, strings by bytes.
func compareKeys(a, b *Value) int {
	switch a.kind {
	case isInt:
		return cmp.Compare(int64(a.lo), int64(b.lo))
	case isString:
		return cmp.Compare(a.text(), b.text())
	}
	return cmp.Compare(a.lo, b.lo)
}

// fitList fits every element, and copies the list only if one of them changes by it.
func (t *DataType) fitList(v Value) (Value, error) {
	list, copied := v.list(), false
	for i, e := range list {
		f, err := t.child(i).Fit(e)
		if err != nil {
			return v, fmt.Errorf("element %d: %w", i, err)
		}
		if f.kind == e.kind && f.lo == e.lo && f.ref == e.ref {
			continue
		}
		if !copied {
			list, copied = slices.Clone(list), true
		}
		list[i] = f
	}
	if !copied {
		return v, nil
	}
	return List(list...), nil
}
