package property

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cellscape/cellscape/property/internal/mpack"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// randomAny returns a free value of the types that Any returns.
func randomAny(r *rand.Rand, depth int) any {
	n := 9
	if depth <= 0 {
		n = 6
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 1
	case 2:
		return int64(r.Uint64()) >> r.IntN(64)
	case 3:
		if r.IntN(2) == 0 {
			return math.MaxUint64 - r.Uint64()>>1 // above int64
		}
		return math.Float64frombits(r.Uint64())
	case 4:
		return []string{"", "hé", "$bin", "a\"\\\n\u2028<", strings.Repeat("long ", 60)}[r.IntN(5)]
	case 5:
		return []byte("\xff\x00"[:r.IntN(3)])
	case 6:
		list := make([]any, r.IntN(20))
		for i := range list {
			list[i] = randomAny(r, depth-1)
		}
		return list
	case 7:
		m := map[string]any{}
		for range r.IntN(4) {
			m[[]string{"", "a", "$map", "$x", "é"}[r.IntN(5)]] = randomAny(r, depth-1)
		}
		return m
	default:
		m := map[int64]any{int64(r.Uint64()) >> r.IntN(64): nil}
		for range r.IntN(4) {
			m[int64(r.Uint64())>>r.IntN(64)] = randomAny(r, depth-1)
		}
		return m
	}
}

func TestAnyRoundTrip(t *testing.T) {
	const seed = 11
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		x := randomAny(r, 3)
		v, err := AnyValue(x)
		if err != nil {
			t.Fatalf("%v: %v", x, err)
		}
		if d := cmp.Diff(x, v.Any(), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
		again, err := AnyValue(v.Any())
		if err != nil || !Equal(again, v) {
			t.Fatalf("%v: second time %q, %v; first %q", x, again.text(), err, v.text())
		}
		if err := mpack.Check([]byte(v.text())); err != nil {
			t.Fatalf("%v: %v", x, err)
		}
		text, err := mpack.ToJSON(v.text())
		if err != nil {
			t.Fatal(err)
		}
		back, err := anyFromJSON(text)
		if err != nil || !Equal(back, v) {
			t.Fatalf("%v: JSON %s came back as %v, %v", x, text, back.Any(), err)
		}
	}
}

// One value has one form, whatever Go types it came in.
func TestAnyOneForm(t *testing.T) {
	for _, c := range []struct {
		want string
		same []any
	}{
		{"\xc0", []any{nil}},
		{"\x05", []any{5, int8(5), int16(5), int32(5), int64(5), uint(5), uint8(5), uint16(5), uint32(5), uint64(5)}},
		{"\xff", []any{-1, int8(-1), int16(-1), int32(-1), int64(-1)}},
		{"\xcc\x80", []any{128, uint8(128)}},
		{"\xd1\xff\x7f", []any{-129}},
		{"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", []any{uint64(math.MaxUint64)}},
		{"\xca\x3f\x80\x00\x00", []any{1.0, float32(1)}},
		{"\xca\x80\x00\x00\x00", []any{math.Copysign(0, -1)}},
		{"\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a", []any{0.1}},
		{"\xca\x7f\xc0\x00\x00", []any{math.NaN(), math.Float64frombits(0xfff8000000000123), float32(math.NaN())}},
		{"\xca\x7f\x80\x00\x00", []any{math.Inf(1), float32(math.Inf(1))}},
		{"\xa2hi", []any{"hi"}},
		{"\xc4\x02hi", []any{[]byte("hi")}},
		{"\xc4\x00", []any{[]byte(nil), []byte{}}},
		{"\x90", []any{[]any(nil), []any{}}},
		{"\x80", []any{map[string]any(nil), map[string]any{}, map[int64]any{}}},
		{"\x83\xa0\x01\xa2aa\x02\xa1b\x03", []any{map[string]any{"b": 3, "aa": uint8(2), "": int64(1)}}},
		{"\x83\xff\xc0\x00\xc0\xcc\xc8\xc0", []any{map[int64]any{200: nil, -1: nil, 0: nil}}},
	} {
		for _, x := range c.same {
			if v, err := AnyValue(x); err != nil || v.text() != c.want {
				t.Errorf("%T %v is % x, %v; want % x", x, x, v.text(), err, c.want)
			}
		}
		if err := mpack.Check([]byte(c.want)); err != nil {
			t.Errorf("% x: %v", c.want, err)
		}
	}
}

