package migrate

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

func library(t *testing.T, c property.Compression, text string) *property.Values {
	t.Helper()
	d := &property.Definition{Name: "Library", HasCell: true, Compression: c}
	for _, name := range []string{"a", "b", "c", "d"} {
		d.Properties = append(d.Properties, &property.Property{Name: name, Type: property.Scalar(property.KindString), Flags: property.CellPrivate})
	}
	s, err := property.NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	v := property.NewValues(s.Type("Library"), property.CellSide, nil)
	for i := range d.Properties {
		if err := v.Set(i, property.StringValue(text)); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func TestPackedProps(t *testing.T) {
	text := strings.Repeat("long ago and far away ", 20)
	for _, c := range []struct {
		compression property.Compression
		most        int
	}{{property.Compression{}, 4*len(text) + 40}, {property.Compression{External: "ZIP"}, 4*len(text) + 40}, {property.Compression{Internal: "ZIP_BEST_SPEED"}, 200}} {
		v, z := library(t, c.compression, text), new(property.Compressor)
		parts := AppendFirst(nil, property.Vector3{}, property.Vector3{}, v, z)
		if len(parts) > c.most || c.most > 4*len(text) && len(parts) < 4*len(text) {
			t.Errorf("%v: %d bytes", c.compression, len(parts))
		}
		got := library(t, c.compression, "")
		err := EachPart(parts, func(tag Tag, body []byte) error {
			if tag == PropsPart {
				return ReadProps(body, got, z)
			}
			return nil
		})
		want := v.AppendStream(nil, property.CellStream)
		if err != nil || !bytes.Equal(got.AppendStream(nil, property.CellStream), want) {
			t.Errorf("%v: not what was packed, error %v", c.compression, err)
		}
	}
}

// What no reader would unpack is not packed: whoever asks for the size of the parts must see it.
func TestPackedPropsAboveLimit(t *testing.T) {
	z := new(property.Compressor)
	v := library(t, property.Compression{Internal: "ZIP"}, strings.Repeat("x", MaxParts/4))
	if n := len(AppendProps(nil, v, z)); n <= MaxParts {
		t.Errorf("%d bytes", n)
	}
	v = library(t, property.Compression{Internal: "ZIP"}, strings.Repeat("x", MaxParts/4-8))
	if n := len(AppendProps(nil, v, z)); n > MaxParts/50 {
		t.Errorf("below the limit: %d bytes", n)
	}
}

func TestReadPropsRefuses(t *testing.T) {
	z := new(property.Compressor)
	v := library(t, property.Compression{Internal: "ZIP"}, "as it was")
	was := v.AppendStream(nil, property.CellStream)
	for name, body := range map[string][]byte{
		"nothing":  nil,
		"plain":    was,
		"bomb":     z.Pack(nil, make([]byte, 1<<20), 9, 1<<20),
		"trailing": append(z.AppendStream(nil, v, property.CellStream, MaxParts), 0),
	} {
		if err := ReadProps(body, v, z); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if !bytes.Equal(v.AppendStream(nil, property.CellStream), was) {
		t.Error("values changed")
	}
}
