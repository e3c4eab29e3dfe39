package cellappmgr

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/google/go-cmp/cmp"
)

func TestFreeze(t *testing.T) {
	r := newRig(t, nil)
	a, base, login, watch := r.join(wire.CellApp, 10), r.join(wire.BaseApp, 20), r.join(wire.LoginApp, 21), r.join(wire.Observer, 30)
	b := r.join(wire.CellApp, 11)
	cell := a.confirm()[0].Cell
	base.send(&wire.Freeze{On: true}) // a BaseApp may not say so
	none[wire.Freeze](a)

	watch.send(&wire.Freeze{On: true})
	for _, p := range []*peer{a, b, base} {
		if f := one[wire.Freeze](p); !f.On {
			t.Errorf("%v was told to go on", p.role)
		}
	}
	none[wire.Freeze](login)
	if f := one[wire.Freeze](r.join(wire.BaseApp, 22)); !f.On {
		t.Error("an app that joins a frozen world is not told")
	}
	r.logged("world frozen", "observer 1")

	for range 20 { // however loaded, nothing moves
		a.reportCells(cellReport(1, cell, bsp.Version{Term: 1, N: 2}, 0.9, -100, 100))
		b.reportCells()
		r.pass(500 * time.Millisecond)
	}
	none[wire.AddCell](b)
	if st := r.m.Status(); st.ReportsSinceFreeze != 20 {
		t.Errorf("%d reports since", st.ReportsSinceFreeze)
	}

	watch.send(&wire.Freeze{On: false})
	if f := one[wire.Freeze](a); f.On {
		t.Error("the world stays frozen")
	}
	if st := r.m.Status(); st.ReportsSinceFreeze != 0 {
		t.Errorf("%d reports since", st.ReportsSinceFreeze)
	}
	a.reportCells(cellReport(1, cell, bsp.Version{Term: 1, N: 2}, 0.9, -100, 100))
	r.pass(2 * time.Second)
	one[wire.AddCell](b)
	none[wire.Freeze](r.join(wire.CellApp, 12))
	if n := r.m.Counts().Misplaced; n != 1 {
		t.Errorf("%d misplaced", n)
	}
}

func TestStatus(t *testing.T) {
	r := newRig(t, func(c *Config) { c.CPU = func() time.Duration { return 250 * time.Millisecond } })
	watch := r.join(wire.Observer, 30)
	a, b, first, second := r.split()
	base := r.join(wire.BaseApp, 20)
	v := r.m.spaces[0].version()
	a.reportCells(wire.CellReport{Space: 1, Cell: first, Version: v, Load: 3e8, Reals: 40, Ghosts: 4})
	b.reportCells(wire.CellReport{Space: 1, Cell: second, Version: v, Load: -5, Reals: 2, Ghosts: 1})
	report := wire.Report{CPU: time.Second, Ticks: 10, Late: 1, Pending: 3, Clients: 6, Counters: status.Counters{ClientCallsSent: 7}}
	report.TickTimes[4] = 10
	report.Received[wire.FlowID] = 5
	base.send(&report)
	a.send(&report)
	watch.ids()
	for _, p := range r.peers {
		p.mute = true
	}
	r.pass(time.Second)
	st := one[wire.Status](watch)

	if d := cmp.Diff(r.m.Status().Spaces, st.Spaces); d != "" {
		t.Errorf("in the process and over the wire (-want +got):\n%s", d)
	}
	if st.Cells != 2 || st.Reals != 42 || st.Ghosts != 5 || st.CellsAdded != 1 || st.Clients != 12 {
		t.Errorf("sums: %+v", st)
	}
	if st.Ticks != 20 || st.Late != 2 || st.TickTimes[4] != 20 || st.Pending != 6 || st.Counters.ClientCallsSent != 14 || st.CPU != 2.25 {
		t.Errorf("sums of reports: %+v", st)
	}
	if st.Received["flow.Message"] != 10 || st.Received["Join"] != 4 {
		t.Errorf("messages handled: %v", st.Received)
	}
	sp := st.Spaces[0]
	if sp.ID != 1 || sp.Version != (bsp.Version{Term: 1, N: v.N + 1}) || // with the new loads
		len(sp.Cells) != 2 || len(sp.Lines) != 1 {
		t.Fatalf("space: %+v", sp)
	}
	line := sp.Lines[0]
	if !line.Vertical || line.From != -500 || line.To != 500 || math.Abs(line.At) > 20 {
		t.Errorf("line: %+v", line)
	}
	area := 0.0
	for _, c := range sp.Cells {
		area += (c.Rect[2] - c.Rect[0]) * (c.Rect[3] - c.Rect[1])
		if c.Load < 0 || c.Load > 0.3 || !c.Created || c.App == 0 {
			t.Errorf("cell: %+v", c)
		}
	}
	if math.Abs(area-1e6) > 1 {
		t.Errorf("the cells cover %v of the bounds' 1e6 square metres", area)
	}
	var apps []string
	for _, app := range st.Apps {
		apps = append(apps, app.Role)
	}
	if d := cmp.Diff([]string{"CellAppMgr", "CellApp", "CellApp", "BaseApp"}, apps); d != "" {
		t.Errorf("apps (-want +got):\n%s", d)
	}
}

