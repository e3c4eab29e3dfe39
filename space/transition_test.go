package space

import (
	"errors"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// told are the messages to a client since the last call, but for changes, and its last Transit.
func (r *rig) toldClient(id entity.ID) (list []protocol.ID, last protocol.Transit) {
	r.t.Helper()
	ids, bodies := r.bundles(id)
	for i, m := range ids {
		if m == protocol.TransitID {
			if err := last.Parse(bodies[i]); err != nil {
				r.t.Fatal(err)
			}
		}
		if m != protocol.ChangesID {
			list = append(list, m)
		}
	}
	r.bases[id].got = nil
	return list, last
}

func count(list []protocol.ID, id protocol.ID) (n int) {
	for _, x := range list {
		if x == id {
			n++
		}
	}
	return n
}

// A party goes through a transition area, as a lift: to a room on its CellApp, on another, and elsewhere
// in its space. Its players keep each other in sight, who stays behind leaves, and each keeps its place
// in the lift and where it looks.
func TestTransitionKeepsCompanions(t *testing.T) {
	for name, c := range map[string]struct {
		to     entity.Destination
		app    int
		leaves int // who stays behind in the lift is seen no more
	}{
		"own app":     {entity.Destination{Space: 2, Position: at(1)}, 1, 1},
		"another app": {entity.Destination{Space: 3, Position: at(2)}, 2, 1},
		"own cell":    {entity.Destination{Position: at(-30)}, 1, 0},
		"far":         {entity.Destination{Position: at(600)}, 2, 1},
	} {
		r := newParty(t)
		r.create(4, -28, 1) // stays
		r.tick(5)
		for id := entity.ID(1); id <= 4; id++ {
			r.bases[id].got = nil
			if err := r.real(id).SetDirection(property.Vector3{X: float32(id) / 10}); err != nil {
				t.Fatal(err)
			}
		}
		r.tick(5)
		c.to.Transition, c.to.Direction = true, property.Vector3{X: 3}
		r.together(c.to)
		for id := entity.ID(1); id <= 3; id++ {
			r.bases[id].got = nil
		}
		r.tick(20)
		for id := entity.ID(1); id <= 3; id++ {
			list, transit := r.toldClient(id)
			want := slices.DeleteFunc([]entity.ID{1, 2, 3}, func(x entity.ID) bool { return x == id })
			if count(list, protocol.EnterID)+count(list, protocol.ReturnID)+count(list, protocol.LeaveSpaceID) > 0 ||
				count(list, protocol.LeaveID)+count(list, protocol.KeepID) != c.leaves || count(list, protocol.ArrivedID) != 1 || count(list, protocol.CellPlayerID) != 1 {
				t.Errorf("%s: the client of %d was told %v", name, id, list)
			}
			if offset := c.to.Position.X + 21; !slices.Equal(transit.Companions, want) || transit.Offset.X != offset {
				t.Errorf("%s: the client of %d was told of %+v, want companions %v and %v metres", name, id, transit, want, offset)
			}
			if got, want := r.real(id).Position().X, c.to.Position.X-float32(id-1); got != want || r.real(id).Direction().X != float32(id)/10 {
				t.Errorf("%s: %d stands at %v, looks %v, want %v", name, id, got, r.real(id).Direction(), want)
			}
		}
		r.all("teleported 7;", c.app, max(c.to.Space, 1))
		r.calm()
	}
}

// One goes alone: in another space it sees nobody of before any more, without the old view being dropped
// as a whole; within its space who is seen from both places stays.
func TestTransitionAlone(t *testing.T) {
	r := newRig(t, 2)
	r.room(1, 2)
	r.create(7, -20, 1)
	r.create(8, -30, 1)
	r.tick(5)
	r.toldClient(7)
	r.teleport(7, entity.Destination{Position: at(-40), Transition: true}, 1)
	r.tick(20)
	list, transit := r.toldClient(7)
	if count(list, protocol.EnterID)+count(list, protocol.LeaveID)+count(list, protocol.KeepID) > 0 || transit.Offset.X != -20 || len(transit.Companions) > 0 {
		t.Errorf("within: %v, %+v", list, transit)
	}
	r.teleport(7, entity.Destination{Space: 2, Position: at(1), Transition: true}, 1)
	r.tick(3)
	if list, transit = r.toldClient(7); count(list, protocol.LeaveID) != 1 || transit.Offset.X != 41 || count(list, protocol.ArrivedID) != 1 {
		t.Errorf("elsewhere: %v, %+v", list, transit)
	}
	r.stands(7, 1, 2, 1)
	r.teleport(7, entity.Destination{Space: 1, Position: at(-40), Transition: true}, 1)
	r.tick(3)
	if list, _ = r.toldClient(7); count(list, protocol.EnterID) != 1 {
		t.Errorf("back: %v", list)
	}
	r.calm()
}

// A transition that is refused leaves the view as it was.
func TestTransitionRefused(t *testing.T) {
	r := newParty(t, func(c *Config) { c.MaxReals = 2 })
	r.tick(5)
	for id := entity.ID(1); id <= 3; id++ {
		r.toldClient(id)
	}
	r.together(entity.Destination{Space: 3, Position: at(2), Transition: true})
	r.tick(20)
	for id := entity.ID(1); id <= 3; id++ {
		list, _ := r.toldClient(id)
		if slices.ContainsFunc(list, func(m protocol.ID) bool { return m != protocol.RestID && m != protocol.BundleID }) {
			t.Errorf("the client of %d was told %v", id, list)
		}
	}
	if err := r.real(1).Teleport(entity.Destination{Near: 2, Transition: true}, 1); err == nil || errors.Is(err, entity.ErrGone) {
		t.Errorf("near somebody: %v", err)
	}
	r.calm()
}
