package ghost

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

func refusedDefinition(t testing.TB) *property.Definition {
	t.Helper()
	s, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasClient: true, Properties: []*property.Property{
		{Name: "hp", Type: property.Scalar(property.KindInt8), Flags: property.AllClients},
		{Name: "secret", Type: property.Scalar(property.KindInt8), Flags: property.CellPublic}}})
	if err != nil {
		t.Fatal(err)
	}
	return s.Types[0]
}

// A history whose numbers are used up comes from a broken real. The change after it is an error,
// not a panic.
func TestUpdateAfterTheLastNumber(t *testing.T) {
	d := refusedDefinition(t)
	g := New(7, d)
	order := entity.Order{Incarnation: 1}
	history := binary.AppendUvarint(nil, math.MaxUint32) // last
	history = append(history, 0, 0, 0)                   // lost, stamp of hp, no events
	props := property.NewValues(d, property.GhostSide, nil).AppendStream(nil, property.GhostStream)
	state := State{Head: Head{ID: 7, Order: order, Sequence: 1}, Type: d.ID, Props: props, History: history}
	if v, err := g.TakeState(&state, mercury.Address{}, 1, nil); v != Taken || err != nil {
		t.Fatal(v, err)
	}
	for _, c := range []Change{{Number: 0, Index: 0, Payload: []byte{0, 5}}, {Number: 1, Index: 0, Payload: []byte{0, 5}},
		{Number: math.MaxUint32, Index: 0, Payload: []byte{0, 5}}} {
		state.Sequence++
		u := Update{Head: state.Head, Changes: []Change{c}}
		if _, err := g.TakeUpdate(&u, 1); !errors.Is(err, property.ErrEventGap) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	state.Sequence++ // changes without numbers go on
	u := Update{Head: state.Head, Changes: []Change{{Index: 1, Payload: []byte{0, 5}}}}
	if _, err := g.TakeUpdate(&u, 1); err != nil || g.Entity.Props.Get(1).Int() != 5 {
		t.Error(err)
	}
}

// After an error nothing of a State has been taken: if values were newer than the stamps, parts of
// the next change would be made twice.
func TestBadStateChangesNothing(t *testing.T) {
	d := refusedDefinition(t)
	real := property.NewValues(d, property.CellSide, nil)
	if err := real.Set(0, property.Int(5)); err != nil {
		t.Fatal(err)
	}
	g := New(7, d)
	m := State{Head: Head{ID: 7, Order: entity.Order{Incarnation: 1}, Sequence: 1}, Type: d.ID,
		Props: append(real.AppendStream(nil, property.GhostStream), 0), History: property.NewHistory(d).Append(nil)}
	if _, err := g.TakeState(&m, mercury.Address{}, 1, nil); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	if got := g.Entity.Props.Get(0); got.Int() != 0 {
		t.Errorf("hp is %v after an error", got)
	}
}