// Other forms of a value are brought to the one form where that is allowed, and refused where it is
// not.
func TestAnyOtherForms(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{"\xcc\x05", "\x05"},
		{"\xd3\x00\x00\x00\x00\x00\x00\x00\x05", "\x05"},
		{"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00", "\xca\x3f\x80\x00\x00"},
		{"\xca\x7f\xc0\x00\x01", "\xca\x7f\xc0\x00\x00"},
		{"\xd9\x01x", "\xa1x"},
		{"\xc5\x00\x01x", "\xc4\x01x"},
		{"\xdc\x00\x01\x01", "\x91\x01"},
		{"\xde\x00\x02\xa1b\x01\xa1a\x02", "\x82\xa1a\x02\xa1b\x01"},
		{"\x82\x02\x01\xff\xc0", "\x82\xff\xc0\x02\x01"},
	} {
		got, err := mpack.Canon([]byte(c.given))
		if err != nil || got != c.want {
			t.Errorf("% x became % x, %v; want % x", c.given, got, err, c.want)
		}
		if err := mpack.Check([]byte(c.given)); !errors.Is(err, ErrValue) {
			t.Errorf("% x: %v", c.given, err)
		}
	}
	for _, c := range []struct {
		name, given string
		want        error
	}{
		{"two values", "\x01\x02", ErrTrailing},
		{"too long", "\xc6\x00\x01\x00\x00" + strings.Repeat("x", 1<<16), ErrLength},
		{"too long as given, though not in its one form", "\xc6\x00\x00\xff\xfd" + strings.Repeat("x", 0xfffd), ErrLength},
		{"a key twice", "\x82\xa1a\x01\xa1a\x02", ErrValue},
		{"a key twice in two forms", "\x82\x01\x01\xcc\x01\x02", ErrValue},
		{"mixed keys", "\x82\xa1a\x01\x01\x02", ErrValue},
		{"keys of bytes", "\x81\xc4\x01a\x01", ErrValue},
		{"a nil key", "\x81\xc0\x01", ErrValue},
		{"a list as key", "\x81\x90\x01", ErrValue},
		{"a key above int64", "\x81\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x01", ErrValue},
		{"a string that is not UTF-8", "\xa1\xff", ErrValue},
		{"a key that is not UTF-8", "\x81\xa1\xff\x01", ErrValue},
	} {
		if got, err := mpack.Canon([]byte(c.given)); !errors.Is(err, c.want) {
			t.Errorf("%s: % x, %v; want %v", c.name, got, err, c.want)
		}
	}
	for _, c := range hostileMsgpack {
		if _, err := mpack.Canon([]byte(c.bytes)); err == nil {
			t.Errorf("%s was accepted", c.name)
		}
	}
}

type named int

