package codec

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// everything has a field of each kind.
type everything struct {
	A     uint8
	B     uint16
	C     uint32
	D     uint64
	E     float64
	F     bool
	G     uint64
	S     int64
	H     uint32
	I     role
	Bytes []byte
	Text  string
	Array [3]byte
	List  []uint32
	Rest  []byte
}

type role uint8

func (m *everything) code(c *Coder) {
	c.U8(&m.A)
	c.U16(&m.B)
	c.U32(&m.C)
	c.U64(&m.D)
	c.F64(&m.E)
	c.Bool(&m.F)
	c.Uvarint(&m.G)
	c.Varint(&m.S)
	Uint32(c, &m.H)
	Enum(c, &m.I, 1, 3)
	c.Bytes(&m.Bytes, 4)
	c.String(&m.Text, 4)
	c.Array(m.Array[:])
	List(c, &m.List, 3, 1, Uint32[uint32])
	c.Rest(&m.Rest, 4)
}

func sample() *everything {
	return &everything{A: 1, B: 2, C: 3, D: 4, E: 5, F: true, G: 1 << 63, S: -1 << 63, H: 1<<32 - 1, I: 3, Bytes: []byte("abcd"),
		Text: "efgh", Array: [3]byte{7, 8, 9}, List: []uint32{1, 1 << 30, 3}, Rest: []byte("rest")}
}

func TestCoderRoundTrip(t *testing.T) {
	want := sample()
	b := Append([]byte("before"), want.code)
	if !bytes.HasPrefix(b, []byte("before")) {
		t.Fatal("Append does not append")
	}
	b = b[len("before"):]
	got := everything{List: make([]uint32, 9), Rest: []byte("of another")}
	kept := got.List
	if err := Parse(b, got.code); err != nil || !reflect.DeepEqual(&got, want) {
		t.Errorf("%v: read %+v, written was %+v", err, got, want)
	}
	if kept[0] != 0 {
		t.Error("the list of another message is written to")
	}
	for n := range len(b) - len(want.Rest) {
		if err := Parse(b[:n], new(everything).code); !errors.Is(err, ErrShort) {
			t.Errorf("%d of %d bytes: %v", n, len(b), err)
		}
	}
}

func TestCoderFaults(t *testing.T) {
	for name, f := range map[string]struct {
		spoil func(*everything)
		want  error
	}{
		"bytes above their limit": {func(m *everything) { m.Bytes = make([]byte, 5) }, ErrLength},
		"a string above its":      {func(m *everything) { m.Text = "hello" }, ErrLength},
		"a list above its":        {func(m *everything) { m.List = make([]uint32, 4) }, ErrLength},
		"a rest above its":        {func(m *everything) { m.Rest = make([]byte, 5) }, ErrLength},
		"a value too high":        {func(m *everything) { m.I = 4 }, ErrValue},
		"a value too low":         {func(m *everything) { m.I = 0 }, ErrValue},
	} {
		m := sample()
		f.spoil(m)
		if err := Parse(Append(nil, m.code), new(everything).code); !errors.Is(err, f.want) {
			t.Errorf("%s: %v, want %v", name, err, f.want)
		}
	}
	wide := uint64(1) << 32
	narrow := uint32(0)
	err := Parse(Append(nil, func(c *Coder) { c.Uvarint(&wide) }), func(c *Coder) { Uint32(c, &narrow) })
	if !errors.Is(err, ErrValue) || narrow != 0 {
		t.Errorf("a number of 33 bits: %d, %v", narrow, err)
	}
	var byte1 uint8
	if err := Parse([]byte{1, 2}, func(c *Coder) { c.U8(&byte1) }); !errors.Is(err, ErrTrailing) {
		t.Errorf("a byte left over: %v", err)
	}
}

func TestErrorsNameTheMessage(t *testing.T) {
	malformed := errors.New("malformed")
	code := func(c *Coder) { c.U8(new(uint8)) }
	r := NewReader([]byte{1, 2})
	r.U8()
	for what, err := range map[string]error{
		"*codec.everything": ParseAs(malformed, []byte{1, 2}, new(everything), code),
		"greeting":          r.CloseAs(malformed, "greeting"),
	} {
		if !errors.Is(err, malformed) || !errors.Is(err, ErrTrailing) || !strings.Contains(err.Error(), what) {
			t.Errorf("a byte left over of %s: %v", what, err)
		}
	}
	r = NewReader(nil)
	if err := errors.Join(ParseAs(malformed, []byte{1}, new(everything), code), r.CloseAs(malformed, "nothing")); err != nil {
		t.Errorf("nothing is wrong: %v", err)
	}
}
