package property

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

// money is a Go type behind a USER_TYPE; the store keeps it as a FIXED_DICT.
type money struct {
	cents    int64
	currency string
}

type moneyCodec struct{ as *DataType }

var errPoor = errors.New("no money is negative")

func newMoney() *DataType {
	return must(NewUserType("Money", moneyCodec{must(NewFixedDict(false,
		DictField{Name: "cents", Type: Scalar(KindInt64)},
		DictField{Name: "currency", Type: Scalar(KindString), Default: StringValue("EUR")}))}))
}

func (moneyCodec) Default() money { return money{0, "EUR"} }

func (moneyCodec) Append(b []byte, m money) ([]byte, error) {
	if m.cents < 0 {
		return b, errPoor
	}
	return append(binary.LittleEndian.AppendUint64(b, uint64(m.cents)), m.currency...), nil
}

func (moneyCodec) Read(b []byte) (money, []byte, error) {
	if len(b) < 8 {
		return money{}, b, ErrTruncated
	}
	return money{int64(binary.LittleEndian.Uint64(b)), string(b[8:])}, nil, nil
}

func (moneyCodec) ToStore(m money) (Value, error) {
	switch m.cents {
	case 666:
		return Value{}, errPoor
	case 667:
		return Int(667), nil // not what its store type says
	}
	return List(Int(m.cents), StringValue(m.currency)), nil
}

func (moneyCodec) FromStore(v Value) (money, error) {
	return money{v.At(0).Int(), v.At(1).Str()}, nil
}

func (c moneyCodec) StoreType() *DataType { return c.as }

