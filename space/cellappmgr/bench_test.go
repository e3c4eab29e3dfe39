package cellappmgr

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// grow makes one space of so many cells, each on a CellApp of its own.
func grow(b *testing.B, cells int) (*rig, [][]byte) {
	r := newRig(b, func(c *Config) { c.Spaces[0].MinCells = cells })
	for i := range cells {
		r.join(wire.CellApp, 2+i)
	}
	for range 10 * cells {
		for _, p := range r.peers {
			p.confirm()
		}
		if r.m.Status().Cells == cells {
			break
		}
		r.pass(100 * time.Millisecond)
	}
	s := r.m.spaces[0]
	if len(s.cells) != cells {
		b.Fatalf("%d cells, want %d", len(s.cells), cells)
	}
	reports := make([][]byte, cells)
	for _, c := range s.cells {
		for i, p := range r.peers {
			if c.app.address == p.addr {
				reports[i] = wire.Encode(nil, &wire.CellsReport{Load: 1e8, Cells: []wire.CellReport{cellReport(1, c.id, s.version(), 0.1, 0, 100)}})
			}
		}
	}
	return r, reports
}

// BenchmarkReports is one report of each of 200 CellApps: four of these a second
// are the most that a manager is told.
func BenchmarkReports(b *testing.B) {
	r, reports := grow(b, 200)
	b.ReportAllocs()
	for b.Loop() {
		for i, p := range r.peers {
			r.m.Message(r.now, p.ch, true, reports[i])
		}
	}
}

// BenchmarkBalance is one balance of a space of 200 cells, evenly loaded.
func BenchmarkBalance(b *testing.B) {
	r, reports := grow(b, 200)
	for i, p := range r.peers {
		p.raw(reports[i])
	}
	b.ReportAllocs()
	for b.Loop() {
		r.m.balance(r.now)
	}
}

// BenchmarkPublish is one moved line in a space of 200 cells, told to all of them.
// B/app is what each is sent, B/tree the whole tree.
func BenchmarkPublish(b *testing.B) {
	r, _ := grow(b, 200)
	s := r.m.spaces[0]
	var line bsp.Node
	for n := range s.tree.Nodes() {
		line = n
		break
	}
	lo, hi, _ := s.tree.LineLimits(line.ID)
	r.m.publish(r.now)
	r.net.unusable = true // it keeps and checks everything, which is not what is measured
	sent := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.tree.MoveLine(line.ID, (lo+hi)/2+float64(i%2+1)); err != nil {
			b.Fatal(err)
		}
		s.changed = true
		from := s.version()
		r.m.publish(r.now)
		sent = len(s.publisher.Message(from))
	}
	b.ReportMetric(float64(sent), "B/app")
	b.ReportMetric(float64(len(s.publisher.Tree().Append(nil))), "B/tree")
}
