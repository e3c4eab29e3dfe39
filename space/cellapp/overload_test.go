package cellapp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/space"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/overload"
)

// crowdedRig has a CellApp with one real, whose load is artificial.
func crowdedRig(t *testing.T, perReal int64, clock func() time.Duration) *rig {
	r := &rig{t: t, net: &transport{t: t, closed: map[mercury.ChannelID]bool{}}, now: time.Second}
	app, err := New(Config{Transport: r.net, Manager: manager, Scripts: testScripts(t), Chance: rand.New(rand.NewPCG(1, 2)), Meters: status.Meters{Clock: clock},
		Space: space.Config{ArtificialLoad: perReal, Overload: overload.Config{Patience: time.Second, Dwell: 200 * time.Millisecond, Recovery: time.Second, MinRate: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	r.app = app
	r.world()
	return r
}

// reportedAll is the last CellsReport, completed with the last report of each cell.
func (r *rig) reportedAll() (last wire.CellsReport) {
	r.t.Helper()
	var cells []wire.CellReport
	for _, s := range r.net.to(mercury.Address{At: manager}) {
		if s.id != wire.CellsReportID {
			continue
		}
		if err := last.Parse(s.body); err != nil {
			r.t.Fatal(err)
		}
		for _, c := range last.Cells {
			cells = slices.DeleteFunc(cells, func(old wire.CellReport) bool { return old.Space == c.Space })
			cells = append(cells, c)
		}
	}
	slices.SortFunc(cells, func(a, b wire.CellReport) int { return int(a.Space) - int(b.Space) })
	last.Cells = cells
	if len(last.Cells) == 0 {
		r.t.Fatal("no report of cells")
	}
	return last
}

// A CellApp over its bound says so and in the end wants its space slower. A cell that has nothing
// to do wants nothing.
func TestOverloadIsReported(t *testing.T) {
	r := crowdedRig(t, 12e8, nil)
	alone := bsp.New(bsp.Version{Term: 1, N: 1}, leaf(1, 1))
	r.manage(&wire.AddCell{Space: 2, Cell: bsp.CellID{Term: 1, N: 1}, Tree: alone.Append(nil)})
	if m := r.reportedAll(); m.SavingStep != 0 || m.Cells[0].Rate != gametime.NormalRate {
		t.Errorf("at first: %+v", m)
	}
	r.tick(20)
	if m := r.reportedAll(); m.SavingStep == 0 || m.Cells[0].Rate != gametime.NormalRate {
		t.Errorf("with budgets to save at: step %d, rate %d", m.SavingStep, m.Cells[0].Rate)
	}
	r.tick(80)
	m := r.reportedAll()
	if int(m.SavingStep) != r.app.throttle.Steps() || m.Cells[0].Rate != 500 || m.Cells[1].Rate != gametime.NormalRate {
		t.Errorf("at the floor: step %d of %d, rates %d and %d", m.SavingStep, r.app.throttle.Steps(), m.Cells[0].Rate, m.Cells[1].Rate)
	}
	r.manage(&wire.Freeze{On: true})
	step := r.app.throttle.Step()
	r.from(addr(3), &flow.Message{}) // anything
	r.tick(50)
	if r.app.throttle.Step() != step {
		t.Error("a frozen world changes what is saved")
	}
}

// Work for no cell does not save the only cell from being slowed.
func TestOwnWorkLeavesNoCellAlone(t *testing.T) {
	r := &rig{t: t, net: &transport{t: t, closed: map[mercury.ChannelID]bool{}}, now: time.Second}
	app, err := New(Config{Transport: r.net, Manager: manager, Scripts: testScripts(t), Chance: rand.New(rand.NewPCG(1, 2)),
		Space: space.Config{Overload: overload.Config{Start: 0.5, Patience: time.Second, Dwell: 200 * time.Millisecond, Recovery: time.Second, MinRate: 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	r.app = app
	r.world()
	for v := range r.app.cell(1).Views() {
		v.Script().(*Walker).SetArtificialLoad(load.Core / 3)
	}
	for range 100 {
		r.app.own.Add(70 * time.Millisecond) // in each tick of 100 ms
		r.tick(1)
	}
	if m := r.reportedAll(); int(m.SavingStep) != r.app.throttle.Steps() || m.Cells[0].Rate != 500 {
		t.Errorf("step %d of %d, rate %d", m.SavingStep, r.app.throttle.Steps(), m.Cells[0].Rate)
	}
}

// The cost of a message counts in the tick after it.
func TestWorkOfMessagesCounts(t *testing.T) {
	var at time.Duration
	cost := time.Duration(0)
	r := crowdedRig(t, 0, func() time.Duration { at += cost; return at })
	r.tick(2)
	if _, raw := r.app.work(); raw != 0 {
		t.Fatalf("worked %v after a tick", raw)
	}
	cost = time.Millisecond
	r.manage(&wire.Freeze{})
	cost = 0
	r.tick(1)
	if _, raw := r.app.work(); raw < int64(10*time.Millisecond) { // 1 ms in 100 ms
		t.Errorf("a message that takes 1 ms counts as %v a second", time.Duration(raw))
	}
}

// The manager's rate applies to the cell from the given time on, and the report says which rate it
// has.
func TestSpaceRate(t *testing.T) {
	r := newRig(t)
	r.world() // the cluster's time is an hour and a little
	cell := r.app.cell(1)
	cluster := r.app.clusterTime(r.now)
	k := gametime.Clock{Number: 5, At: cluster + 300*time.Millisecond, Game: cluster + 300*time.Millisecond, Rate: 500}
	r.from(addr(2), &wire.SpaceRate{Space: 1, Clock: k})
	if cell.Clock().Number != 0 || r.app.Counters().Refused != 1 {
		t.Error("a stranger slows a space down")
	}
	r.manage(&wire.SpaceRate{Space: 9, Clock: k}) // of a space that is not here
	r.manage(&wire.SpaceRate{Space: 1, Clock: k})
	if cell.Clock().Number != 5 {
		t.Fatalf("clock %d", cell.Clock().Number)
	}
	r.tick(3)
	if cell.Game() != k.At {
		t.Errorf("game time %v before the change, want %v", cell.Game(), k.At)
	}
	r.tick(10)
	if want := k.At + 500*time.Millisecond; cell.Game() != want || cell.Rate() != 500 {
		t.Errorf("game time %v at rate %d, want %v", cell.Game(), cell.Rate(), want)
	}
	if m := r.reportedAll(); m.Cells[0].Clock != 5 {
		t.Errorf("reported clock %d", m.Cells[0].Clock)
	}
}

// A cell has the game time of its space from the moment it is made.
func TestAddCellCarriesTheClock(t *testing.T) {
	r := newRig(t)
	r.join()
	cluster := r.app.clusterTime(r.now)
	k := gametime.Clock{Number: 5, At: cluster - time.Minute, Game: time.Second, Rate: 500}
	r.manage(&wire.AddCell{Space: 1, Cell: bsp.CellID{Term: 1, N: 1}, Tree: tree(t, 1).Append(nil), Clock: k})
	if game := r.app.cell(1).Game(); game != 31*time.Second {
		t.Errorf("game time %v", game)
	}
	k.Number, k.Rate = 6, 1000
	r.manage(&wire.AddCell{Space: 1, Cell: bsp.CellID{Term: 1, N: 1}, Tree: tree(t, 1).Append(nil), Clock: k})
	if n := r.app.cell(1).Clock().Number; n != 6 {
		t.Errorf("clock %d after the order was repeated", n)
	}
}

// A BaseApp that does not keep up with its players' data counts as load like too much work: players
// are told less at first, and in the end the space runs slower. A CellApp that does not keep up
// does not count.
func TestBacklogIsOverload(t *testing.T) {
	r := crowdedRig(t, 1e8, nil)
	base, other := addr(3), addr(4)
	r.from(base, &flow.Message{}) // anything
	r.app.links.Send(base, &wire.Freeze{})
	r.app.links.Send(other, &wire.Freeze{})
	r.net.waiting = map[mercury.Address]int{other: queueLimit / 2}
	r.tick(30)
	if m := r.reportedAll(); m.SavingStep != 0 {
		t.Errorf("for a slow CellApp %d steps are saved", m.SavingStep)
	}
	real := r.baseOf()
	r.app.links.Send(real, &wire.Freeze{})
	r.net.waiting = map[mercury.Address]int{real: queueLimit / 2}
	r.tick(20)
	if m := r.reportedAll(); m.SavingStep == 0 {
		t.Error("for a slow BaseApp nothing is saved")
	}
	if b := r.app.Backlog(); b.To != real || b.Level() != mercury.Packed {
		t.Errorf("the backlog is %+v", b)
	}
	r.tick(80)
	if m := r.reportedAll(); m.Cells[0].Rate != 500 {
		t.Errorf("in the end the space runs at %d", m.Cells[0].Rate)
	}
	r.net.waiting = nil
	r.tick(400)
	if m := r.reportedAll(); m.SavingStep != 0 || m.Cells[0].Rate != gametime.NormalRate {
		t.Errorf("when it keeps up again %d steps are saved, the rate is %d", m.SavingStep, m.Cells[0].Rate)
	}
}

// baseOf is the BaseApp of the real in a crowdedRig.
func (r *rig) baseOf() (app mercury.Address) {
	r.app.population.Bases(func(a mercury.Address) { app = a })
	return app
}

// A process that gets no processor works little and ends its ticks late. That is overload, too; one
// long pause is not.
func TestLateTicksAreOverload(t *testing.T) {
	r := crowdedRig(t, 1e8, nil)
	r.tick(20)
	late := func(ticks int, by time.Duration) {
		for range ticks {
			r.now = r.app.ticks.Next() + by
			r.app.Tick(r.now)
		}
	}
	late(1, 5*time.Second)
	r.tick(20)
	if m := r.reportedAll(); m.SavingStep != 0 {
		t.Errorf("after one pause %d steps are saved", m.SavingStep)
	}
	late(40, DefaultTick*19/20)
	if m := r.reportedAll(); m.SavingStep == 0 {
		t.Error("a machine that does not keep up is no reason to save")
	}
	r.now = r.app.ticks.Next() - DefaultTick
	r.tick(400)
	if m := r.reportedAll(); m.SavingStep != 0 {
		t.Errorf("when it keeps up again %d steps are saved", m.SavingStep)
	}
}
