package sim

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/space/cellapp"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// vacate lets every lodger give up its room, and waits until no room is left anywhere.
func (r *rig) vacate() {
	r.t.Helper()
	r.eachLodger(func(_ *Process, l *lodgerBase, _ baseapp.BaseView) { l.enough = true })
	r.until("every room has ended", roomsGone+20*time.Second, func() bool { return r.leftovers() == 0 })
}

// leftovers counts the rooms that the manager and the CellApps still have.
func (r *rig) leftovers() (n int) {
	n = r.manager.app.(*cellappmgr.CellAppMgr).Status().SpaceCount - 1
	r.eachCellApp(func(_ *Process, a *cellapp.CellApp) {
		for cell := range a.Cells() {
			if cell.Space() != theSpace {
				n++
			}
		}
	})
	return n
}

func (r *rig) rooms() (rooms, losses int) {
	r.eachLodger(func(_ *Process, l *lodgerBase, _ baseapp.BaseView) {
		rooms += l.rooms
		losses += l.losses
	})
	return rooms, losses
}

// TestRooms: a thousand rooms come and go in a calm world, and none is left.
func TestRooms(t *testing.T) {
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

// TestRoomsAndDeaths: the same while CellApps crash one after the other.
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

// TestRoomsOfADeadBaseApp: a BaseApp dies with lodgers, some of which have just asked
// for a room; nobody is left who knows these rooms, and they end all the same.
func TestRoomsOfADeadBaseApp(t *testing.T) {
	play(t, Options{Seed: 42, Players: 2, Rovers: 2, Lodgers: 12}, func(r *rig) {
		r.wait(5 * time.Second)
		r.baseApps[1].crash()
		r.baseApps[1].restartAt = r.now + 8*time.Second
		r.wait(5 * time.Second)
		r.vacate()
	})
}