// moneyValue is a value of newMoney.
func moneyValue(t testing.TB, typ *DataType, m money) Value {
	t.Helper()
	v, err := typ.user.fromStore(List(Int(m.cents), StringValue(m.currency)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// randomType returns a type at most depth deep. Its dictionaries have no transient fields, since
// those do not come back.
func randomStoredType(r *rand.Rand, depth int) *DataType {
	if depth <= 1 || r.IntN(3) == 0 {
		switch k := KindInt8 + Kind(r.IntN(int(KindUser-KindInt8)+1)); {
		case k == KindUser:
			return newMoney()
		case k == KindAny || k <= KindMailbox && scalars[min(k, KindMailbox)] != nil:
			return Scalar(k)
		default:
			return Scalar(KindString)
		}
	}
	keys := []Kind{KindInt8, KindInt64, KindUint16, KindUint64, KindBool, KindString, KindUnicodeString, KindEntityID}
	switch r.IntN(5) {
	case 0:
		return must(NewArray(randomStoredType(r, depth-1), 0))
	case 1:
		return must(NewTuple(randomStoredType(r, depth-1), 1+r.IntN(3)))
	case 2:
		return must(NewMap(Scalar(keys[r.IntN(len(keys))]), randomStoredType(r, depth-1)))
	}
	fields := make([]DictField, 1+r.IntN(4))
	for i := range fields {
		fields[i] = DictField{Name: fmt.Sprint("f", i), Type: randomStoredType(r, depth-1)}
	}
	return must(NewFixedDict(r.IntN(2) == 0, fields...))
}

// randomStored is randomValue for every kind that the store knows.
func randomStored(t *DataType, r *rand.Rand) Value {
	var list []Value
	switch t.Kind() {
	case KindAny:
		v, err := AnyValue(randomAny(r, 2))
		if err != nil {
			panic(err)
		}
		return v
	case KindUser:
		v, err := t.user.fromStore(List(Int(int64(r.Uint64()>>1)), StringValue("USD")))
		if err != nil {
			panic(err)
		}
		return v
	case KindMap:
		for range r.IntN(4) {
			list = append(list, randomStored(t.Key(), r), randomStored(t.Elem(), r))
		}
		v, err := t.Fit(List(list...))
		if err != nil {
			return List() // a key came twice
		}
		return v
	case KindArray, KindTuple:
		n := t.Size()
		if n == 0 {
			n = r.IntN(20)
		}
		for range n {
			list = append(list, randomStored(t.Elem(), r))
		}
		return List(list...)
	case KindFixedDict:
		if t.AllowsNone() && r.IntN(2) == 0 {
			return Value{}
		}
		for _, f := range t.Fields() {
			list = append(list, randomStored(f.Type, r))
		}
		return List(list...)
	}
	return randomValue(t, r)
}

// storedTypes is a type of every kind, and some hundred random ones.
func storedTypes(r *rand.Rand) []*DataType {
	all := append(allTypes(), Scalar(KindAny), newMoney(), must(NewMap(Scalar(KindString), newMoney())))
	for range 150 {
		all = append(all, randomStoredType(r, 5))
	}
	return all
}

// Every value of every type comes back equal, fits, and has one form.
func TestStoreRoundTrip(t *testing.T) {
	const seed = 12
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, typ := range storedTypes(r) {
		for range 15 {
			v := randomStored(typ, r)
			b, err := typ.AppendStore([]byte{9}, v)
			if err != nil {
				t.Fatalf("%v: %v: %v", typ, v, err)
			}
			got, rest, err := typ.ReadStore(append(b[1:len(b):len(b)], 0xc1, 7))
			if err != nil || !Equal(got, v) || !bytes.Equal(rest, []byte{0xc1, 7}) {
				t.Fatalf("%v: %v came back as %v, rest %x, %v", typ, v, got, rest, err)
			}
			if fit, err := typ.Fit(got); err != nil || !Equal(fit, got) {
				t.Fatalf("%v: %v does not fit: %v", typ, got, err)
			}
			again, err := typ.AppendStore(nil, got)
			if err != nil || !bytes.Equal(again, b[1:]) {
				t.Fatalf("%v: %v was % x, is % x, %v", typ, v, b[1:], again, err)
			}
			for n := range min(len(b)-1, 200) {
				if _, rest, err := typ.ReadStore(b[1 : 1+n]); !errors.Is(err, ErrTruncated) || len(rest) != n {
					t.Fatalf("%v: %d of %d bytes: %v", typ, n, len(b)-1, err)
				}
			}
		}
	}
}

func TestStoreForm(t *testing.T) {
	dict := must(NewFixedDict(true, DictField{Name: "b", Type: Scalar(KindInt8)}, DictField{Name: "t", Type: Scalar(KindInt8), Transient: true},
		DictField{Name: "a", Type: Scalar(KindBool)}))
	user := newMoney()
	free, err := AnyValue(map[string]any{"x": 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ  *DataType
		v    Value
		want string
	}{
		{Scalar(KindInt64), Int(5), "\x05"},
		{Scalar(KindInt64), Int(-200), "\xd1\xff\x38"},
		{Scalar(KindInt64), Uint(200), "\xcc\xc8"},
		{Scalar(KindUint64), Uint(math.MaxUint64), "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"},
		{Scalar(KindFloat32), Float(0.1), "\xca\x3d\xcc\xcc\xcd"},
		{Scalar(KindFloat32), Float(math.NaN()), "\xca\x7f\xc0\x00\x00"},
		{Scalar(KindFloat64), Float(1), "\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"},
		{Scalar(KindBool), BoolValue(true), "\xc3"},
		{Scalar(KindString), StringValue("é"), "\xa2é"},
		{Scalar(KindString), StringValue("\xff"), "\xc4\x01\xff"},
		{Scalar(KindUnicodeString), StringValue(""), "\xa0"},
		{Scalar(KindBlob), StringValue("abc"), "\xc4\x03abc"},
		{Scalar(KindBlob), StringValue(""), "\xc4\x00"},
		{Scalar(KindVec2), Vec2(Vector2{1, 0}), "\x92\xca\x3f\x80\x00\x00\xca\x00\x00\x00\x00"},
		{Scalar(KindMailbox), MailboxValue(Mailbox{}), "\x96\x00\x00\x00\xc4\x00\x00\x00"},
		{Scalar(KindMailbox), MailboxValue(Mailbox{7, 2, 1, netip.MustParseAddrPort("10.0.0.1:20014"), 9}), "\x96\x07\x02\x01\xc4\x04\x0a\x00\x00\x01\xcd\x4e\x2e\x09"},
		{must(NewTuple(Scalar(KindInt8), 2)), List(Int(1), Int(2)), "\x92\x01\x02"},
		{dict, List(Int(1), Int(2), BoolValue(true)), "\x82\xa1b\x01\xa1a\xc3"},
		{dict, Value{}, "\xc0"},
		{must(NewMap(Scalar(KindInt8), Scalar(KindBool))), List(Int(2), BoolValue(true), Int(-1), BoolValue(false)), "\x82\xff\xc2\x02\xc3"},
		{Scalar(KindAny), free, "\x81\xa1x\x01"},
		{user, moneyValue(t, user, money{5, "USD"}), "\x82\xa5cents\x05\xa8currency\xa3USD"},
	} {
		got, err := c.typ.AppendStore([]byte("x"), c.v)
		if err != nil || string(got) != "x"+c.want {
			t.Errorf("%v %v is % x, %v; want % x", c.typ, c.v, got[1:], err, c.want)
		}
	}
}

func TestAppendStoreRefuses(t *testing.T) {
	user := newMoney()
	for _, c := range []struct {
		name string
		typ  *DataType
		v    Value
		want error
		text string
	}{
		{"a value of another kind", Scalar(KindInt8), StringValue("x"), ErrValue, ""},
		{"a value out of range", Scalar(KindInt8), Int(200), ErrValue, ""},
		{"a list of another size", must(NewArray(Scalar(KindInt8), 2)), List(), ErrLength, ""},
		{"what a codec refuses", user, moneyValue(t, user, money{666, ""}), errPoor, ""},
		{"what a codec makes wrong", user, moneyValue(t, user, money{667, ""}), ErrValue, "USER_TYPE Money to the store: "},
		{"and names where", must(NewFixedDict(false, DictField{Name: "m", Type: must(NewArray(user, 0))})),
			List(List(moneyValue(t, user, money{1, ""}), moneyValue(t, user, money{666, ""}))), ErrValue, "field m: element 1: "},
	} {
		b, err := c.typ.AppendStore([]byte("x"), c.v)
		if !errors.Is(err, c.want) || !errors.Is(err, ErrValue) && !errors.Is(err, ErrLength) ||
			!strings.Contains(fmt.Sprint(err), c.text) || string(b) != "x" {
			t.Errorf("%s: %q, %v", c.name, b, err)
		}
	}
}

// ring is the codec of a type whose store type holds the type itself.
type ring struct {
	moneyCodec
	as **DataType
}

func (r ring) StoreType() *DataType           { return *r.as }
func (r ring) ToStore(m money) (Value, error) { return UserValue(*r.as, m) }

// Types of users that are stored as each other end in an error, not in a full stack.
func TestStoreTypeRing(t *testing.T) {
	typ := newMoney()
	typ = must(NewUserType("Ring", ring{as: &typ}))
	if _, err := typ.AppendStore(nil, typ.Default()); !errors.Is(err, ErrLength) {
		t.Error(err)
	}
	if _, _, err := typ.ReadStore([]byte("\x01")); !errors.Is(err, ErrLength) {
		t.Error(err)
	}
}

// What was stored under one type is read under the next.
func TestStoreTolerates(t *testing.T) {
	i8, i32, u8, u64, f32, f64 := Scalar(KindInt8), Scalar(KindInt32), Scalar(KindUint8), Scalar(KindUint64), Scalar(KindFloat32), Scalar(KindFloat64)
	str, uni, blob := Scalar(KindString), Scalar(KindUnicodeString), Scalar(KindBlob)
	dict := func(none bool, names string) *DataType {
		var fields []DictField
		for i, n := range names {
			fields = append(fields, DictField{Name: string(n), Type: i32, Default: Int(int64(100 + i)), Transient: n >= 'A' && n <= 'Z'})
		}
		return must(NewFixedDict(none, fields...))
	}
	list := func(t *DataType, n int) *DataType { return must(NewArray(t, n)) }
	ab := List(Int(1), Int(2))
	for _, c := range []struct {
		name     string
		from, to *DataType
		v, want  Value
		err      error
	}{
		{"a wider number", i8, i32, Int(-5), Int(-5), nil},
		{"a narrower number", i32, i8, Int(-128), Int(-128), nil},
		{"a narrower number that no longer fits", i32, i8, Int(-129), Value{}, ErrValue},
		{"a number that loses its sign", i8, u64, Int(5), Uint(5), nil},
		{"a negative number that loses its sign", i8, u64, Int(-5), Value{}, ErrValue},
		{"a number that gains a sign", u8, i8, Uint(127), Int(127), nil},
		{"a number too large for a sign", u64, Scalar(KindInt64), Uint(1 << 63), Value{}, ErrValue},
		{"a number as an id", u64, Scalar(KindEntityID), Uint(MaxEntityID), Uint(MaxEntityID), nil},
		{"a number beyond ids", u64, Scalar(KindEntityID), Uint(MaxEntityID + 1), Value{}, ErrValue},
		{"a wider float", f32, f64, Float(float64(float32(0.1))), Float(float64(float32(0.1))), nil},
		{"a narrower float, rounded", f64, f32, Float(0.1), Float(float64(float32(0.1))), nil},
		{"a narrower float that no longer fits", f64, f32, Float(1e300), Value{}, ErrValue},
		{"a number as a float", i32, f32, Int(-1 << 24), Float(-1 << 24), nil},
		{"a number that no float32 equals", i32, f32, Int(1<<24 + 1), Value{}, ErrValue},
		{"a negative number that no float32 equals", i32, f32, Int(-1<<24 - 1), Value{}, ErrValue},
		{"a number as a float64", u64, f64, Uint(1 << 53), Float(1 << 53), nil},
		{"a number that no float64 equals", u64, f64, Uint(1<<53 + 1), Value{}, ErrValue},
		{"a number above int64 as a float64", u64, f64, Uint(math.MaxUint64), Value{}, ErrValue},
		{"a float as a number", f64, i32, Float(1), Value{}, ErrValue},
		{"a truth value as a number", Scalar(KindBool), i8, BoolValue(true), Value{}, ErrValue},
		{"a number as a truth value", i8, Scalar(KindBool), Int(1), Value{}, ErrValue},
		{"a string as text", str, uni, StringValue("é"), StringValue("é"), nil},
		{"a string that is no text", str, uni, StringValue("\xff"), Value{}, ErrValue},
		{"a blob as a string", blob, str, StringValue("\xff"), StringValue("\xff"), nil},
		{"a blob as text", blob, uni, StringValue("é"), StringValue("é"), nil},
		{"text as a blob", uni, blob, StringValue("é"), StringValue("é"), nil},
		{"a number as a string", i8, str, Int(1), Value{}, ErrValue},
		{"a vector of fewer parts", Scalar(KindVec3), Scalar(KindVec2), Vec3(Vector3{}), Value{}, ErrLength},
		{"a list of floats as a vector", list(f64, 0), Scalar(KindVec2), List(Float(1), Float(2)), Vec2(Vector2{1, 2}), nil},
		{"a vector as a list", Scalar(KindVec2), list(f32, 0), Vec2(Vector2{1, 2}), List(Float(1), Float(2)), nil},
		{"an array as a tuple", list(i8, 0), must(NewTuple(i32, 0)), ab, ab, nil},
		{"a list that gets the size it has", list(i8, 0), list(i8, 2), ab, ab, nil},
		{"a list of another fixed size", list(i8, 2), list(i8, 3), ab, Value{}, ErrLength},
		{"a list as a dict", list(i8, 0), dict(false, "ab"), ab, Value{}, ErrValue},
		{"fields in another order", dict(false, "ab"), dict(false, "ba"), ab, List(Int(2), Int(1)), nil},
		{"a field that came", dict(false, "ab"), dict(false, "axb"), ab, List(Int(1), Int(101), Int(2)), nil},
		{"a field that went", dict(false, "ab"), dict(false, "b"), ab, List(Int(2)), nil},
		{"all fields new", dict(false, "ab"), dict(false, "xy"), ab, List(Int(100), Int(101)), nil},
		{"a transient field", dict(false, "aT"), dict(false, "aT"), ab, List(Int(1), Int(101)), nil},
		{"a field that is now transient", dict(false, "ab"), must(NewFixedDict(false, DictField{Name: "a", Type: str, Transient: true}, DictField{Name: "b", Type: i8})),
			ab, List(StringValue(""), Int(2)), nil},
		{"a dict that may now be None", dict(false, "ab"), dict(true, "ab"), ab, ab, nil},
		{"a None that is still allowed", dict(true, "ab"), dict(true, "xy"), Value{}, Value{}, nil},
		{"a None that is no longer allowed", dict(true, "ab"), dict(false, "ab"), Value{}, List(Int(100), Int(101)), nil},
		{"a field of another kind", dict(false, "ab"), must(NewFixedDict(false, DictField{Name: "b", Type: str})), ab, Value{}, ErrValue},
		{"an edit deep within", list(list(dict(false, "ab"), 0), 0), list(list(dict(true, "bx"), 0), 0), List(List(ab)), List(List(List(Int(2), Int(101)))), nil},
		{"a dict as a map", dict(false, "ba"), must(NewMap(str, i8)), ab, List(StringValue("a"), Int(2), StringValue("b"), Int(1)), nil},
		{"narrower keys", must(NewMap(i32, i8)), must(NewMap(i8, i8)), List(Int(1), Int(2)), List(Int(1), Int(2)), nil},
		{"keys that no longer fit", must(NewMap(i32, i8)), must(NewMap(i8, i8)), List(Int(1000), Int(2)), Value{}, ErrValue},
		{"a user type as what it is stored as", newMoney(), must(NewFixedDict(false, DictField{Name: "cents", Type: i8})), newMoney().Default(), List(Int(0)), nil},
		{"a dict as a user type", must(NewFixedDict(false, DictField{Name: "cents", Type: i8})), newMoney(), List(Int(7)), moneyValue(t, newMoney(), money{7, "EUR"}), nil},
		{"a dict that a codec refuses", must(NewFixedDict(false, DictField{Name: "cents", Type: i8})), newMoney(), List(Int(-7)), Value{}, errPoor},
		{"anything as a free value", dict(false, "ab"), Scalar(KindAny), ab, stringOf(isAny, "\x82\xa1a\x01\xa1b\x02"), nil},
		{"a free value as what it is", Scalar(KindAny), list(i8, 0), stringOf(isAny, "\x92\x01\x02"), ab, nil},
		{"a nil as a number", Scalar(KindAny), i8, stringOf(isAny, "\xc0"), Value{}, ErrValue},
		{"a nil as a string", Scalar(KindAny), str, stringOf(isAny, "\xc0"), Value{}, ErrValue},
		{"a nil as a list", Scalar(KindAny), list(i8, 0), stringOf(isAny, "\xc0"), Value{}, ErrValue},
		{"a nil as a mailbox", Scalar(KindAny), Scalar(KindMailbox), stringOf(isAny, "\xc0"), Value{}, ErrValue},
	} {
		b, err := c.from.AppendStore(nil, c.v)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, rest, err := c.to.ReadStore(append(b, 0xc1))
		if !errors.Is(err, c.err) || err == nil && (!Equal(got, c.want) || len(rest) != 1) || err != nil && len(rest) != len(b)+1 {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, got, err, c.want, c.err)
		}
		if err != nil && !errors.Is(err, ErrValue) && !errors.Is(err, ErrLength) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A store that tools have written to is read as well, and what contradicts itself is refused.
func TestReadStoreBytes(t *testing.T) {
	dict := must(NewFixedDict(false, DictField{Name: "a", Type: Scalar(KindInt8)}, DictField{Name: "b", Type: Scalar(KindString)}))
	maps := must(NewMap(Scalar(KindInt8), Scalar(KindInt8)))
	lists := must(NewArray(Scalar(KindBool), 0))
	mail := Scalar(KindMailbox)
	for _, c := range []struct {
		name  string
		typ   *DataType
		bytes string
		want  Value
		err   error
		text  string
	}{
		{"a number in more bytes than it needs", Scalar(KindInt8), "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", Int(-1), nil, ""},
		{"a NaN with a payload", Scalar(KindFloat64), "\xcb\x7f\xf8\x00\x00\x00\x00\x0b\xad", Float(math.NaN()), nil, ""},
		{"a long string head", Scalar(KindString), "\xdb\x00\x00\x00\x01x", StringValue("x"), nil, ""},
		{"a map in any order", maps, "\x82\x05\x01\xff\x02", List(Int(-1), Int(2), Int(5), Int(1)), nil, ""},
		{"a free value in another form", Scalar(KindAny), "\xd9\x01x", stringOf(isAny, "\xa1x"), nil, ""},
		{"unknown fields of any kind", dict, "\x84\xa1x\x93\x01\x80\x81\xc0\xc0\xa1b\xa1s\xa0\xcb12345678\xa1a\x03", List(Int(3), StringValue("s")), nil, ""},
		{"an empty dict", dict, "\x80", List(Int(0), StringValue("")), nil, ""},
		{"a field twice", dict, "\x82\xa1a\x01\xa1a\x01", Value{}, ErrValue, "field a comes twice"},
		{"a field's key of another kind", dict, "\x81\x01\x01", Value{}, ErrValue, "a whole number where a name is due"},
		{"a field's key as bytes", dict, "\x81\xc4\x01a\x01", Value{}, ErrValue, "binary where a name is due"},
		{"a key twice", maps, "\x82\x01\x01\x01\x02", Value{}, ErrValue, ""},
		{"a key twice in two forms", maps, "\x82\x01\x01\xd0\x01\x02", Value{}, ErrValue, ""},
		{"the wrong element", lists, "\x92\xc2\x01", Value{}, ErrValue, "element 1: property: value does not fit its type: a whole number is stored for a BOOL"},
		{"an extension", dict, "\x81\xa1x\xd4\x01\x00", Value{}, ErrValue, "extension"},
		{"a free value too deep", Scalar(KindAny), nested(MaxAnyDepth + 1), Value{}, ErrLength, ""},
		{"a free value too long", Scalar(KindAny), "\xc6\x00\x01\x00\x00" + strings.Repeat("x", 1<<16), Value{}, ErrLength, ""},
		{"a long blob", Scalar(KindBlob), "\xc6\x00\x04\x00\x01" + strings.Repeat("x", MaxString+1), Value{}, ErrLength, ""},
		{"the longest blob", Scalar(KindBlob), "\xc6\x00\x04\x00\x00" + strings.Repeat("x", MaxString), StringValue(strings.Repeat("x", MaxString)), nil, ""},
		{"a long list", lists, "\xdd\x00\x01\x00\x01" + strings.Repeat("\xc2", MaxList+1), Value{}, ErrLength, ""},
		{"a long map", maps, "\xdf\x00\x01\x00\x01" + strings.Repeat("\x00", 2*MaxList+2), Value{}, ErrLength, ""},
		{"a mailbox of five", mail, "\x95\x00\x00\x00\xc4\x00\x00", Value{}, ErrLength, ""},
		{"a mailbox with an odd address", mail, "\x96\x00\x00\x00\xc4\x02ab\x00\x00", Value{}, ErrValue, ""},
		{"a mailbox beyond entity ids", mail, "\x96\xcf\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\xc4\x00\x00\x00", Value{}, ErrValue, ""},
		{"a mailbox with a wide port", mail, "\x96\x00\x00\x00\xc4\x00\xce\x00\x01\x00\x00\x00", Value{}, ErrValue, ""},
		{"a mailbox with a wide kind", mail, "\x96\x00\x00\xcd\x01\x00\xc4\x00\x00\x00", Value{}, ErrValue, ""},
	} {
		got, rest, err := c.typ.ReadStore([]byte(c.bytes))
		if !errors.Is(err, c.err) || !strings.Contains(fmt.Sprint(err), c.text) || err == nil && (!Equal(got, c.want) || len(rest) != 0) ||
			err != nil && (len(rest) != len(c.bytes) || !got.IsNone()) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, got, err, c.want, c.err)
		}
	}
	for _, typ := range []*DataType{dict, maps, lists, mail, Scalar(KindAny), newMoney(), Scalar(KindInt8), Scalar(KindVec3), Scalar(KindString)} {
		for _, h := range hostileMsgpack {
			if _, _, err := typ.ReadStore([]byte(h.bytes)); err == nil {
				t.Errorf("%v from %s", typ, h.name)
			}
		}
	}
}

// What is allocated is bounded by the bytes, whatever they claim or leave out.
func TestStoreAllocation(t *testing.T) {
	var fields []DictField
	for i := range MaxDictFields {
		fields = append(fields, DictField{Name: fmt.Sprint("f", i), Type: Scalar(KindInt8)})
	}
	wide := must(NewArray(must(NewFixedDict(false, fields...)), 0))
	none := must(NewArray(must(NewFixedDict(true, fields...)), 0))
	repeat := func(n int, s string) string {
		return string(binary.BigEndian.AppendUint32([]byte{0xdd}, uint32(n))) + strings.Repeat(s, n)
	}
	for _, c := range []struct {
		name  string
		typ   *DataType
		bytes string
		limit uint64
		err   error
	}{
		{"hostile lengths", wide, "\xdd\xff\xff\xff\xff\x80\x80", 4 << 10, ErrTruncated},
		{"records that lack all fields, few", wide, repeat(1000, "\x80"), 32 << 20, nil},
		{"records that lack all fields, many", wide, repeat(MaxList, "\x80"), 130 << 20, ErrLength},
		{"records that are None", none, repeat(MaxList, "\xc0"), 8 << 20, nil},
	} {
		b := []byte(c.bytes)
		var err error
		got := allocated(func() { _, _, err = c.typ.ReadStore(b) })
		t.Logf("%s: %d bytes allocated for %d", c.name, got, len(b))
		if got > c.limit {
			t.Errorf("%s: %d bytes allocated for %d", c.name, got, len(b))
		}
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
	}
}

// Whatever the bytes are: an error, or a value that fits and comes back.
func FuzzReadStore(f *testing.F) {
	r := rand.New(rand.NewPCG(13, 0))
	types := append(storedTypes(r), must(NewFixedDict(true, DictField{Name: "t", Type: Scalar(KindInt8), Transient: true})))
	for i, typ := range types {
		for range 2 {
			b, err := typ.AppendStore(nil, randomStored(typ, r))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), b)
			f.Add(uint8(i+1), b) // most edits of a definition are smaller
		}
	}
	for _, h := range hostileMsgpack {
		if len(h.bytes) < 1000 {
			f.Add(uint8(len(h.bytes)), []byte(h.bytes))
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		typ := types[int(i)%len(types)]
		v, rest, err := typ.ReadStore(b)
		if err != nil {
			if len(rest) != len(b) || !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrLength) && !errors.Is(err, ErrValue) {
				t.Fatalf("%v: %d of %d bytes left, %v", typ, len(rest), len(b), err)
			}
			return
		}
		fit, err := typ.Fit(v)
		if err != nil || !Equal(fit, v) {
			t.Fatalf("%v: %v does not fit: %v", typ, v, err)
		}
		again, err := typ.AppendStore(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		w, left, err := typ.ReadStore(again)
		if err != nil || len(left) != 0 || !Equal(v, w) {
			t.Fatalf("%v: %v came back as %v, %v", typ, v, w, err)
		}
	})
}
