package space

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// newParty makes three players on one cell, and rooms on their CellApp (2) and on another (3).
func newParty(t *testing.T, change ...func(*Config)) *rig {
	r := newRig(t, 2, change...)
	r.room(1, 2)
	r.room(2, 3)
	for id := entity.ID(1); id <= 3; id++ {
		r.create(id, -20-float32(id), 1)
	}
	r.tick(2)
	return r
}

func (r *rig) together(to entity.Destination) {
	r.t.Helper()
	if err := r.real(1).TeleportTogether(to, 7, 2, 3); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) all(end string, app int, in entity.SpaceID) {
	r.t.Helper()
	for id := entity.ID(1); id <= 3; id++ {
		if s := r.avatar(id).Diary.Get(); !strings.HasSuffix(s, end) || r.real(id).Space() != in || r.real(id).cell.self != addr(app) {
			r.t.Errorf("%d is in space %d on %v, and its diary %q, want space %d on app %d, %q", id, r.real(id).Space(), r.real(id).cell.self, s, in, app, end)
		}
	}
}

// A party goes to a room on its CellApp, to one on another, near somebody, and back.
func TestPartyArrives(t *testing.T) {
	r := newParty(t)
	sent := 0
	r.arrive = func(p packet) {
		switch p.m.(type) {
		case *migrate.OnloadParty:
			sent++
		case *migrate.Onload:
			t.Error("one was sent alone")
		}
	}
	r.together(entity.Destination{Space: 2, Position: at(1)})
	r.tick(2)
	r.all("teleported 7;", 1, 2)
	r.together(entity.Destination{Space: 3, Position: at(2)})
	r.tick(4)
	r.all("teleported 7;", 2, 3)
	r.create(9, -100, 0)
	r.together(entity.Destination{Near: 9, Position: at(2)})
	r.tick(4)
	r.all("teleported 7;", 1, 1)
	if sent != 2 {
		t.Errorf("%d parties were sent, want 2", sent)
	}
	r.calm()
}

