package property

import (
	"math"
	"strconv"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// signed is a whole number with a sign.
type signed struct{ plain }

func (signed) fit(t *DataType, v Value) (Value, error) {
	n := int64(v.lo)
	shift := 64 - t.bits()
	if v.kind != isInt && (v.kind != isUint || n < 0) || n<<shift>>shift != n {
		return v, t.refuse(v)
	}
	return Int(n), nil
}

func (t *DataType) bits() uint { return uint(t.minWire) * 8 }

func (signed) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	return l.parseWhole(e, path, func(text string) (Value, bool) {
		n, err := strconv.ParseInt(text, 10, 64)
		return Int(n), err == nil
	})
}

func (signed) literal(t *DataType, x any) (Value, error) {
	n, ok := literalNumber(x).(int64)
	return t.fromLiteral(Int(n), ok, x)
}

// literalNumber returns the number that a truth value is in the script language, and all else as it
// is.
func literalNumber(x any) any {
	switch x {
	case true:
		return int64(1)
	case false:
		return int64(0)
	}
	return x
}

func (signed) store(w storeWriter, _ *DataType, v Value, _ int) error {
	return w.Enc.EncodeInt(v.Int())
}

func (signed) unstore(r *storeReader, t *DataType, _ int) (Value, error) { return r.whole(t.kind) }

// unsigned is a whole number from 0 to max.
type unsigned struct {
	plain
	max uint64
}

func (u unsigned) fit(t *DataType, v Value) (Value, error) {
	if v.kind != isUint && (v.kind != isInt || int64(v.lo) < 0) || v.lo > u.max {
		return v, t.refuse(v)
	}
	return Uint(v.lo), nil
}

func (unsigned) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	return l.parseWhole(e, path, func(text string) (Value, bool) {
		n, err := strconv.ParseUint(text, 10, 64)
		return Uint(n), err == nil
	})
}

func (unsigned) literal(t *DataType, x any) (Value, error) {
	switch n := literalNumber(x).(type) {
	case int64:
		return t.fromLiteral(Uint(uint64(n)), n >= 0, x)
	case uint64:
		return t.Fit(Uint(n))
	}
	return t.fromLiteral(Value{}, false, x)
}

func (unsigned) store(w storeWriter, _ *DataType, v Value, _ int) error {
	return w.Enc.EncodeUint(v.Uint())
}

func (unsigned) unstore(r *storeReader, t *DataType, _ int) (Value, error) { return r.whole(t.kind) }

// floating is what both widths of a floating-point number have in common.
type floating struct{ plain }

func (floating) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	l.noChildren(e, path)
	f, err := strconv.ParseFloat(e.text, 64)
	if err == nil || l.textOnly {
		return Float(f), err == nil
	}
	f, rest, ok := spelledFloat(e.text)
	if ok && rest != "" {
		l.restNotice(e, path, e.text[:len(e.text)-len(rest)])
	}
	return Float(f), ok
}

func (floating) literal(t *DataType, x any) (Value, error) {
	f, ok := literalFloat(x)
	return t.fromLiteral(Float(f), ok, x)
}

func literalFloat(x any) (f float64, ok bool) {
	switch n := literalNumber(x).(type) {
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func (floating) unstore(r *storeReader, t *DataType, _ int) (Value, error) { return r.float(t.kind) }

// single is a FLOAT32.
type single struct{ floating }

func (single) fit(t *DataType, v Value) (Value, error) {
	if v.kind == isFloat32 {
		return v, nil
	}
	f := v.Float()
	// A finite number must not turn into infinity silently.
	if v.kind != isFloat || !fitsFloat32(f) {
		return v, t.refuse(v)
	}
	return float32Value(float32(f)), nil
}

// fitsFloat32 reports whether a number stays finite as a FLOAT32, unless it is not finite itself.
func fitsFloat32(x float64) bool {
	return math.IsInf(x, 0) || !math.IsInf(float64(float32(x)), 0)
}

func (single) store(w storeWriter, _ *DataType, v Value, _ int) error {
	w.Float32(v.Float())
	return nil
}

// double is a FLOAT64.
type double struct{ floating }

func (double) fit(t *DataType, v Value) (Value, error) {
	if !v.isFloating() {
		return v, t.refuse(v)
	}
	return Float(v.Float()), nil
}

func (double) store(w storeWriter, _ *DataType, v Value, _ int) error {
	return w.Enc.EncodeFloat64(v.Float())
}

// boolean is a truth value.
type boolean struct{ plain }

func (boolean) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	l.noChildren(e, path)
	b, ok := parseBool(e.text)
	return BoolValue(b), ok
}

func (boolean) literal(t *DataType, x any) (Value, error) {
	n, ok := literalNumber(x).(int64)
	return t.fromLiteral(BoolValue(n != 0), ok && (n == 0 || n == 1), x)
}

func (boolean) store(w storeWriter, _ *DataType, v Value, _ int) error {
	return w.Enc.EncodeBool(v.Bool())
}

func (boolean) unstore(r *storeReader, t *DataType, _ int) (Value, error) {
	if err := r.want(t.kind, mpack.Bool); err != nil {
		return Value{}, err
	}
	b, err := r.Dec.DecodeBool()
	return BoolValue(b), err
}
