package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
	spaces "github.com/cellscape/cellscape/space"
)

func gatewayTo(there entity.SpaceID) []byte {
	g := spaces.Gateway{Near: spaces.GatewayEnd{Space: there, Area: bsp.Around(0, 0, 5)}, Far: spaces.GatewayEnd{Space: 1, Area: bsp.Around(0, 0, 5)}}
	return g.Append(nil)
}

func (r *rig) gateways(space entity.SpaceID) (n int) {
	for _, e := range r.m.space(space).data.entries {
		if e.Key == spacekey.Gateway && !e.Removed {
			n++
		}
	}
	return n
}

// A dungeon that ends takes its gateway out of the town, and all cells there are told. What a cell of
// the dungeon says too late is refused. (A town was full of gateways that led nowhere after 64 dungeons,
// and showed no new one.)
func TestGatewaysEndWithTheirSpace(t *testing.T) {
	r, a, base := roomRig(t, nil)
	said := uint64(0)
	open := func(id entity.SpaceID, gateway entity.DataID) {
		for _, s := range []entity.SpaceID{id, 1} {
			said++
			a.send(&wire.SetSpaceData{Space: s, Key: spacekey.Gateway, ID: gateway, Value: gatewayTo(id), Said: said})
		}
	}
	for i := range entity.DataID(3 * spaces.MaxGateways) {
		id := base.ask(uint64(i+1), aRoom()).Space
		cell := a.confirm()[0].Cell
		open(id, i+1)
		if r.gateways(1) != 1 || r.gateways(id) != 1 {
			t.Fatalf("dungeon %d: the town has %d gateways, the dungeon %d", i, r.gateways(1), r.gateways(id))
		}
		take[wire.SpaceData](a)
		base.destroy(id)
		if told := one[wire.SpaceData](a); told.Space != 1 || !told.Entry.Removed || told.Entry.ID != i+1 || told.Entry.Key != spacekey.Gateway {
			t.Fatalf("the town is told %+v", told)
		}
		refused := r.m.Counts().RefusedData
		open(id, i+1000)
		a.send(&wire.CellRemoved{Space: id, Cell: cell})
		open(id, i+2000)
		if n := r.gateways(1); n != 0 || r.m.Counts().RefusedData != refused+3 {
			t.Fatalf("the town has %d gateways to a dungeon that has ended; %d were refused", n, r.m.Counts().RefusedData-refused)
		}
	}
}

// A space takes so many gateways, and the one that is too many is refused by the manager, which says so.
func TestTooManyGateways(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, aRoom()).Space
	set := func(gateway, said uint64) {
		a.send(&wire.SetSpaceData{Space: 1, Key: spacekey.Gateway, ID: entity.DataID(gateway), Value: gatewayTo(id), Said: said})
	}
	for i := range uint64(spaces.MaxGateways) {
		set(i+1, i+1)
	}
	set(7, 100) // again
	if n := r.gateways(1); n != spaces.MaxGateways || r.m.Counts().RefusedData != 0 {
		t.Errorf("%d gateways, %d were refused", n, r.m.Counts().RefusedData)
	}
	set(1000, 101)
	if n := r.gateways(1); n != spaces.MaxGateways || r.m.Counts().RefusedData != 1 {
		t.Errorf("%d gateways, %d were refused", n, r.m.Counts().RefusedData)
	}
	r.logged("space data is full")
}

// The next manager takes out what leads to a space that nobody has any more.
func TestGatewaysOfAnEarlierManager(t *testing.T) {
	r := next(t, nil)
	gone := entity.SpaceID(1<<24 | 7)
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, has(1, r.before(7, 0, true), wire.SpaceDataEntry{Number: 3, Key: spacekey.Gateway, ID: 9, Value: gatewayTo(gone)}))
	r.pass(2100 * time.Millisecond)
	if n := r.gateways(1); n != 0 {
		t.Errorf("there are %d gateways to a space that is not there", n)
	}
	told := false
	for _, m := range take[wire.SpaceData](a) {
		told = told || m.Entry.Removed && m.Entry.ID == 9
	}
	if !told {
		t.Error("the town was not told")
	}
}