func TestAnyRefuses(t *testing.T) {
	ring := []any{nil}
	ring[0] = ring
	doubling := []any{nil, nil}
	doubling[0], doubling[1] = doubling, doubling
	loop := map[string]any{}
	loop["self"] = loop
	deep := any(nil)
	for range MaxAnyDepth + 1 {
		deep = []any{deep}
	}
	for _, c := range []struct {
		name string
		x    any
		want error
		text string
	}{
		{"a struct", struct{ X int }{1}, ErrValue, "struct { X int }"},
		{"a named type", named(1), ErrValue, "property.named"},
		{"a pointer", new(int), ErrValue, "*int"},
		{"a slice of another type", []int{1}, ErrValue, "[]int"},
		{"a map of another type, within", []any{map[string]int{"a": 1}}, ErrValue, "map[string]int"},
		{"a Value", Int(1), ErrValue, "property.Value"},
		{"a complex number", 1i, ErrValue, "complex128"},
		{"a string that is not UTF-8", "\xff", ErrValue, "give a []byte"},
		{"a list in itself", ring, ErrLength, "deeper than 16"},
		{"a list twice in itself", doubling, ErrLength, ""},
		{"a map in itself", loop, ErrLength, "deeper than 16"},
		{"one level too deep", deep, ErrLength, "deeper than 16"},
		{"a long string", strings.Repeat("x", MaxAny+1), ErrLength, ""},
		{"bytes that leave no room for their head", make([]byte, MaxAny), ErrLength, ""},
		{"a string that leaves no room for its head", strings.Repeat("x", MaxAny), ErrLength, ""},
		{"a long list", make([]any, MaxAny), ErrLength, ""},
		{"many items", make([]any, MaxAnyItems), ErrLength, "more than 32768 items"},
		{"long together", []any{make([]byte, MaxAny/2), make([]byte, MaxAny/2)}, ErrLength, ""},
	} {
		v, err := AnyValue(c.x)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.text) || !v.IsNone() {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if Int(1).Any() != nil || (Value{}).Any() != nil {
		t.Error("another kind has a free value")
	}
	full := make([]any, MaxAnyItems-1)
	if v, err := AnyValue(full); err != nil || len(v.Any().([]any)) != len(full) {
		t.Errorf("the longest list: %v", err)
	}
	if v, err := AnyValue(make([]byte, MaxAny-3)); err != nil || len(v.text()) != MaxAny {
		t.Errorf("the longest bytes: %v", err)
	}
}

// A copy is a copy: the value does not change with what went in or came out.
func TestAnyCopies(t *testing.T) {
	list := []any{[]byte("abc")}
	v, err := AnyValue(list)
	if err != nil {
		t.Fatal(err)
	}
	list[0].([]byte)[0] = 'x'
	v.Any().([]any)[0].([]byte)[1] = 'x'
	if got := v.Any().([]any)[0].([]byte); string(got) != "abc" {
		t.Errorf("%s", got)
	}
}

func TestAnyJSON(t *testing.T) {
	for _, c := range []struct {
		text string
		want any
	}{
		{" null ", nil},
		{"0", int64(0)},
		{"-0", int64(0)},
		{"-9223372036854775808", int64(math.MinInt64)},
		{"9223372036854775808", uint64(1 << 63)},
		{"18446744073709551615", uint64(math.MaxUint64)},
		{"1.0", 1.0},
		{"-0.0", math.Copysign(0, -1)},
		{"1e2", 100.0},
		{"1E400", ErrValue},
		{"18446744073709551616", ErrValue},
		{"-9223372036854775809", ErrValue},
		{`"é\u00e9"`, "éé"},
		{`[1, [true, "x"]]`, []any{int64(1), []any{true, "x"}}},
		{`{"b": 1, "a": {}}`, map[string]any{"a": map[string]any{}, "b": int64(1)}},
		{`{"$bin": "aGk="}`, []byte("hi")},
		{`{"$float": "-Infinity"}`, math.Inf(-1)},
		{`{"$map": [[2, "b"], [1, "a"]]}`, map[int64]any{1: "a", 2: "b"}},
		{`{"$map": [["$bin", "aGk="]]}`, map[string]any{"$bin": "aGk="}},
		{`{"$map": []}`, map[string]any{}},
		{`{"$bin": "aGk=", "x": 1}`, map[string]any{"$bin": "aGk=", "x": int64(1)}},
		{`{"a": 1, "a": 1}`, ErrValue},
		{`{"a": 1, "\u0061": 1}`, ErrValue},
		{`[{"x": {"a": 1, "a": 2}}]`, ErrValue},
		{`{"$bin": "aG"}`, ErrValue},
		{`{"$bin": 1}`, ErrValue},
		{`{"$float": "nan"}`, ErrValue},
		{`{"$x": 1}`, ErrValue},
		{`{"$map": [[1, "a"], ["b", 2]]}`, ErrValue},
		{`{"$map": [[1, "a"], [1, "b"]]}`, ErrValue},
		{`{"$map": [[1, 2, 3]]}`, ErrValue},
		{`{"$map": [[1.0, 2]]}`, ErrValue},
		{`{"$map": {}}`, ErrValue},
		{"", ErrValue},
		{"[1,]", ErrValue},
		{"1 2", ErrValue},
		{"{1: 2}", ErrValue},
		{"nope", ErrValue},
		{"\"\xff\"", ErrValue},
		{strings.Repeat("[", MaxAnyDepth) + strings.Repeat("]", MaxAnyDepth), nil},
		{strings.Repeat("[", MaxAnyDepth+1) + strings.Repeat("]", MaxAnyDepth+1), ErrLength},
		{strings.Repeat("[", 9000) + strings.Repeat("]", 9000), ErrLength},
		{strings.Repeat(" ", mpack.MaxJSON), ErrValue},
		{strings.Repeat(" ", mpack.MaxJSON) + "1", ErrLength},
	} {
		v, err := anyFromJSON(c.text)
		name := c.text[:min(len(c.text), 40)]
		if want, ok := c.want.(error); ok {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, %v; want %v", name, v.Any(), err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if c.want != nil && !cmp.Equal(v.Any(), c.want) {
			t.Errorf("%s: %#v, want %#v", name, v.Any(), c.want)
		}
	}
}

// The deepest value is written in more levels of JSON than it has, and comes back.
func TestAnyJSONDepth(t *testing.T) {
	x := any([]byte("x"))
	for i := range MaxAnyDepth {
		x = map[int64]any{int64(i): x}
	}
	v, err := AnyValue(x)
	if err != nil {
		t.Fatal(err)
	}
	text, err := mpack.ToJSON(v.text())
	if err != nil {
		t.Fatal(err)
	}
	if w, err := anyFromJSON(text); err != nil || !Equal(v, w) {
		t.Errorf("%s: %v, %v", text, w.Any(), err)
	}
	_, err = anyFromJSON(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))
	if err == nil || !strings.Contains(err.Error(), "JSON is nested deeper than 51") {
		t.Error(err)
	}
}

