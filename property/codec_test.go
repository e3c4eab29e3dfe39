package property

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

func must[T any](t T, err error) T {
	if err != nil {
		panic(err)
	}
	return t
}

// allTypes is a type of every kind and of each form that composite kinds have.
func allTypes() []*DataType {
	var all []*DataType
	for k := KindInt8; k < endOfKinds; k++ {
		if scalars[k] != nil {
			all = append(all, Scalar(k))
		}
	}
	fields := make([]DictField, len(all))
	for i, t := range all {
		fields[i] = DictField{Name: "f" + string(rune('A'+i)), Type: t}
	}
	record := must(NewFixedDict(false, fields...))
	return append(all, record, pointType, must(NewArray(pointType, 0)), must(NewMap(Scalar(KindUint16), must(NewArray(Scalar(KindString), 0)))), must(NewMap(Scalar(KindString), Scalar(KindVec3))),
		must(NewFixedDict(true, DictField{Name: "x", Type: record})),
		must(NewArray(record, 0)), must(NewArray(Scalar(KindInt8), 3)), must(NewTuple(must(NewArray(Scalar(KindString), 0)), 2)))
}

// randomValue returns a value that fits the type; edge values are as likely as others.
func randomValue(t *DataType, r *rand.Rand) Value {
	word := r.Uint64() >> r.IntN(64)
	if r.IntN(4) == 0 {
		word = math.MaxUint64
	}
	f := func() float32 { return math.Float32frombits(r.Uint32()) }
	switch t.kind {
	case KindInt8, KindInt16, KindInt32, KindInt64:
		return Int(int64(word) << (64 - t.bits()) >> (64 - t.bits()))
	case KindUint8, KindUint16, KindUint32, KindUint64:
		return Uint(word << (64 - t.bits()) >> (64 - t.bits()))
	case KindEntityID:
		return Uint(word & MaxEntityID)
	case KindFloat32:
		return Float(float64(f()))
	case KindFloat64:
		return Float(math.Float64frombits(r.Uint64()))
	case KindBool:
		return BoolValue(r.IntN(2) == 1)
	case KindString, KindBlob:
		p := make([]byte, r.IntN(20))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		return Bytes(p)
	case KindUnicodeString:
		return StringValue(strings.Repeat("héllo ✓", r.IntN(30)))
	case KindVec2:
		return Vec2(Vector2{f(), f()})
	case KindVec3:
		return Vec3(Vector3{f(), f(), f()})
	case KindVec4:
		return Vec4(Vector4{f(), f(), f(), f()})
	case KindMailbox:
		return MailboxValue(randomMailbox(r))
	case KindFixedDict:
		if t.allowNone && r.IntN(2) == 0 {
			return Value{}
		}
		list := make([]Value, len(t.fields))
		for i := range list {
			list[i] = randomValue(t.fields[i].Type, r)
		}
		return List(list...)
	}
	if t.kind == KindUser {
		return must(UserValue(t, point{int16(word) & 0x7fff, int16(word >> 16)}))
	}
	if t.kind == KindAny {
		return must(AnyValue(int64(word)))
	}
	if t.kind == KindMap {
		return randomMap(t, r)
	}
	n := t.size
	if n == 0 {
		n = r.IntN(5)
	}
	list := make([]Value, n)
	for i := range list {
		list[i] = randomValue(t.elem, r)
	}
	return List(list...)
}

func randomMailbox(r *rand.Rand) Mailbox {
	m := Mailbox{Entity: r.Uint64() & MaxEntityID, Type: uint16(r.Uint32()), Kind: uint8(r.Uint32()), Salt: r.Uint32()}
	switch r.IntN(4) {
	case 0:
		m.At = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(r.Uint32())}), uint16(r.Uint32()))
	case 1:
		m.At = netip.MustParseAddrPort("[::ffff:1.2.3.4]:20014")
	case 2:
		m.At = netip.MustParseAddrPort("[2001:db8::7]:20014")
	default:
		m.Salt = 0
	}
	return m
}

