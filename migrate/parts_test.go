package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/property"
)

func part(tag Tag, body []byte) []byte {
	return AppendPart(nil, tag, func(b []byte) []byte { return append(b, body...) })
}

func each(parts []byte) (list []string, err error) {
	err = EachPart(parts, func(tag Tag, body []byte) error {
		list = append(list, fmt.Sprint(tag, len(body)))
		return nil
	})
	return list, err
}

func TestPartsRoundTrip(t *testing.T) {
	// The lengths lie on both sides of each size of the length field.
	for _, n := range []int{0, 1, 127, 128, 129, 16383, 16384, MaxParts / 2} {
		body := bytes.Repeat([]byte{0xa5}, n)
		b := AppendPart([]byte("before"), PropsPart, func(b []byte) []byte { return append(b, body...) })
		b = AppendPart(b, HauntsPart, func(b []byte) []byte { return append(b, "end"...) })
		var got [][]byte
		err := EachPart(b[len("before"):], func(tag Tag, body []byte) error {
			got = append(got, body)
			return nil
		})
		if err != nil || len(got) != 2 || !bytes.Equal(got[0], body) || string(got[1]) != "end" {
			t.Errorf("%d bytes: %d parts, error %v", n, len(got), err)
		}
	}
}

func TestPartsRefused(t *testing.T) {
	long := part(PropsPart, make([]byte, 200))
	for what, b := range map[string][]byte{
		"unsorted":  append(part(PropsPart, nil), part(CorePart, nil)...),
		"doubled":   append(part(PropsPart, nil), part(PropsPart, nil)...),
		"unknown":   part(lastTag, nil),
		"zero":      part(0, nil),
		"no length": {byte(PropsPart)},
		"truncated": long[:100],
		"too long":  part(PropsPart, make([]byte, MaxParts+1)),
	} {
		if _, err := each(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	stop := errors.New("stop")
	err := EachPart(part(FlowsPart, nil), func(Tag, []byte) error { return stop })
	if !errors.Is(err, stop) || err.Error() != "flows: stop" {
		t.Errorf("the part's error is %v", err)
	}
}

func TestTagString(t *testing.T) {
	for tag, want := range map[Tag]string{CorePart: "core", HauntsPart: "haunts", 0: "part(0)", 99: "part(99)"} {
		if tag.String() != want {
			t.Errorf("%d is %q, want %q", uint8(tag), tag, want)
		}
	}
}

func TestCore(t *testing.T) {
	c := Core{MoveStamp: 9, Position: property.Vector3{X: 1, Y: 2, Z: 3}, Direction: property.Vector3{X: 4}}
	var got Core
	if err := got.Parse(c.Append(nil)); err != nil || got != c {
		t.Errorf("%+v, error %v", got, err)
	}
	for _, b := range [][]byte{nil, c.Append(nil)[1:], append(c.Append(nil), 0)} {
		if err := got.Parse(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x: error %v", b, err)
		}
	}
}

func TestAppendFirst(t *testing.T) {
	s, err := property.NewSchema(&property.Definition{Name: "Rock", HasCell: true, Properties: []*property.Property{
		{Name: "size", Type: property.Scalar(property.KindUint32), Flags: property.CellPrivate},
	}})
	if err != nil {
		t.Fatal(err)
	}
	v := property.NewValues(s.Type("Rock"), property.CellSide, nil)
	list, err := each(AppendFirst(nil, property.Vector3{}, property.Vector3{}, v, nil))
	if err != nil || fmt.Sprint(list) != "[core 26 props 4]" {
		t.Errorf("%v, error %v", list, err)
	}
}

func FuzzEachPart(f *testing.F) {
	f.Add(append(part(CorePart, []byte{1}), part(HauntsPart, []byte{2})...))
	f.Add(append(part(PropsPart, nil), part(CorePart, nil)...))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		last, size := Tag(0), 0
		var again []byte
		err := EachPart(b, func(tag Tag, body []byte) error {
			if tag <= last {
				t.Fatalf("%v after %v", tag, last)
			}
			last, size = tag, size+len(body)
			again = append(again, part(tag, body)...)
			return nil
		})
		if size > len(b) {
			t.Fatalf("%d bytes of bodies in %d", size, len(b))
		}
		if err == nil && !bytes.Equal(again, b) {
			t.Fatalf("%x is written as %x", b, again)
		}
	})
}