func TestAnyText(t *testing.T) {
	for _, c := range []struct {
		x    any
		want string
	}{
		{nil, "null"},
		{map[string]any{"b": 1.0, "a": []any{-1, "<é>"}}, `{"a":[-1,"<é>"],"b":1.0}`},
		{math.Copysign(0, -1), "-0.0"},
		{1e300, "1e+300"},
		{uint64(math.MaxUint64), "18446744073709551615"},
		{[]byte("hi"), `{"$bin":"aGk="}`},
		{math.NaN(), `{"$float":"NaN"}`},
		{math.Inf(-1), `{"$float":"-Infinity"}`},
		{map[int64]any{10: nil, 9: math.Inf(1)}, `{"$map":[[9,{"$float":"Infinity"}],[10,null]]}`},
		{map[string]any{"$bin": "x"}, `{"$map":[["$bin","x"]]}`},
		{strings.Repeat("é", 200), `"` + strings.Repeat("é", 200) + `"`},
	} {
		v, err := AnyValue(c.x)
		if err != nil {
			t.Fatal(err)
		}
		if got := anyText(v.text()); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%v is %s, want %s", c.x, got, c.want)
		}
	}
	if got := anyText(""); got != "any(?)" {
		t.Error(got)
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The dearest ANY that fits the bounds takes a few megabytes to decode, not more.
func TestAnyAllocation(t *testing.T) {
	for name, item := range map[string]string{"empty maps": "\x80", "empty lists": "\x90", "floats": "\xca\x00\x00\x00\x01"} {
		n := min(MaxAnyItems-1, (MaxAny-3)/len(item))
		b := []byte("\xdc" + string([]byte{byte(n >> 8), byte(n)}) + strings.Repeat(item, n))
		if got := allocated(func() {
			if _, err := mpack.Canon(b); err != nil {
				t.Error(err)
			}
		}); got > 8<<20 {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(b))
		}
	}
}

func FuzzAnyFromJSON(f *testing.F) {
	for _, s := range []string{"null", "-1.5e3", `{"a":[1,"x",{"$bin":"aGk="}]}`, `{"$map":[[1,2]]}`, `{"$float":"NaN"}`, `{"a":1,"a":2}`, "[[[["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := anyFromJSON(text)
		if err != nil {
			if !errors.Is(err, ErrValue) && !errors.Is(err, ErrLength) {
				t.Fatal(err)
			}
			return
		}
		if err := mpack.Check([]byte(v.text())); err != nil {
			t.Fatal(err)
		}
		again, err := mpack.ToJSON(v.text())
		if err != nil {
			t.Fatal(err)
		}
		if w, err := anyFromJSON(again); err != nil || !Equal(v, w) {
			t.Fatalf("%s became %s, which is %v, %v", text, again, w.Any(), err)
		}
	})
}

// Any bytes are refused, or have one form that stays.
func FuzzCanonAny(f *testing.F) {
	for _, form := range formsOfMsgpack() {
		f.Add([]byte(form))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := mpack.Canon(b)
		if strict := mpack.Check(b); (strict == nil) != (err == nil && s == string(b)) {
			t.Fatalf("% x in one form is % x, %v, but the check says %v", b, s, err, strict)
		}
		if err != nil {
			for _, want := range []error{ErrTruncated, ErrTrailing, ErrLength, ErrValue} {
				if errors.Is(err, want) {
					return
				}
			}
			t.Fatal(err)
		}
		if err := mpack.Check([]byte(s)); err != nil {
			t.Fatalf("% x became % x: %v", b, s, err)
		}
		if v, err := AnyValue(stringOf(isAny, s).Any()); err != nil || v.text() != s {
			t.Fatalf("% x: %v", s, err)
		}
	})
}