func randomMap(t *DataType, r *rand.Rand) Value {
	var list []Value
	seen := make(map[string]bool)
	for range r.IntN(5) {
		if k := randomValue(t.key, r); !seen[k.String()] {
			seen[k.String()] = true
			list = append(list, k, randomValue(t.elem, r))
		}
	}
	return must(t.Fit(List(list...)))
}

func TestRoundTrip(t *testing.T) {
	const seed = 1
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, typ := range allTypes() {
		if err := typ.Check(typ.Default()); err != nil {
			t.Errorf("%v: default: %v", typ, err)
		}
		for range 200 {
			v := randomValue(typ, r)
			fit, err := typ.Fit(v)
			if err != nil || !Equal(fit, v) {
				t.Fatalf("%v: Fit(%v) = %v, %v", typ, v, fit, err)
			}
			b := typ.AppendTo([]byte{9}, v)
			if n := typ.WireSize(); n != 0 && len(b) != 1+n || len(b) < 1+typ.minWire {
				t.Fatalf("%v: %d bytes for a size of %d, at least %d", typ, len(b)-1, n, typ.minWire)
			}
			got, rest, err := typ.Read(append(b[1:len(b):len(b)], 7, 7))
			if err != nil || !Equal(got, v) || !bytes.Equal(rest, []byte{7, 7}) {
				t.Fatalf("%v: %v came back as %v, rest %v, %v", typ, v, got, rest, err)
			}
			for n := 1; n < len(b); n++ {
				if _, rest, err := typ.Read(b[1:n]); !errors.Is(err, ErrTruncated) || len(rest) != n-1 {
					t.Fatalf("%v: %d of %d bytes: %v", typ, n-1, len(b)-1, err)
				}
			}
		}
	}
}

func TestFit(t *testing.T) {
	record := must(NewFixedDict(false, DictField{Name: "n", Type: Scalar(KindUint8)}, DictField{Name: "f", Type: Scalar(KindFloat32)}))
	pairs := must(NewArray(record, 2))
	for _, c := range []struct {
		typ  *DataType
		v    Value
		want Value
		err  error
	}{
		{Scalar(KindUint8), Int(255), Uint(255), nil},
		{Scalar(KindUint8), Int(256), Value{}, ErrValue},
		{Scalar(KindUint8), Int(-1), Value{}, ErrValue},
		{Scalar(KindInt8), Uint(127), Int(127), nil},
		{Scalar(KindInt8), Uint(128), Value{}, ErrValue},
		{Scalar(KindInt8), Int(-129), Value{}, ErrValue},
		{Scalar(KindInt64), Uint(math.MaxUint64), Value{}, ErrValue},
		{Scalar(KindUint64), Uint(math.MaxUint64), Uint(math.MaxUint64), nil},
		{Scalar(KindEntityID), Uint(MaxEntityID + 1), Value{}, ErrValue},
		{Scalar(KindInt8), Float(1), Value{}, ErrValue},
		{Scalar(KindFloat32), Float(0.1), Float(float64(float32(0.1))), nil},
		{Scalar(KindFloat32), Float(1e300), Value{}, ErrValue},
		{Scalar(KindFloat32), Float(math.Inf(-1)), Float(math.Inf(-1)), nil},
		{Scalar(KindFloat32), Float(math.NaN()), Float(math.NaN()), nil},
		{Scalar(KindFloat32), Int(1), Value{}, ErrValue},
		{Scalar(KindFloat64), Value{}, Value{}, ErrValue},
		{Scalar(KindBool), Int(1), Value{}, ErrValue},
		{Scalar(KindString), StringValue("\xff"), StringValue("\xff"), nil},
		{Scalar(KindUnicodeString), StringValue("\xff"), Value{}, ErrValue},
		{Scalar(KindBlob), StringValue(strings.Repeat("x", MaxString+1)), Value{}, ErrLength},
		{Scalar(KindBlob), Int(1), Value{}, ErrValue},
		{Scalar(KindVec2), Vec3(Vector3{}), Value{}, ErrValue},
		{Scalar(KindMailbox), MailboxValue(Mailbox{Entity: MaxEntityID + 1}), Value{}, ErrValue},
		{Scalar(KindMailbox), Int(1), Value{}, ErrValue},
		{pairs, List(List(Int(1), Float(0.1)), List(Uint(2), Float(2))), List(List(Uint(1), Float(float64(float32(0.1)))), List(Uint(2), Float(2))), nil},
		{pairs, List(List(Int(1), Float(0.1))), Value{}, ErrLength},
		{pairs, List(List(Int(1)), List(Int(1))), Value{}, ErrLength},
		{pairs, List(List(Int(-1), Float(1)), List(Int(1), Float(1))), Value{}, ErrValue},
		{pairs, Value{}, Value{}, ErrValue},
		{record, Value{}, Value{}, ErrValue},
		{must(NewArray(Scalar(KindInt8), 0)), List(make([]Value, MaxList+1)...), Value{}, ErrLength},
	} {
		got, err := c.typ.Fit(c.v)
		if !errors.Is(err, c.err) || err == nil && !Equal(got, c.want) {
			t.Errorf("%v: Fit gives %v, %v; want %v, %v", c.typ, got, err, c.want, c.err)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%v: an error of %d bytes", c.typ, len(err.Error()))
		}
	}
}

