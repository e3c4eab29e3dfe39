package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cellapp"
)

// vacate makes every lodger give up its room, and waits until no room is left anywhere.
func (r *rig) vacate() {
	r.t.Helper()
	for _, l := range basesOf[*lodgerBase](r.Cluster) {
		l.enough = true
	}
	r.until("every room has ended", roomsGone+20*time.Second, func() bool { return r.leftovers() == 0 })
}

// leftovers counts the rooms that the manager and the CellApps still have.
func (r *rig) leftovers() (n int) {
	n = r.leader().Status().SpaceCount - 1
	for _, a := range r.liveCellApps() {
		for cell := range a.Cells() {
			if cell.Space() != theSpace {
				n++
			}
		}
	}
	return n
}

func (r *rig) rooms() (rooms, losses int) {
	for _, l := range basesOf[*lodgerBase](r.Cluster) {
		rooms += int(l.Rooms.Get())
		losses += l.losses
	}
	return rooms, losses
}

// TestRooms: a thousand rooms come and go in a calm world, and none is left.
func TestRooms(t *testing.T) {
	long(t)
	play(t, Options{Seed: 40, Players: 2, Rovers: 2, Lodgers: 120}, func(r *rig) {
		r.wait(40 * time.Second)
		r.vacate()
		if rooms, losses := r.rooms(); rooms < 1000 || rooms != losses {
			r.t.Errorf("%d rooms were made, %d given up", rooms, losses)
		}
		for id, n := range r.world.lit {
			if n != 1 {
				r.t.Errorf("the first cell of space %d was announced %d times", id, n)
			}
		}
	})
}

// TestRoomsAndDeaths does the same while CellApps crash one after the other.
func TestRoomsAndDeaths(t *testing.T) {
	play(t, Options{Seed: 41, Players: 2, Rovers: 2, Lodgers: 8}, func(r *rig) {
		for i := range 6 {
			p := r.cellApps[i%len(r.cellApps)]
			p.crash()
			p.restartAt = r.now + 4*time.Second
			r.wait(6 * time.Second)
		}
		if rooms, _ := r.rooms(); rooms < 40 {
			r.t.Errorf("%d rooms were made", rooms)
		}
		r.vacate()
	})
}

// TestRoomsOfADeadBaseApp: a BaseApp dies with lodgers, some of which have just asked for a room.
// Nobody is left who knows these rooms, and they end nevertheless.
func TestRoomsOfADeadBaseApp(t *testing.T) {
	play(t, Options{Seed: 42, Players: 2, Rovers: 2, Lodgers: 12}, func(r *rig) {
		r.wait(5 * time.Second)
		r.baseApps[1].crash()
		r.baseApps[1].restartAt = r.now + 8*time.Second
		r.wait(5 * time.Second)
		r.vacate()
	})
}

// TestManagerDiesEndingASpace: a room has ended, and its CellApp has heard so but cannot tell the
// base yet when the manager dies. The next manager hears of a cell whose entities are gone, and
// must not take the room for one that goes on.
func TestManagerDiesEndingASpace(t *testing.T) {
	play(t, Options{Seed: 43, Players: 2, Rovers: 2, Lodgers: 4}, func(r *rig) {
		for _, l := range basesOf[*lodgerBase](r.Cluster) {
			l.patient = true
		}
		var on *Process
		var room entity.SpaceID
		r.on(func(m tampered) (pass, done bool) {
			var c wire.RemoveCell
			if m.id != wire.RemoveCellID || c.Parse(m.msg[1:]) != nil || !c.Ended {
				return true, false
			}
			on, room = m.p, c.Space
			for _, b := range r.baseApps {
				r.part(on, b)
			}
			return true, true
		})
		r.until("a room ends", 20*time.Second, func() bool { return on != nil })
		r.wait(20 * time.Millisecond) // whoever asked for it has the answer
		r.manager.crash()
		r.nextTerm()
		if !slices.ContainsFunc(slices.Collect(on.app.(*cellapp.CellApp).Cells()), func(c space.Hosted) bool { return c.Space() == room }) {
			t.Fatal("the cell is gone already")
		}
		r.join(r.procs...)
		r.vacate()
	})
}