// All stay if there is no room for all, or if one vetoes; also if what was sent is lost and comes again.
func TestPartyStays(t *testing.T) {
	for name, prepare := range map[string]func(r *rig){
		"full": func(r *rig) { r.apps[0].population.cfg.MaxReals = 3 },
		"veto": func(r *rig) { r.avatar(2).ask = func(*entity.Destination) error { return errors.New("no") } },
		"lost": func(r *rig) { r.hold = func(p packet) bool { _, is := p.m.(*migrate.OnloadRefused); return is } },
	} {
		t.Run(name, func(t *testing.T) {
			r := newParty(t, func(c *Config) { c.MaxReals = 4 })
			for x := range 2 {
				id, err := r.apps[1].cell.Spawn("Rock", at(300+float32(x)), property.Vector3{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.teleport(id, entity.Destination{Space: 3, Position: at(1)}, 1)
			}
			r.tick(3)
			prepare(r)
			r.together(entity.Destination{Space: 3, Position: at(2)})
			r.tick(5)
			if r.hold != nil {
				if n := r.lose(r.hold); n != 3 {
					t.Errorf("%d were refused, want 3", n)
				}
				r.hold = nil
			}
			r.tick(35)
			for id := entity.ID(1); id <= 3; id++ {
				if s := r.avatar(id).Diary.Get(); !strings.Contains(s, ";stays 7: ") || strings.Count(s, "stays") != 1 || r.real(id).Space() != 1 {
					t.Errorf("%d is in space %d, and its diary %.200q", id, r.real(id).Space(), s[max(0, len(s)-200):])
				}
			}
		})
	}
}

// A party that no message to the other app can hold stays as it was, hears why, and is not tried
// again; each alone fits, and goes. When all fit, they go.
func TestPartyTooLargeStays(t *testing.T) {
	r := newParty(t)
	r.tick(10)
	origin := r.apps[0]
	for id := entity.ID(1); id <= 3; id++ {
		if err := r.avatar(id).Bag.Set(make([]uint32, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	r.tick(2)
	haunts := func() (all []ghost.Haunt) {
		for id := entity.ID(1); id <= 3; id++ {
			all = slices.AppendSeq(all, r.real(id).haunts.All())
		}
		return all
	}
	was, errs := haunts(), origin.count.Errors
	if len(was) == 0 {
		t.Fatal("the test needs ghosts where they go")
	}
	origin.longest = 5000
	r.together(entity.Destination{Space: 3, Position: at(2)})
	r.tick(35)
	r.all(";stays 7: too large;", 1, 1)
	if origin.unfit != 1 || origin.count.Errors != errs+1 || origin.population.handoffs.Len() != 0 {
		t.Errorf("tried %d times, %d errors, %d in flight", origin.unfit, origin.count.Errors-errs, origin.population.handoffs.Len())
	}
	if got := haunts(); !slices.Equal(got, was) {
		t.Errorf("ghosts are %v, were %v", got, was)
	}
	r.teleport(1, entity.Destination{Space: 3, Position: at(2)}, 8)
	r.tick(4)
	if r.real(1).Space() != 3 {
		t.Error("one that fits alone stays")
	}
	r.teleport(1, entity.Destination{Space: 1, Position: at(-21)}, 9)
	r.tick(4)
	origin.longest, origin.count.Errors = 0, errs
	r.together(entity.Destination{Space: 3, Position: at(2)})
	r.tick(4)
	r.all("teleported 7;", 2, 3)
	r.calm()
}

// A party, or one alone, that has to wait behind others stays until there is room, and then goes.
func TestPartyWaitsForRoom(t *testing.T) {
	r := newParty(t)
	r.create(9, -30, 0)
	origin := r.apps[0]
	origin.packed = true
	r.together(entity.Destination{Space: 3, Position: at(2)})
	r.teleport(9, entity.Destination{Space: 3, Position: at(4)}, 1)
	r.tick(25)
	r.all(";leaving;", 1, 1)
	if origin.unfit < 4 || origin.count.Errors > 0 || origin.population.handoffs.Len() != 0 || !r.real(2).Teleporting() {
		t.Errorf("tried %d times, %d errors, %d in flight", origin.unfit, origin.count.Errors, origin.population.handoffs.Len())
	}
	origin.packed = false
	r.tick(15)
	r.all("teleported 7;", 2, 3)
	if s := r.avatar(9).Diary.Get(); !strings.HasSuffix(s, "teleported 1;") || strings.Contains(s, "stays") {
		t.Errorf("the diary of the one alone is %q", s)
	}
	r.calm()
	r.apps[1].packed = true // for longer than they have patience
	r.together(entity.Destination{Space: 2, Position: at(2)})
	r.tick(int(TeleportPatience/tickPeriod) + 5)
	r.all("stays 7: no cell;", 2, 3)
}

// Whoever is not here, or has set off, cannot come along.
func TestPartyFaults(t *testing.T) {
	r := newParty(t)
	r.create(9, 100, 0)
	if err := r.real(1).TeleportTogether(entity.Destination{Space: 3}, 7, 2, 9); !errors.Is(err, ErrNotHere) {
		t.Errorf("with one on another cell: %v", err)
	}
	if r.real(1).Teleporting() || r.real(2).Teleporting() {
		t.Error("some are on their way nevertheless")
	}
	r.teleport(2, entity.Destination{Space: 3}, 7)
	if err := r.real(1).TeleportTogether(entity.Destination{Space: 3}, 7, 2); !errors.Is(err, ErrTeleporting) {
		t.Errorf("with one that has set off: %v", err)
	}
	var crowd []entity.ID
	for range migrate.MaxParty {
		id, err := r.apps[0].cell.Spawn("Rock", at(-30), property.Vector3{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, id)
	}
	if err := r.real(1).TeleportTogether(entity.Destination{Space: 3}, 7, crowd...); !errors.Is(err, entity.ErrTooMany) {
		t.Errorf("with a crowd: %v", err)
	}
	if err := r.real(1).TeleportTogether(entity.Destination{Space: 44}, 7, 3); err != nil {
		t.Error(err)
	}
	r.tick(1)
	r.real(1).Destroy()
	r.tick(20)
	if s := r.avatar(3).Diary.Get(); !strings.Contains(s, "stays 7") || r.real(3).Teleporting() {
		t.Errorf("without its leader 3 has %q", s)
	}
}
