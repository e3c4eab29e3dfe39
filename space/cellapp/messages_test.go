package cellapp

import (
	"reflect"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space"
)

// A CellApp takes exactly the messages that the table gives it.
func TestTakes(t *testing.T) {
	if differ := newRig(t).app.routes.Check(wire.CellApp); len(differ) > 0 {
		t.Errorf("the routes of the CellApp and the table differ: %v", differ)
	}
}

// spoil overwrites a handled message and all that its slices hold, as the next message of its type
// and the transport would. The rig does so with every message, so any test of this package notices
// a handler that keeps a part of one.
func spoil(m wire.Message) { spoilValue(reflect.ValueOf(m).Elem()) }

func spoilValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				spoilValue(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoilValue(v.Index(i))
		}
	case reflect.Uint8:
		v.SetUint(0xaa)
	default:
		v.SetZero()
	}
}

// view returns the entity as the CellApp has it.
func (r *rig) view(id entity.ID) space.View {
	r.t.Helper()
	for c := range r.app.Cells() {
		for v := range c.Views() {
			if v.ID() == id {
				return v
			}
		}
	}
	r.t.Fatalf("no entity %d here", id)
	return space.View{}
}

// A ghost keeps what the Updates said, in all parts, long after they were handled. A space keeps
// its data, and a removal its peers.
func TestNothingOfAMessageIsKept(t *testing.T) {
	r := newRig(t)
	r.world()
	d := r.app.cfg.Scripts.Schema().Type("Walker")
	real := ghost.New(8, d).Entity
	real.Base, real.Space, real.Order = addr(3), 1, entity.Order{Incarnation: 1}
	head := ghost.Head{ID: 8, Order: real.Order, Sequence: 1}
	r.from(addr(2), &ghost.State{
		Head: head, Type: d.ID, Space: 1, Base: addr(3), Props: new(property.Compressor).AppendStream(nil, real.Props, property.GhostStream, ghost.MaxProps), History: real.History.Append(nil),
	})
	for n := uint32(1); n < 4; n++ {
		m := ghost.Update{Head: head, After: head.Sequence}
		m.Sequence++
		for range n {
			m.Changes = append(m.Changes, ghost.Change{Number: real.History.Add(0, []byte{1, byte(n)}), Event: true, Payload: []byte{1, byte(n)}})
		}
		head = m.Head
		r.from(addr(2), &m)
	}
	want, _ := ghost.Sum(real, nil)
	if v := r.view(8); v.Sum() != want || v.LastEvent() != real.History.Last() || v.Home() != addr(2) {
		t.Errorf("the ghost has %d events, its real %d", v.LastEvent(), real.History.Last())
	}

	r.manage(&wire.SpaceData{Space: 1, Entry: space.DataEntry{Number: 2, Key: 6, Value: []byte("told")}})
	for key, want := range map[uint16]string{5: "\x01", 6: "told"} {
		if e, _ := r.app.cell(1).Data(key); string(e.Value) != want {
			t.Errorf("space data %d is %q, want %q", key, e.Value, want)
		}
	}
	if info := r.app.cell(1).report().Info; string(info) != "info" {
		t.Errorf("the info of the space is %q", info)
	}

	r.manage(&wire.RemoveCell{Space: 1, Cell: r.app.cell(1).ID(), Peers: []mercury.Address{addr(4), addr(5)}})
	if w := r.app.removals.own[0].waiting; len(w) != 2 || w[0] != addr(4) || w[1] != addr(5) {
		t.Errorf("the removal waits for %v", w)
	}
}

// here reports whether the CellApp has the entity, real or ghost.
func (r *rig) here(id entity.ID) bool {
	_, here := r.app.population.Base(id)
	return here
}
