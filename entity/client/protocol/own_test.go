package protocol_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/mercury/download"
	"github.com/cellscape/cellscape/property"
)

// ownType has properties of all sizes, and more of one than there are ids.
func ownType(t testing.TB) *property.Definition {
	t.Helper()
	u8 := property.Scalar(property.KindUint8)
	colour, err := property.NewArray(u8, 3)
	if err != nil {
		t.Fatal(err)
	}
	d := &property.Definition{Name: "A", HasCell: true, HasBase: true, HasClient: true}
	add := func(name string, typ *property.DataType, flags property.Flags) {
		d.Properties = append(d.Properties, &property.Property{Name: name, Type: typ, Flags: flags})
	}
	add("server", u8, property.CellPrivate)
	add("name", property.Scalar(property.KindString), property.AllClients)
	add("gold", property.Scalar(property.KindInt32), property.BaseAndClient)
	add("at", property.Scalar(property.KindVec3), property.OwnClient)
	add("colour", colour, property.AllClients)
	add("wide", property.Scalar(property.KindInt64), property.OwnClient)
	add("short", property.Scalar(property.KindInt16), property.OwnClient)
	add("hp", property.Scalar(property.KindInt32), property.AllClients)
	for i := range 20 {
		add(fmt.Sprint("n", i), u8, property.OwnClient)
	}
	s, err := property.NewSchema(d)
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

// This states what a change of an own property takes on the wire. It was 7 bytes for an INT32, 4 for a
// UINT8, 15 for a VECTOR3.
func TestBytesOfOwnValues(t *testing.T) {
	d := ownType(t)
	for name, want := range map[string]int{"gold": 5, "hp": 5, "at": 13, "colour": 4, "wide": 9, "short": 3, "n0": 2, "n15": 2, "n16": 0, "name": 0, "server": 0} {
		p := d.Property(name)
		side := property.CellSide
		if p.Flags&property.OnBase != 0 {
			side = property.BaseSide
		}
		v := property.NewValues(d, side, nil)
		b, ok := protocol.AppendOwnValue([]byte{9}, v, &property.Change{Index: p.Index})
		if len(b)-1 != want || ok != (want > 0) || download.Is(b[1:]) {
			t.Errorf("%s takes %d bytes, want %d: %x", name, len(b)-1, want, b)
		}
		if !ok {
			continue
		}
		whole, mark := protocol.Begin(nil, protocol.OwnPropertyID)
		whole = protocol.End(protocol.AppendChange(whole, v, &property.Change{Index: p.Index}), mark)
		if len(whole) != want+2 {
			t.Errorf("%s takes %d bytes as an OwnProperty", name, len(whole))
		}
		n := 0
		b, _ = protocol.AppendOwnValue(b[1:], v, &property.Change{Index: p.Index})
		err := protocol.Messages(protocol.AppendReset(b), func(id protocol.ID, body []byte) error {
			if n++; n == 3 {
				return nil
			}
			q, got, err := protocol.OwnValue(d, id, body)
			if err == nil && (q != p || !property.Equal(got, v.Get(p.Index))) {
				t.Errorf("%s was read as %s, %v", name, q.Name, got)
			}
			return err
		})
		if err != nil || n != 3 {
			t.Errorf("%s: %d messages, %v", name, n, err)
		}
	}
	list := property.Change{Index: d.Property("colour").Index, Path: []int{1}}
	if _, ok := protocol.AppendOwnValue(nil, property.NewValues(d, property.CellSide, nil), &list); ok {
		t.Error("a part is sent as a whole")
	}
}

func TestMalformedOwnValues(t *testing.T) {
	d := ownType(t)
	for id := range 256 {
		p, _, err := protocol.OwnValue(d, protocol.ID(id), make([]byte, 100))
		if p != nil || !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("id %d with too much: %v %v", id, p, err)
		}
		if _, _, err = protocol.OwnValue(d, protocol.ID(id), nil); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("id %d without a value: %v", id, err)
		}
		if protocol.IsOwnValue(protocol.ID(id)) != (id >= 128 && id>>4 != 0xB) {
			t.Errorf("id %d is a value: %v", id, protocol.IsOwnValue(protocol.ID(id)))
		}
		if err := protocol.Messages([]byte{byte(id)}, nil); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("id %d, cut short: %v", id, err)
		}
	}
}
