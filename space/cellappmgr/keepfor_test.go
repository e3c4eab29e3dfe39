package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// keptFor is how long the rooms of these tests are kept while nobody is in them.
const keptFor = 2 * time.Minute

func keptRoom() entity.SpaceInfo {
	info := aRoom()
	info.KeepFor = keptFor
	return info
}

// ended reports whether a room has been ended.
func (r *rig) ended(id entity.SpaceID) bool {
	s := r.m.space(id)
	return s == nil || s.ending
}

// staysUntil lets time pass, and checks that a room ends between 1 s before and after that.
func (r *rig) staysUntil(id entity.SpaceID, d time.Duration) {
	r.t.Helper()
	r.pass(d - time.Second)
	if r.ended(id) {
		r.t.Fatalf("a room has ended before %v were over", d)
	}
	r.pass(2 * time.Second)
	if !r.ended(id) {
		r.t.Fatalf("a room is still there after %v", d)
	}
}

// A space that says how long it is kept ends so long after nobody was in it, whether somebody has
// been there or not; and not while somebody is.
func TestKeepFor(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, keptRoom()).Space
	a.reportRoom(id, a.confirm()[0].Cell, 0, false)
	r.staysUntil(id, keptFor)
	r.logged("space ends", "never used in "+keptFor.String(), base.addr.String())

	id = base.ask(2, keptRoom()).Space
	cell := a.confirm()[0].Cell
	a.reportRoom(id, cell, 0, false)
	r.pass(keptFor / 2)
	a.reportRoom(id, cell, 2, true)
	r.pass(2 * keptFor)
	a.reportRoom(id, cell, 0, true)
	r.pass(keptFor / 2)
	a.reportRoom(id, cell, 0, true) // the same again
	r.staysUntil(id, keptFor/2)

	id = base.ask(3, keptRoom()).Space
	cell = a.confirm()[0].Cell
	a.reportRoom(id, cell, 0, false)
	r.pass(keptFor / 2)
	a.reportRoom(id, cell, 0, true) // somebody has come and gone between two reports
	r.staysUntil(id, keptFor)
}

// Nobody waits for a room in vain: the time runs from when it can be entered. Who asks the way is
// given time to come, and who asks after the end is told that it has ended.
func TestKeepForWaits(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MinCellApps = 1 })
	base := r.join(wire.BaseApp, 20)
	id := base.ask(1, keptRoom()).Space
	r.pass(2 * keptFor)
	a := r.join(wire.CellApp, 10)
	cell := a.confirm()[1].Cell
	r.pass(2 * keptFor) // it is made, and not heard of: a cell that hangs
	a.reportRoom(id, cell, 0, false)
	r.pass(keptFor - time.Second)
	base.send(&wire.Locate{ID: 5, Space: id})
	if l := one[wire.Located](base); l.Gone || l.App != a.addr {
		t.Fatalf("located %+v", l)
	}
	r.staysUntil(id, arrivalGrace)
	base.send(&wire.Locate{ID: 5, Space: id})
	if l := one[wire.Located](base); !l.Gone {
		t.Errorf("located %+v after the end", l)
	}
}

// The time goes on while the cell moves to another CellApp.
func TestKeepForOverMoves(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, keptRoom()).Space
	old := a.confirm()[0].Cell
	a.reportRoom(id, old, 0, false)
	b := r.join(wire.CellApp, 11)
	r.pass(keptFor / 2)
	a.send(&wire.RetireApp{Reason: "maintenance"})
	removed := false
	for range 40 {
		r.pass(time.Second)
		for _, m := range take[wire.RemoveCell](a) {
			a.send(&wire.CellRemoved{Space: m.Space, Cell: m.Cell})
			removed = removed || m.Space == id
		}
		s := r.m.space(id)
		for i, c := range s.cells {
			p := map[mercury.Address]*peer{a.addr: a, b.addr: b}[c.app.address]
			if i == 0 || removed {
				p.confirm()
			}
			p.send(&wire.CellsReport{Cells: []wire.CellReport{{Space: id, Cell: c.id}}})
		}
		b.confirm()
	}
	if !removed || r.ended(id) {
		t.Fatalf("moved: %v, ended: %v", removed, r.ended(id))
	}
	r.staysUntil(id, keptFor/2-40*time.Second)
}

// When the CellApp of a room dies, the time begins anew with the next one: somebody may have come
// unheard.
func TestKeepForAfterADeath(t *testing.T) {
	r, a, base := roomRig(t, nil)
	id := base.ask(1, keptRoom()).Space
	a.reportRoom(id, a.confirm()[0].Cell, 0, false)
	b := r.join(wire.CellApp, 11)
	r.pass(keptFor - 5*time.Second)
	a.drop(mercury.ErrPeerRestarted)
	for _, c := range b.confirm() {
		if c.Space == id {
			b.reportRoom(id, c.Cell, 0, false)
		}
	}
	r.staysUntil(id, keptFor)
}