// Fitting a list must not change the caller's.
func TestFitCopies(t *testing.T) {
	given := List(Float(0.1), Float(1))
	got, err := must(NewArray(Scalar(KindFloat32), 0)).Fit(given)
	if err != nil || Equal(got, given) || given.At(0).Float() != 0.1 {
		t.Errorf("%v became %v, %v", given, got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	list := must(NewArray(Scalar(KindInt32), 0))
	for _, c := range []struct {
		name string
		typ  *DataType
		b    []byte
		want error
	}{
		{"bool 2", Scalar(KindBool), []byte{2}, ErrValue},
		{"entity id of 54 bits", Scalar(KindEntityID), []byte{0, 0, 0, 0, 0, 0, 0x20, 0}, ErrValue},
		{"text that is not UTF-8", Scalar(KindUnicodeString), []byte{1, 0xff}, ErrValue},
		{"length in two bytes that fits one", Scalar(KindString), []byte{0x81, 0, 'x'}, ErrLength},
		{"length above the limit", Scalar(KindString), []byte{0xff, 0xff, 0xff, 0x7f}, ErrLength},
		{"length that overflows", Scalar(KindString), bytes.Repeat([]byte{0xff}, 11), ErrLength},
		{"count above the limit", list, []byte{0xff, 0xff, 0xff, 0x7f}, ErrLength},
		{"count that the bytes cannot hold", list, []byte{0x80, 0x80, 4, 1, 2, 3, 4}, ErrTruncated},
		{"presence byte", must(NewFixedDict(true, DictField{Name: "x", Type: list})), []byte{2, 0}, ErrValue},
		{"IP address of 5 bytes", Scalar(KindMailbox), append(make([]byte, 11), 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ErrValue},
		{"IP address cut short", Scalar(KindMailbox), append(make([]byte, 11), 16, 0, 0, 0, 0, 0, 0), ErrTruncated},
		{"mailbox of an id of 54 bits", Scalar(KindMailbox), append([]byte{0, 0, 0, 0, 0, 0, 0x20, 0}, make([]byte, 10)...), ErrValue},
	} {
		if _, _, err := c.typ.Read(c.b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestZoneRefused(t *testing.T) {
	m := Mailbox{Entity: 1, At: netip.MustParseAddrPort("[fe80::1%eth0]:80")}
	if err := m.check(); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
}

func TestMailboxValue(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for range 100 {
		m := randomMailbox(r)
		if got := MailboxValue(m).Mailbox(); got != m {
			t.Fatalf("%+v came back as %+v", m, got)
		}
	}
	if !MailboxValue(Mailbox{}).Mailbox().IsZero() {
		t.Error("zero mailbox")
	}
}

func TestEqual(t *testing.T) {
	different := []Value{
		{}, Int(0), Int(-1), Uint(math.MaxUint64), Float(0), Float(math.Copysign(0, -1)), Float(math.NaN()), BoolValue(false), BoolValue(true),
		StringValue(""), StringValue("x"), Vec2(Vector2{}), Vec3(Vector3{}), Vec3(Vector3{Z: 1}), Vec4(Vector4{}), Vec4(Vector4{W: 1}),
		List(), List(Int(0)), List(Int(0), Int(0)), MailboxValue(Mailbox{}), MailboxValue(Mailbox{Salt: 1}),
	}
	for i, a := range different {
		for j, b := range different {
			if Equal(a, b) != (i == j) {
				t.Errorf("Equal(%v, %v) is %v", a, b, i != j)
			}
		}
	}
	if !Equal(Int(5), Uint(5)) || !Equal(List(Uint(5)), List(Int(5))) {
		t.Error("numbers of the same amount differ")
	}
	if !Equal(Float(math.Float64frombits(0x7ff8000000000123)), Float(math.NaN())) {
		t.Error("NaNs differ")
	}
}

// An accessor of another kind returns zero rather than bits of something else.
func TestAccessorOfAnotherKind(t *testing.T) {
	for _, v := range []Value{{}, Int(7), Float(7), BoolValue(true), StringValue("7"), Vec3(Vector3{7, 7, 7}), List(Int(7)), MailboxValue(Mailbox{Entity: 7, Salt: 7})} {
		n := 0
		for _, nonzero := range []bool{
			v.Int() != 0, v.Float() != 0, v.Bool(), v.Str() != "", v.Vec2() != Vector2{}, v.Vec3() != Vector3{}, v.Vec4() != Vector4{}, v.Len() != 0, !v.Mailbox().IsZero(),
		} {
			if nonzero {
				n++
			}
		}
		if n > 1 {
			t.Errorf("%v answers as %d kinds", v, n)
		}
	}
}

// argsMethod takes one argument of every type.
func argsMethod() *Method {
	m := &Method{Name: "everything"}
	for _, t := range allTypes() {
		m.Args = append(m.Args, Arg{Type: t})
	}
	return m
}

func TestArgs(t *testing.T) {
	m := &Method{Name: "say", Args: []Arg{{"text", Scalar(KindString)}, {"", Scalar(KindInt8)}}}
	b, err := m.AppendArgs([]byte{9}, []Value{StringValue("hi"), Uint(3)})
	if err != nil || !bytes.Equal(b, []byte{9, 2, 'h', 'i', 3}) {
		t.Fatalf("%v, %v", b, err)
	}
	args, err := m.ReadArgs(b[1:])
	if err != nil || args[0].Str() != "hi" || args[1].Int() != 3 {
		t.Errorf("%v, %v", args, err)
	}
	if _, err := m.ReadArgs(b); !errors.Is(err, ErrTruncated) {
		t.Error(err)
	}
	if _, err := m.ReadArgs(append(b[1:], 0)); !errors.Is(err, ErrTrailing) {
		t.Error(err)
	}
	if got, err := m.AppendArgs(b, []Value{StringValue("hi")}); !errors.Is(err, ErrArgs) || len(got) != len(b) {
		t.Error(err)
	}
	got, err := m.AppendArgs(b, []Value{StringValue("hi"), Int(200)})
	if !errors.Is(err, ErrValue) || len(got) != len(b) {
		t.Error(err)
	}
	if want := "method say: argument 2: property: value does not fit its type: 200 is not a INT8"; err.Error() != want {
		t.Error(err)
	}
	none := &Method{Name: "ping"}
	if args, err := none.ReadArgs(nil); err != nil || args != nil {
		t.Error(args, err)
	}
}

func FuzzReadArgs(f *testing.F) {
	m := argsMethod()
	r := rand.New(rand.NewPCG(3, 0))
	for range 4 {
		values := make([]Value, len(m.Args))
		for i, a := range m.Args {
			values[i] = randomValue(a.Type, r)
		}
		b, err := m.AppendArgs(nil, values)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		args, err := m.ReadArgs(b)
		if err != nil {
			return
		}
		c, err := m.AppendArgs(nil, args)
		if err != nil {
			t.Fatalf("what was read does not fit: %v", err)
		}
		again, err := m.ReadArgs(c)
		if err != nil || len(c) != len(b) {
			t.Fatalf("%d bytes became %d: %v", len(b), len(c), err)
		}
		for i := range args {
			if !Equal(args[i], again[i]) {
				t.Fatalf("argument %d: %v became %v", i, args[i], again[i])
			}
		}
	})
}
