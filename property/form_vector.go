package property

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cellscape/cellscape/property/internal/mpack"
)

// vector is n floating-point numbers, a VECTOR2 to VECTOR4.
type vector struct {
	plain
	n int
}

// vectorOf returns the vector of the first n numbers of f; the others are 0.
func vectorOf(n int, f [4]float32) Value {
	return Value{kind: isVec2 + variant(n-2), lo: pair(f[0], f[1]), hi: pair(f[2], f[3])}
}

// floats returns the numbers of a vector.
func (v *Value) floats() []float32 {
	return []float32{low(v.lo), high(v.lo), low(v.hi), high(v.hi)}[:2+v.kind-isVec2]
}

func (vector) appendText(_ *DataType, b []byte, v Value) ([]byte, error) {
	return append(b, strings.Trim(v.String(), "()")...), nil
}

// parse reads the numbers, with blanks or commas between and brackets around: 0 0 0, or (0, 0, 0).
// Each is a number alone, with a suffix at most. What is read back from a store has neither
// brackets nor suffix.
func (x vector) parse(l *loader, _ *DataType, e *element, path string) (Value, bool) {
	l.noChildren(e, path)
	v, ok := fromWords(x.n, vectorWords(e.text), func(w string) (float64, bool) {
		f, err := strconv.ParseFloat(w, 32)
		return f, err == nil
	})
	if ok || l.textOnly {
		return v, ok
	}
	bare := strings.NewReplacer("(", "", ")", "", "[", "", "]", "").Replace(e.text)
	return fromWords(x.n, vectorWords(bare), func(w string) (float64, bool) {
		f, rest, ok := spelledFloat(w)
		return f, ok && rest == "" && fitsFloat32(f)
	})
}

// vectorWords splits a vector at commas and blanks.
func vectorWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\n\r", r) })
}

func (x vector) literal(t *DataType, given any) (Value, error) {
	list, _ := given.([]any)
	v, ok := fromWords(x.n, list, func(e any) (float64, bool) {
		f, ok := literalFloat(e)
		return f, ok && fitsFloat32(f)
	})
	return t.fromLiteral(v, ok, given)
}

// fromWords makes a vector of n words; ok is false if there are more or fewer, or if one is not a
// number.
func fromWords[W any](n int, words []W, read func(W) (float64, bool)) (v Value, ok bool) {
	if len(words) != n {
		return Value{}, false
	}
	var f [4]float32
	for i, w := range words {
		x, ok := read(w)
		if !ok {
			return Value{}, false
		}
		f[i] = float32(x)
	}
	return vectorOf(n, f), true
}

func (vector) store(w storeWriter, _ *DataType, v Value, _ int) error {
	list := v.floats()
	_ = w.Enc.EncodeArrayLen(len(list))
	for _, f := range list {
		w.Float32(float64(f))
	}
	return nil
}

func (x vector) unstore(r *storeReader, t *DataType, _ int) (Value, error) {
	n, err := r.count(t.kind, mpack.Array)
	if err != nil {
		return Value{}, err
	}
	if n != x.n {
		return Value{}, fmt.Errorf("%w: %d parts for a %v", ErrLength, n, t.kind)
	}
	var f [4]float32
	for i := range n {
		v, err := r.value(Scalar(KindFloat32), 0)
		if err != nil {
			return Value{}, err
		}
		f[i] = float32(v.Float())
	}
	return vectorOf(n, f), nil
}
