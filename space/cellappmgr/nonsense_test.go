package cellappmgr

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// A CellApp that reports what cannot be true is named once. What it says is counted and left out:
// it neither moves a line to nowhere nor shows up in what others are told.
func TestNonsense(t *testing.T) {
	nan := float32(math.NaN())
	for name, tt := range map[string]struct {
		change func(*wire.CellsReport, *wire.CellReport, bsp.CellID)
		what   string // in the log; "" if it may be true
	}{
		"nothing":       {func(*wire.CellsReport, *wire.CellReport, bsp.CellID) {}, ""},
		"negative app":  {func(m *wire.CellsReport, _ *wire.CellReport, _ bsp.CellID) { m.Load = -1 }, "load of the app"},
		"huge app":      {func(m *wire.CellsReport, _ *wire.CellReport, _ bsp.CellID) { m.Load = math.MaxInt64 }, "load of the app"},
		"mad clock":     {func(m *wire.CellsReport, _ *wire.CellReport, _ bsp.CellID) { m.Time = 1 << 62 }, "time of the cluster"},
		"negative cell": {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Load = math.MinInt64 }, "load of the cell"},
		"huge cell":     {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Load = load.Max + 1 }, "load of the cell"},
		"reals":         {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Reals = math.MaxUint32 }, "number of entities"},
		"handoffs":      {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Handoffs = math.MaxUint32 }, "number of entities"},
		"NaN":           {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Profile.X[3] = nan }, "CellApp 1"},
		"space":         {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Space = 77 }, "space 77"},
		"created space": {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Space = 1<<spaceTermShift | 9 }, "space 16777225"},
		"next cell":     {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Cell.N = 50 }, "1.50"},
		"removed cell":  {func(_ *wire.CellsReport, c *wire.CellReport, _ bsp.CellID) { c.Cell = bsp.CellID{} }, ""},
		"another's":     {func(_ *wire.CellsReport, c *wire.CellReport, other bsp.CellID) { c.Cell = other }, "CellApp 1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			a, b, first, second := r.split()
			r.pass(time.Second)
			r.m.metaAt = time.Hour // the number of cells stays
			r.log.Reset()
			for range 8 {
				v := r.m.spaces[0].version()
				cell := cellReport(1, first, v, 0.1, -100, 0)
				m := wire.CellsReport{Load: 1e8}
				tt.change(&m, &cell, second)
				m.Cells = []wire.CellReport{cell}
				a.send(&m)
				b.reportCells(cellReport(1, second, v, 0.1, 1, 100))
				r.pass(500 * time.Millisecond)
			}
			lines := strings.Count(r.log.String(), "level=WARN")
			if want := min(1, len(tt.what)); lines != want || !strings.Contains(r.log.String(), tt.what) {
				t.Errorf("%d lines, want %d with %q:\n%s", lines, want, tt.what, r.log.String())
			}
			st := r.m.Status()
			if _, err := json.Marshal(st); err != nil {
				t.Fatal(err)
			}
			if st.Reals > 1000 || math.Abs(st.Spaces[0].Lines[0].At) > 500 {
				t.Errorf("%d reals, line %+v", st.Reals, st.Spaces[0].Lines[0])
			}
			for _, leaf := range r.m.spaces[0].publisher.Tree().Leaves() {
				if leaf.Load > load.Core {
					t.Errorf("a load of %d is told", leaf.Load)
				}
			}
		})
	}
}

// A CellApp that says nothing about a cell which it has made is named and counted once, however
// long that lasts. Lines beside the cell rest in the meantime, since its former load is out of
// date.
func TestCellOfWhichNothingIsTold(t *testing.T) {
	r := newRig(t, nil)
	a, b, first, second := r.split()
	r.m.metaAt = time.Hour
	tell := func(times int, cells ...wire.CellReport) {
		for range times {
			a.reportCells(cellReport(1, first, r.m.spaces[0].version(), 0.1, -100, 0))
			b.reportCells(cells...)
			r.pass(500 * time.Millisecond)
		}
	}
	full := func() wire.CellReport { return cellReport(1, second, r.m.spaces[0].version(), 0.1, 1, 100) }
	tell(1, full())
	r.log.Reset()
	tell(10)
	if n := r.m.Counts().Implausible; n != 0 {
		t.Fatalf("counted %d times within %v", n, 2*r.m.cfg.AppTimeout)
	}
	tell(10)
	moved := r.m.linesMoved
	tell(10)
	if n := r.m.Counts().Implausible; n != 1 || r.m.linesMoved != moved {
		t.Errorf("counted %d times, %d lines moved", n, r.m.linesMoved-moved)
	}
	r.logged("CellApp 2", "nothing of cell "+second.String())
	tell(1, full())
	if c := r.m.spaces[0].find(second); c.silent {
		t.Error("its report is not taken again")
	}
	tell(20)
	if n := r.m.Counts().Implausible; n != 2 {
		t.Errorf("counted %d times, want one more", n)
	}
}

// The manager has a handler for every message that the table says it takes, and for no other.
func TestRoutes(t *testing.T) {
	if differ := newRig(t, nil).m.routes.Check(wire.CellAppMgr); len(differ) > 0 {
		t.Errorf("the routes and the table differ in %v", differ)
	}
}
