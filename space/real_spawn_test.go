package space

import (
	"errors"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/property"
)

// near is the mailbox of an avatar's cell part.
func (r *rig) near(id entity.ID) property.Mailbox { return r.real(id).MailboxValue() }

func (r *rig) spawnNear(asker entity.ID, info SpawnInfo, user int64) {
	r.t.Helper()
	if info.Type == "" {
		info.Type = "Avatar"
	}
	if err := r.real(asker).SpawnNear(info, "OnSpawned", user); err != nil {
		r.t.Fatal(err)
	}
}

// An entity is made near another one: on the same cell, on another, in another space, near one that has
// no base, and near the one that asks. The mailbox in the answer reaches it.
func TestSpawnNear(t *testing.T) {
	r := newRig(t, 3)
	room := r.room(2, 2)
	r.create(9, -60, 1)
	r.two()
	rock := r.spawn(310).ID()
	inRoom, err := room.Spawn("Avatar", at(5), property.Vector3{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	hp := func(v *property.Values) { _ = v.Set(hpProp, property.Uint(4)) }
	for i, c := range []struct {
		near  entity.ID
		app   int
		in    entity.SpaceID
		wantX float32
	}{{8, 2, 1, 302}, {9, 1, 1, -58}, {rock, 2, 1, 312}, {inRoom, 2, 2, 7}, {7, 1, 1, -48}} {
		r.clean()
		r.avatar(7).spawned = nil
		r.spawnNear(7, SpawnInfo{Near: r.near(c.near), Position: at(2), Direction: property.Vector3{Y: 1}, Init: hp}, int64(i))
		r.tick(3)
		if n := len(r.avatar(7).spawned); n != 1 {
			t.Fatalf("near %v: told of %d, %q", c.near, n, r.avatar(7).Diary.Get())
		}
		made := r.avatar(7).spawned[0]
		id := entity.ID(made.Entity)
		r.stands(id, c.app, c.in, c.wantX)
		if a := r.avatar(id); a.Hp.Get() != 4 || a.Direction().Y != 1 || a.Order().Incarnation != 1 {
			t.Errorf("near %v: it is not as it was asked for", c.near)
		}
		r.diary(id, "created;")
		if err := r.real(7).Mailbox(made).Call("hit", 3); err != nil {
			t.Fatal(err)
		}
		r.tick(3)
		r.diary(id, "created;hit 3;")
	}
	r.calm()
	r.waitsForNothing(7)
}

// The answer comes once, also to an entity that has gone to another cell, and near one that moves.
func TestSpawnNearOnTheMove(t *testing.T) {
	r := newRig(t, 3)
	r.two()
	r.hold = flowing(7, 8)
	r.spawnNear(7, SpawnInfo{Near: r.near(8)}, 1)
	r.tick(2)
	r.move(8, 600)
	r.tick(20)
	r.hold = flowing(8, 7)
	r.tick(20)
	r.move(7, 250)
	r.tick(20)
	r.hold = nil
	r.tick(30)
	r.diary(7, "leaving;entering;entered;spawned 1;")
	r.stands(entity.ID(r.avatar(7).spawned[0].Entity), 3, 1, 600)
	r.calm()
}

// What cannot be made is told once, with the reason, and leaves nothing behind.
func TestSpawnNearFails(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(r *rig)
		want string
		wait int
	}{
		"gone":      {func(r *rig) { r.real(8).Destroy() }, "create: not found: entity: there is no such entity", 30},
		"silent":    {func(r *rig) { r.hold = func(p packet) bool { return p.to == addr(2) } }, "create: no answer: entity: no answer came in time", int(limits.DefaultCallTime/tickPeriod) + 5},
		"no id":     {func(r *rig) { r.noIDs = true }, "create: no cell: no more ids", 3},
		"far out":   {func(r *rig) { r.move(8, property.MaxCoordinate) }, "create: not found: the place is out of range", 3},
		"space end": {func(r *rig) { r.apps[1].cell.ended = true }, "create: no such space", 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2)
			r.two()
			near := r.near(8)
			r.hold = flowing(7, 8)
			r.spawnNear(7, SpawnInfo{Near: near, Position: at(5)}, 1)
			r.hold = nil
			c.do(r)
			r.pump()
			r.tick(c.wait)
			r.hold = nil
			if got := r.avatar(7).Diary.Get(); !strings.Contains(got, "spawn 1: "+c.want) || strings.Count(got, "spawn") != 1 {
				t.Errorf("it heard %q, want %q", got, c.want)
			}
			r.waitsForNothing(7)
		})
	}
}

// What makes no sense is refused at once.
func TestSpawnNearFaults(t *testing.T) {
	r := newRig(t, 1)
	r.two()
	near := r.near(8)
	huge := func(v *property.Values) {
		for _, name := range []string{"data", "diary"} {
			if err := v.Set(v.Definition().Property(name).Index, property.StringValue(strings.Repeat("x", 1<<18-8))); err != nil {
				t.Error(err)
			}
		}
	}
	for name, c := range map[string]struct {
		info   SpawnInfo
		method string
		want   error
	}{
		"no callback":  {SpawnInfo{Type: "Rock", Near: near}, "OnTimer", entity.ErrNoCallback},
		"nobody":       {SpawnInfo{Type: "Rock"}, "OnSpawned", entity.ErrNoPart},
		"no cell part": {SpawnInfo{Type: "Rock", Near: property.Mailbox{Entity: 99, Type: r.scripts.Schema().Type("Account").ID, Kind: uint8(entity.BaseMailbox)}}, "OnSpawned", entity.ErrNoPart},
		"too large":    {SpawnInfo{Type: "Avatar", Near: near, Init: huge}, "OnSpawned", entity.ErrArguments},
	} {
		if err := r.real(7).SpawnNear(c.info, c.method, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, info := range []SpawnInfo{{Type: "Account", Near: near}, {Type: "Nothing", Near: near}, {Type: "Rock", Near: near, Position: at(property.MaxCoordinate * 2)}} {
		if r.real(7).SpawnNear(info, "OnSpawned", 0) == nil {
			t.Errorf("%+v was taken", info)
		}
	}
	gone := r.real(7)
	gone.Destroy()
	if err := gone.SpawnNear(SpawnInfo{Type: "Rock", Near: near}, "OnSpawned", 0); !errors.Is(err, entity.ErrGone) {
		t.Errorf("one that is gone: %v", err)
	}
}
