package cellapp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// measuringRig is a rig with measured loads, over a clock that moves a millisecond each time it is
// read.
func measuringRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, net: &transport{t: t, closed: map[mercury.ChannelID]bool{}}, now: time.Second}
	var clock time.Duration
	app, err := New(Config{Transport: r.net, Manager: manager, Scripts: testScripts(t), Chance: rand.New(rand.NewPCG(1, 2)),
		Meters: status.Meters{Clock: func() time.Duration { clock += time.Millisecond; return clock }}})
	if err != nil {
		t.Fatal(err)
	}
	r.app = app
	return r
}

// reported returns the loads that the manager was told last.
func (r *rig) reportedCells() (m wire.CellsReport) {
	r.t.Helper()
	for _, s := range r.net.sent {
		if s.id == wire.CellsReportID {
			if err := m.Parse(s.body); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	r.net.sent = nil
	return m
}

// Messages are work, too. It counts for their entity, or for the app.
func TestMessagesCountAsLoad(t *testing.T) {
	r := measuringRig(t)
	r.join()
	r.addCell(1)
	r.create(7, -5)
	r.tick(5)
	quiet := r.reportedCells()
	load := func() int64 {
		for v := range r.app.cell(1).Views() {
			if v.ID() == 7 {
				return v.Script().(*Walker).Load()
			}
		}
		t.Fatal("no walker")
		return 0
	}
	before := load()
	for range 60 {
		for range 10 {
			r.from(addr(3), &wire.ClientMove{ID: 7})
		}
		r.tick(1)
	}
	// Each message reads the clock at its beginning and at its end: 10 ms a tick.
	if got := load() - before; got < 90e6 || got > 101e6 {
		t.Errorf("ten messages of 1 ms a tick raise the load of their entity by %d", got)
	}
	busy := r.reportedCells()
	if got := busy.Cells[0].Load - quiet.Cells[0].Load; got < 80e6 || got > 110e6 {
		t.Errorf("they raise the load of the cell by %d", got)
	}
	if busy.Load <= busy.Cells[0].Load || quiet.Load <= quiet.Cells[0].Load {
		t.Errorf("the app's own work does not show: %d and %d of cells", busy.Load, busy.Cells[0].Load)
	}
	if busy.Cells[0].Edges.Empty() || busy.Cells[0].Edges[0][0][0].Load == 0 {
		t.Error("edges are not reported")
	}
	own := busy.Load - busy.Cells[0].Load
	for range 60 {
		for range 10 {
			r.manage(&wire.SpaceData{Space: 1})
		}
		r.tick(1)
	}
	after := r.reportedCells()
	if got := after.Load - after.Cells[0].Load - own; got < 80e6 || got > 110e6 {
		t.Errorf("ten messages of the manager a tick raise the app's own load by %d", got)
	}
}

func TestTypeLoadsAreOfAllCells(t *testing.T) {
	r := measuringRig(t)
	r.join()
	r.addCell(1)
	second := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1, 9))
	r.manage(&wire.AddCell{Space: 2, Cell: bsp.CellID{Term: 1, N: 9}, Tree: second.Append(nil)})
	r.tick(1)
	if got := r.app.dearest(nil); len(got) != 0 {
		t.Errorf("without reals: %+v", got)
	}
	for _, id := range []entity.SpaceID{1, 1, 2} {
		if _, err := r.app.cell(id).Spawn("Walker", property.Vector3{X: -5}, property.Vector3{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for c := range r.app.Cells() {
		for v := range c.Views() {
			v.Script().(*Walker).SetArtificialLoad(1e9)
		}
	}
	r.tick(2) // the first includes a backup
	want := []wire.TypeLoad{{Type: "Walker", Reals: 3, Load: 3e9}}
	if got := r.app.dearest(nil); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A CellApp reports no more load than is possible, whatever its scripts say their entities cost.
// The manager would refuse more as nonsense.
func TestLoadOfTheAppIsBounded(t *testing.T) {
	r := crowdedRig(t, load.Max, nil)
	r.create(8, -6)
	r.room(5, false)
	r.enter(9, 5)
	r.tick(3)
	m := r.reportedAll()
	if m.Load != load.Max || m.Cells[0].Load != load.Max || m.Cells[1].Load != load.Max {
		t.Errorf("app %d, cells %d and %d, want %d", m.Load, m.Cells[0].Load, m.Cells[1].Load, load.Max)
	}
}

// A CellApp that has to wait for a processor, which others have taken from it, does not have more load
// for that: its cells did the same work. Else lines run after whatever the scheduler does. Its ticks
// take longer, which is for the overload to feel (TestLateTicksAreOverload).
func TestWaitingForAProcessorIsNoLoad(t *testing.T) {
	waits := func(wait time.Duration) (load int64, profile load.Profile) {
		r := &rig{t: t, net: &transport{t: t, closed: map[mercury.ChannelID]bool{}}, now: time.Second}
		var wall, work time.Duration
		step := func(clock *time.Duration) func() time.Duration {
			return func() time.Duration {
				work += time.Microsecond
				if wall += time.Microsecond; work%(37*time.Microsecond) == 0 {
					wall += wait // in the midst of something
				}
				return *clock
			}
		}
		app, err := New(Config{Transport: r.net, Manager: manager, Scripts: testScripts(t), Chance: rand.New(rand.NewPCG(1, 2)), Meters: status.Meters{Clock: step(&wall)}, Work: step(&work)})
		if err != nil {
			t.Fatal(err)
		}
		r.app = app
		r.join()
		r.addCell(1)
		for i := range 20 {
			r.create(entity.ID(7+i), float32(-5-i))
		}
		r.tick(100)
		m := r.reportedCells()
		return m.Cells[0].Load, m.Cells[0].Profile
	}
	calm, at := waits(0)
	busy, where := waits(40 * time.Millisecond)
	if calm == 0 || busy != calm {
		t.Errorf("the load is %d, and %d where the app waits now and then", calm, busy)
	}
	if where != at {
		t.Errorf("the load seems to lie elsewhere: %v, without waiting %v", where, at)
	}
}
