package space

import (
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// A full space refuses who is teleported to it, made in it or spawned, each with a name, and counts them.
// It keeps whom it has, and takes whoever is restored.
func TestFullSpace(t *testing.T) {
	r := newRig(t, 2)
	room := r.room(2, 2)
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	if err := room.SetMaxEntities(2); err != nil {
		t.Fatal(err)
	}
	for _, e := range r.apps[1].cell.data.entries { // the rig tells the first cells only
		room.data.set(e)
	}
	if n := room.MaxEntities(); n != 2 {
		t.Fatalf("it takes %d", n)
	}
	r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 1)
	r.tick(3)
	r.stands(7, 2, 2, 9)
	if _, err := room.Spawn("Rock", at(1), property.Vector3{}, nil); err != nil {
		t.Fatal(err)
	}
	r.teleport(8, entity.Destination{Space: 2, Position: at(9)}, 2)
	r.teleport(7, entity.Destination{Position: at(19)}, 3)
	r.tick(3)
	r.stands(8, 1, 1, -30)
	r.stands(7, 2, 2, 19)
	r.diary(8, "created;client true;teleport 2;leaving;entering;entered;stays 2: full;")
	if _, err := room.Spawn("Rock", at(1), property.Vector3{}, nil); !errors.Is(err, ErrFull) {
		t.Errorf("spawned with %v", err)
	}
	r.clean()
	r.spawnNear(8, SpawnInfo{Near: r.near(7)}, 4)
	r.tick(3)
	r.diary(8, "spawn 4: create: full: "+ErrFull.Error()+";")

	d := r.scripts.Schema().Type("Avatar")
	parts := migrate.AppendFirst(nil, at(3), property.Vector3{}, property.NewValues(d, property.CellSide, nil), nil)
	create := migrate.Create{ID: 9, Type: d.ID, Space: 2, Order: entity.Order{Incarnation: 1}, Base: r.base, Title: 5, Parts: parts}
	r.bases[9] = &testBase{order: create.Order, app: addr(2)}
	r.queue = append(r.queue, packet{r.base, addr(2), &create})
	r.pump()
	if list := r.bases[9].lost; r.real(9) != nil || len(list) != 1 || list[0].Code != placement.Full || list[0].Title != 5 {
		t.Errorf("its base heard %+v", list)
	}
	if n := r.apps[1].count.TurnedAway; n != 4 {
		t.Errorf("%d were turned away, want 4", n)
	}
	create.Order.Incarnation, create.Restored = 2, true
	r.bases[9].order = create.Order
	r.queue = append(r.queue, packet{r.base, addr(2), &create})
	r.pump()
	if r.real(9) == nil {
		t.Error("it was not restored")
	}
}

// A space of several cells is full when the manager says so, whatever one of them has. Its own entities go
// from cell to cell, on foot and by teleport.
func TestFullSpaceOfSeveralCells(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -20, 1)
	if err := r.real(7).SetMaxEntities(3); err != nil {
		t.Fatal(err)
	}
	r.spawn(-30)
	r.apps[0].SetSpaceData(1, entity.SpaceDatum{Key: spacekey.Full})
	if _, err := r.apps[1].cell.Spawn("Rock", at(300), property.Vector3{}, nil); !errors.Is(err, ErrFull) {
		t.Errorf("spawned with %v", err)
	}
	r.teleport(7, entity.Destination{Position: at(300)}, 1)
	r.tick(3)
	r.stands(7, 2, 1, 300)
	r.move(7, -300)
	r.tick(10)
	r.stands(7, 1, 1, -300)
	r.apps[0].SetSpaceData(1, entity.SpaceDatum{Key: spacekey.Full, Removed: true})
	r.spawn(300)
	if err := r.real(7).SetMaxEntities(spacekey.MostMaxEntities + 1); err == nil {
		t.Error("it takes everyone")
	}
	if err := r.real(7).SetMaxEntities(0); err != nil || r.real(7).cell.MaxEntities() != 0 {
		t.Errorf("%d, %v", r.real(7).cell.MaxEntities(), err)
	}
	r.calm()
}
