package property

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// clock is a user type for tests: an hour of the day, stored as a record.
type clock struct{}

var clockStore = must(NewFixedDict(false, DictField{Name: "hour", Type: Scalar(KindUint8)}))

func (clock) Default() uint8                           { return 12 }
func (clock) Append(b []byte, h uint8) ([]byte, error) { return append(b, h), nil }
func (clock) StoreType() *DataType                     { return clockStore }
func (clock) ToStore(h uint8) (Value, error)           { return List(Uint(uint64(h))), nil }
func (clock) Read(b []byte) (uint8, []byte, error) {
	if len(b) == 0 {
		return 0, b, ErrTruncated
	}
	if b[0] > 23 {
		return 0, b, fmt.Errorf("%w: hour %d", ErrValue, b[0])
	}
	return b[0], b[1:], nil
}
func (clock) FromStore(v Value) (uint8, error) {
	h := v.At(0).Uint()
	if h > 23 {
		return 0, fmt.Errorf("%w: hour %d", ErrValue, h)
	}
	return uint8(h), nil
}

func clockType() *DataType { return must(NewUserType("clock", clock{})) }

func anyValue(t testing.TB, x any) Value {
	t.Helper()
	v, err := AnyValue(x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func hour(t testing.TB, h uint64) Value {
	t.Helper()
	v, err := clockType().user.fromStore(List(Uint(h)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Values of the kinds whose text is not obvious.
func TestText(t *testing.T) {
	pair := must(NewMap(Scalar(KindString), must(NewArray(Scalar(KindInt8), 0))))
	for _, c := range []struct {
		typ  *DataType
		v    Value
		want string
	}{
		{Scalar(KindString), StringValue("a <b> & \"c\""), `a &lt;b&gt; &amp; &#34;c&#34;`},
		{Scalar(KindString), StringValue(" spaced "), "<base64>IHNwYWNlZCA=</base64>"},
		{Scalar(KindString), StringValue("a\r\nb"), "a&#xD;&#xA;b"},
		{Scalar(KindString), StringValue("\xff"), "<base64>/w==</base64>"},
		{Scalar(KindFloat32), Float(math.Inf(-1)), "-Inf"},
		{Scalar(KindVec2), Vec2(Vector2{1, -0.5}), "1 -0.5"},
		{pair, List(StringValue("x"), List(Int(1), Int(2))), "<item><key>x</key><value><item>1</item><item>2</item></value></item>"},
		{clockType(), hour(t, 7), "<hour>7</hour>"},
		{Scalar(KindAny), anyValue(t, nil), "null"},
		{Scalar(KindAny), anyValue(t, []any{int64(-1), true, "x", map[string]any{"a": nil}}), `[-1,true,&#34;x&#34;,{&#34;a&#34;:null}]`},
	} {
		text, err := c.typ.AppendText(nil, c.v)
		if err != nil || string(text) != c.want {
			t.Errorf("%v is written %s, want %s (%v)", c.typ, text, c.want, err)
		}
		if v, err := c.typ.ParseText(text); err != nil || !Equal(v, c.v) {
			t.Errorf("%s is read as %v, want %v (%v)", text, v, c.v, err)
		}
	}
}

// Whatever a value is, its text brings it back.
func TestTextRoundTrip(t *testing.T) {
	const seed = 9
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, typ := range allTypes() {
		if typ.kind == KindMap || typ.kind == KindAny || typ.kind == KindUser {
			continue // randomValue may not know them; TestText has examples, FuzzText many more
		}
		for range 100 {
			v := randomValue(typ, r)
			text, err := typ.AppendText(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := typ.ParseText(text); err != nil || !Equal(got, v) {
				t.Fatalf("%v: %s is read as %v, want %v (%v)", typ, text, got, v, err)
			}
		}
	}
}

func TestParseTextRefuses(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
	}{
		{KindInt8, "300"}, {KindInt8, "1</Default><Default>2"}, {KindInt8, `<x/>1`}, {KindString, "<base64>?</base64>"}, {KindUnicodeString, "<base64>/w==</base64>"},
		{KindString, `<base64 x="1"></base64>`}, {KindMailbox, "1 2 3"}, {KindMailbox, "1 2 3 here 5 6"}, {KindMailbox, "1 99999 3 - 5 6"},
		{KindAny, "{"}, {KindAny, "1 2"}, {KindAny, `{"a":1,"a":2}`}, {KindAny, strings.Repeat("[", 500) + strings.Repeat("]", 500)}, {KindAny, "1e999"},
	} {
		if v, err := Scalar(c.kind).ParseText([]byte(c.text)); err == nil {
			t.Errorf("%v: %s is read as %v", c.kind, c.text, v)
		}
	}
	if _, err := Scalar(KindString).ParseText(make([]byte, MaxFileSize+1)); fmt.Sprint(err) != "text is longer than 1048576 bytes; shorten the value" {
		t.Error(err)
	}
}

// A USER_TYPE is the one that the program gives for its name; its default is stated in the form
// that the store keeps.
func TestUserTypes(t *testing.T) {
	text := func(h string) string {
		return one("<Properties>\n<p> <Type> USER_TYPE <implementedBy> clock.inst </implementedBy> </Type> <Flags> ALL_CLIENTS </Flags> <Default> <hour> " + h + " </hour> </Default> </p>\n</Properties>")
	}
	o := Options{UserTypes: map[string]*DataType{"clock.inst": clockType()}}
	s, err := LoadWith(tree(text("7")), o)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Types[0].Property("p"); !Equal(p.Default, hour(t, 7)) || p.Type.UserName() != "clock" {
		t.Errorf("%+v", p)
	}
	if p := s.Types[0].Properties[0]; p.Type.DefaultText(p.Default) != "<hour>7</hour>" {
		t.Errorf("%+v", p)
	}
	_, err = LoadWith(tree(text("25")), o)
	want := "entity_defs/A.def:3: Properties/p/Default: clock refuses the value: property: value does not fit its type: USER_TYPE clock from the store: property: value does not fit its type: hour 25; state a value that it takes"
	if fmt.Sprint(err) != want {
		t.Errorf("%v", err)
	}
}

func FuzzText(f *testing.F) {
	types := append(allTypes(), must(NewMap(Scalar(KindString), Scalar(KindAny))), Scalar(KindAny), clockType())
	f.Add(uint8(0), "12")
	f.Add(uint8(len(types)-1), "<hour>3</hour>")
	f.Add(uint8(len(types)-2), `{"x":[1,2.5,null,"s"]}`)
	f.Add(uint8(len(types)-3), "<item><key>a</key><value>1</value></item>")
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		typ := types[int(n)%len(types)]
		v, err := typ.ParseText([]byte(text))
		if err != nil {
			return
		}
		again, err := typ.AppendText(nil, v)
		if err != nil {
			t.Fatalf("%v: %v cannot be written: %v", typ, v, err)
		}
		if w, err := typ.ParseText(again); err != nil || !Equal(v, w) {
			t.Fatalf("%v: %s came back as %v: %v", typ, again, w, err)
		}
	})
}