// However many cells there are, observers are told a Status that they can read: without some of the
// spaces, but with all the sums.
func TestStatusIsBounded(t *testing.T) {
	r := newRig(t, nil)
	watch := r.join(wire.Observer, 30)
	a := r.join(wire.CellApp, 10)
	for id := range entity.SpaceID(200) {
		s := r.m.enter(SpaceConfig{ID: 2 + id, Bounds: r.m.spaces[0].cfg.Bounds}, nil)
		r.m.homeless = nil
		for i := range 50 {
			c, leaf := r.m.newCell(r.m.members[1])
			leaf.Salt += uint32(i) // no app has two cells of a space
			if s.adopt(c); i == 0 {
				s.tree = bsp.New(bsp.Version{}, leaf)
			} else if err := s.tree.Split(s.cells[i-1].id, bsp.AxisX, 50*float64(i)+0.123456, leaf, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	watch.ids()
	a.ids()
	r.m.tellObservers()
	st := one[wire.Status](watch)
	if st.Cells != 10001 || st.SpaceCount != 201 || len(st.Spaces) == 0 || len(st.Spaces) == 201 || len(st.Apps) != 2 {
		t.Errorf("%d cells, %d of %d spaces, %d apps", st.Cells, len(st.Spaces), st.SpaceCount, len(st.Apps))
	}
}

// What apps tell of single types and properties is left out before anything that nobody else tells.
func TestStatusLeavesOutDetail(t *testing.T) {
	r := newRig(t, nil)
	watch := r.join(wire.Observer, 30)
	report := wire.Report{Types: []wire.TypeLoad{{Type: "Avatar", Reals: 1}}, Counts: status.Counts{"call.TimedOut": 1}}
	report.Carriers = []status.Carrier{{Network: "udp", Counts: status.Counts{"udp.Overflow": 1}}}
	for i := range wire.MaxTraffic {
		report.Traffic = append(report.Traffic, status.PropertyTraffic{Type: strings.Repeat("T", wire.MaxTypeName), Property: strings.Repeat("p", wire.MaxTypeName), Way: "moves", Bytes: uint64(i)})
	}
	const apps = 150
	for i := range apps {
		r.join(wire.CellApp, 40+i).send(&report)
	}
	watch.ids()
	r.m.tellObservers()
	st := one[wire.Status](watch)
	if len(st.Spaces) != st.SpaceCount || len(st.Apps) != apps+1 {
		t.Errorf("%d of %d spaces, %d of %d apps", len(st.Spaces), st.SpaceCount, len(st.Apps), apps+1)
	}
	if last := st.Apps[apps]; last.Traffic != nil || last.Types != nil || last.Counts != nil || len(last.Carriers) != 1 || last.Carriers[0].Counts != nil {
		t.Errorf("not left out: %+v", last)
	}
	if last := r.m.Status().Apps[apps]; len(last.Traffic) == 0 || last.Counts["call.TimedOut"] != 1 || last.Carriers[0].Counts["udp.Overflow"] != 1 {
		t.Error("the manager itself has forgotten the detail")
	}
}

func TestCutOutsideOfBounds(t *testing.T) {
	bounds := bsp.Rect{MinX: -10, MinZ: -10, MaxX: 10, MaxZ: 10}
	far := bsp.Rect{MinX: 50, MinZ: math.Inf(-1), MaxX: math.Inf(1), MaxZ: 3}
	if got, want := cut(far, bounds), (bsp.Rect{MinX: 10, MinZ: -10, MaxX: 10, MaxZ: 3}); got != want {
		t.Errorf("cut to %v, want %v", got, want)
	}
}

func TestGarbage(t *testing.T) {
	r := newRig(t, nil)
	a := r.join(wire.CellApp, 10)
	a.raw(nil)
	a.raw([]byte{200, 1, 2})
	a.raw([]byte{byte(wire.CellsReportID), 1, 200, 200, 200})
	a.raw([]byte{byte(wire.ReportID)})
	a.send(&wire.Welcome{}) // a manager sends it and does not receive it
	a.reportCells(wire.CellReport{Space: 1}, wire.CellReport{Space: 77})
	stranger := r.connect(wire.CellApp, at(11))
	stranger.send(&wire.Report{})
	stranger.raw([]byte{byte(wire.JoinID), 99})
	r.m.Message(r.now, 12345, true, []byte{1}) // a channel that is gone
	want := Counts{Malformed: 4, Unjoined: 1, Misplaced: 2, UnknownCells: 2}
	if d := cmp.Diff(want, r.m.Counts()); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if len(r.net.aborted) != 1 || r.net.aborted[0] != stranger.ch {
		t.Errorf("aborted %v; a stranger who sends garbage is cut off, a member is not", r.net.aborted)
	}
	if n := strings.Count(r.log.String(), "cannot be read"); n != 1 {
		t.Errorf("the log tells %d times of one faulty member", n)
	}
}

func TestSecondChannelOfAMember(t *testing.T) {
	r := newRig(t, nil)
	r.join(wire.BaseApp, 10)
	side := r.connect(wire.BaseApp, at(10))
	side.send(&wire.Locate{ID: 5, Space: 1})
	one[wire.Located](side)
	side.drop(nil)
	if st := r.m.Status(); st.Deaths != 0 {
		t.Error("a channel on which nobody joined stands for the member")
	}
}

func TestTick(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Tick = 50 * time.Millisecond })
	if next := r.m.Tick(0); next != 50*time.Millisecond {
		t.Errorf("next %v", next)
	}
	if next := r.m.Tick(50 * time.Millisecond); next != 100*time.Millisecond {
		t.Errorf("next %v", next)
	}
}

// A tick in which nothing is due allocates nothing.
func TestTickAllocatesNothing(t *testing.T) {
	r := newRig(t, nil)
	r.split()
	r.join(wire.BaseApp, 20)
	r.pass(time.Second)
	r.m.balanceAt, r.m.metaAt, r.m.statusAt = 1<<62, 1<<62, 1<<62
	if n := testing.AllocsPerRun(10, func() {
		r.now += 100 * time.Millisecond
		r.m.Tick(r.now)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Two runs with the same inputs send the same bytes in the same order.
func TestSameInputsSameOutputs(t *testing.T) {
	run := func() []string {
		r := newRig(t, nil)
		a, b, first, second := r.split()
		r.join(wire.BaseApp, 20)
		watch := r.join(wire.Observer, 30)
		for i := range 20 {
			v := r.m.spaces[0].version()
			a.reportCells(cellReport(1, first, v, 0.5, -100, float32(-i)))
			b.reportCells(cellReport(1, second, v, 0.1, 1, 100))
			r.pass(300 * time.Millisecond)
		}
		watch.send(&wire.Freeze{On: true})
		b.mute = true
		r.pass(5 * time.Second)
		return r.net.all
	}
	if d := cmp.Diff(run(), run()); d != "" {
		t.Errorf("two runs differ:\n%s", d)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte{byte(wire.JoinID), 2}, false)
	f.Add(wire.Encode(nil, &wire.Report{}), true)
	f.Add(wire.Encode(nil, &wire.CellsReport{Cells: make([]wire.CellReport, 1)}), true)
	f.Add(wire.Encode(nil, &wire.SetSpaceData{Space: 1}), true)
	f.Add(wire.Encode(nil, &wire.GeometryLacked{Space: 1, From: bsp.Version{Term: 1, N: 1}}), true)
	f.Add(wire.Encode(nil, &wire.GeometryLacked{Space: 1}), true)
	f.Fuzz(func(t *testing.T, msg []byte, joined bool) {
		r := newRig(t, nil)
		p := r.connect(wire.CellApp, at(10))
		if joined {
			p.sendJoin()
		}
		p.raw(msg)
		r.pass(300 * time.Millisecond)
	})
}

// The status feeds a space viewer: how deep and how loaded each line is, where each cell's crowd
// is, what it has loaded, and which cells retire or are overloaded.
func TestStatusOfLinesAndMarks(t *testing.T) {
	r := newRig(t, nil)
	a, b, first, second := r.split()
	v := r.m.spaces[0].version()
	busy := cellReport(1, first, v, 0.95, -100, -5)
	busy.Loaded = bsp.Rect{MinX: -500, MinZ: -500, MaxX: 0, MaxZ: 500}
	for range 80 { // until the smoothed load has come over the bound
		a.reportCells(busy)
		b.reportCells(cellReport(1, second, v, 0.05, 20, 30))
		r.pass(200 * time.Millisecond)
	}
	if err := r.m.spaces[0].tree.Retire(second); err != nil {
		t.Fatal(err)
	}
	st := r.m.Status()
	if st.Retiring != 1 || len(st.Spaces[0].Lines) != 1 {
		t.Fatalf("%+v", st)
	}
	line := st.Spaces[0].Lines[0]
	if math.Abs(line.Average-0.5) > 0.05 || line.Depth != 0 || line.Aggression <= 0 || line.Direction == 0 {
		t.Errorf("line: %+v", line)
	}
	for _, c := range st.Spaces[0].Cells {
		isFirst := c.Cell == first.String()
		if c.Overloaded != isFirst || c.Retiring == isFirst || (c.Loaded != nil) != isFirst {
			t.Errorf("cell: %+v", c)
		}
		if c.Crowd == nil || isFirst && c.Crowd[0] != -100 {
			t.Errorf("crowd of %v: %v", c.Cell, c.Crowd)
		}
	}
}