// The next manager begins the time anew, also for a room whose asker has not come back.
func TestKeepForAfterRecovery(t *testing.T) {
	room := func(n uint32, owner int, info entity.SpaceInfo) wire.RejoinCell {
		tree := bsp.New(bsp.Version{Term: 1, N: 4}, leafOf(10, n, true))
		return wire.RejoinCell{Space: entity.SpaceID(1<<spaceTermShift | n), Cell: old(n), Version: tree.Version(), Tree: tree.Append(nil),
			Info: appendSpaceInfo(nil, &origin{info: info, owner: at(owner), request: uint64(n)})}
	}
	r := next(t, nil)
	rooms := []entity.SpaceInfo{keptRoom(), keptRoom(), aRoom()}
	a := r.comeBack(wire.CellApp, 10, 1, wire.Rejoin{}, room(1, 20, rooms[0]), room(2, 21, rooms[1]), room(3, 20, rooms[2]))
	r.comeBack(wire.BaseApp, 20, 1, wire.Rejoin{})
	r.pass(2100 * time.Millisecond)
	for n := range uint32(3) {
		a.reportRoom(entity.SpaceID(1<<spaceTermShift|(n+1)), old(n+1), 0, false)
	}
	r.pass(keptFor - time.Second)
	for n := range uint32(3) {
		if id := entity.SpaceID(1<<spaceTermShift | (n + 1)); r.ended(id) {
			t.Errorf("room %d has ended too early", n+1)
		}
	}
	r.pass(2 * time.Second)
	for n, want := range []bool{true, true, false} {
		if id := entity.SpaceID(1<<spaceTermShift | uint32(n+1)); r.ended(id) != want {
			t.Errorf("room %d has ended: %v", n+1, !want)
		}
	}
}

// A room that the store has kept is there for so long in the next world.
func TestKeepForFromTheStore(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Term, c.Stores, c.RecoveryWindow = 2, true, -1 })
	a, db := r.join(wire.CellApp, 10), r.join(wire.DBApp, 11)
	r.join(wire.BaseApp, 12)
	id := entity.SpaceID(1<<spaceTermShift | 5)
	db.send(&wire.BringSpace{Request: 1, KeptSpace: wire.KeptSpace{Space: id, Info: appendSpaceInfo(nil, &origin{info: keptRoom(), owner: at(20), request: 1})}})
	db.send(&wire.BringSpace{Request: 2, All: true})
	for _, m := range take[wire.SpaceBrought](db) {
		if m.Reason != "" {
			t.Errorf("brought: %s", m.Reason)
		}
	}
	for _, c := range a.confirm() {
		if c.Space == id {
			a.reportRoom(id, c.Cell, 0, false)
		}
	}
	r.staysUntil(id, keptFor)
}

// A manager whose rooms wait for somebody rests meanwhile, and ends each in the tick in which it would
// without a rest; also one in which somebody is when its time is over.
func TestKeepForInARest(t *testing.T) {
	r, cell, base := settledWorld(t, nil)
	var rooms []entity.SpaceID
	for n := range 3 {
		rooms = append(rooms, base.ask(uint64(n+1), keptRoom()).Space)
		cell.reportRoom(rooms[n], cell.confirm()[0].Cell, 0, false)
	}
	end := r.now + keptFor
	talk := func() {
		r.words(cell, base)()
		if r.now%time.Second == 0 && r.now > end-5*time.Second { // somebody comes to the last, and goes
			s := r.m.space(rooms[2])
			reals := uint32(0)
			if r.now < end+5*time.Second {
				reals = 1
			}
			cell.reportRoom(rooms[2], s.cells[0].id, reals, true)
		}
	}
	lines := int(keptFor / r.m.cfg.Balance.Period)
	if n := r.run(end-r.now, talk); n > lines+lines/4 || r.ended(rooms[0]) {
		t.Errorf("%d ticks with %d balances; ended: %v", n, lines, r.ended(rooms[0]))
	}
	r.run(r.m.cfg.Tick, talk)
	if !r.ended(rooms[0]) || !r.ended(rooms[1]) || r.ended(rooms[2]) {
		t.Error("two rooms have not ended in time, or the third has ended with somebody in it")
	}
	for _, m := range take[wire.RemoveCell](cell) {
		cell.send(&wire.CellRemoved{Space: m.Space, Cell: m.Cell})
	}
	talk = r.words(cell, base)
	r.run(5*time.Second, talk)
	cell.reportRoom(rooms[2], r.m.space(rooms[2]).cells[0].id, 0, true)
	r.run(keptFor-r.m.cfg.Tick, talk)
	if r.ended(rooms[2]) {
		t.Error("the last room has ended too early")
	}
	r.run(2*r.m.cfg.Tick, talk)
	if !r.ended(rooms[2]) {
		t.Error("the last room has not ended")
	}
}
