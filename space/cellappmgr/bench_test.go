package cellappmgr

import (
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// grow makes one space of so many cells, each on its own CellApp.
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

// BenchmarkReports is one report from each of 200 CellApps: a manager is told at most four of these
// a second.
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
		r.m.balanceAt = 0 // the balance is due
		r.m.balance(r.now)
	}
}

// BenchmarkPublish is one moved line in a space of 200 cells, told to all of them. B/app is what
// each app is sent, B/tree the size of the whole tree.
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
	r.net.unusable = true // the recorder keeps and checks everything, which is not to be measured
	sent := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := s.tree.MoveLine(line.ID, (lo+hi)/2+float64(i%2+1)); err != nil {
			b.Fatal(err)
		}
		r.m.touch(s)
		from := s.version()
		r.m.publish(r.now)
		sent = len(s.publisher.Message(from))
	}
	b.ReportMetric(float64(sent), "B/app")
	b.ReportMetric(float64(len(s.publisher.Tree().Append(nil))), "B/tree")
}

// hall makes so many rooms on ten CellApps, and the reports of these when nothing is new: each has
// a quarter of a second's share of its rooms.
func hall(b *testing.B, rooms int) (r *rig, reports [][]byte) {
	r = newRig(b, nil)
	for i := range 10 {
		r.join(wire.CellApp, 10+i)
	}
	base := r.join(wire.BaseApp, 30)
	for i := range rooms {
		base.send(&wire.CreateSpace{Number: uint64(i + 1), Info: aRoom()})
	}
	for _, p := range r.peers[:10] {
		var m wire.CellsReport
		for _, a := range p.confirm() {
			m.Cells = append(m.Cells, wire.CellReport{Space: a.Space, Cell: a.Cell, Version: bsp.Version{Term: 1, N: 2}, Load: 1e5})
		}
		for part := range slices.Chunk(m.Cells, wire.MaxCells) {
			p.send(&wire.CellsReport{Load: 1e8, Cells: part})
		}
		m.Cells = m.Cells[:min(len(m.Cells)/4, wire.MaxCells)]
		reports = append(reports, wire.Encode(nil, &m))
	}
	r.net.unusable = true
	return r, reports
}

// BenchmarkHall is 10,000 idle rooms on ten CellApps: a report from each, a tick of the manager, a
// balance of both kinds, and a room that comes and goes.
func BenchmarkHall(b *testing.B) {
	r, reports := hall(b, 10_000)
	b.Run("reports", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, p := range r.peers[:10] {
				p.raw(reports[i])
			}
		}
	})
	b.Run("tick", func(b *testing.B) {
		b.ReportAllocs()
		r.m.balanceAt, r.m.metaAt = never, never
		for b.Loop() {
			r.now += 100 * time.Millisecond
			r.m.Tick(r.now)
			for _, a := range r.m.members {
				a.heard = r.m.awake.total
			}
		}
	})
	b.Run("balance", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.m.balanceAt, r.m.metaAt = 0, 0
			r.m.balance(r.now)
		}
	})
	b.Run("room", func(b *testing.B) {
		b.ReportAllocs()
		base, n := r.peers[10], uint64(1<<32)
		for b.Loop() {
			n++
			base.send(&wire.CreateSpace{Number: n, Info: aRoom()})
			s := r.m.spaces[len(r.m.spaces)-1]
			c := s.cells[0]
			m := c.app
			base.send(&wire.DestroySpace{Space: s.cfg.ID})
			for _, p := range r.peers {
				if p.addr == m.address {
					p.send(&wire.CellRemoved{Space: s.cfg.ID, Cell: c.id})
				}
			}
		}
	})
}

const never = time.Duration(1 << 62)

// BenchmarkTickOfRooms is a tick in which nothing is due, for a manager with 16,384 idle rooms on
// 200 CellApps.
func BenchmarkTickOfRooms(b *testing.B) {
	r, base := roomsOn(b, 200)
	for i := 1; len(r.m.spaces) < MaxSpaces; i++ {
		base.send(&wire.CreateSpace{Number: uint64(i), Info: aRoom()})
	}
	for _, s := range r.m.spaces {
		for _, c := range s.cells {
			c.created, c.reported = true, true
		}
	}
	r.pass(200 * time.Millisecond)
	r.m.balanceAt, r.m.metaAt, r.m.statusAt = 1<<62, 1<<62, 1<<62
	b.ReportAllocs()
	for b.Loop() {
		r.now += 100 * time.Millisecond
		for _, a := range r.m.members {
			a.heard = r.m.awake.total
		}
		r.m.Tick(r.now)
	}
}

// roomsOn is a manager with so many CellApps and a BaseApp.
func roomsOn(t testing.TB, apps int) (*rig, *peer) {
	r := newRig(t, nil)
	for i := range apps {
		r.join(wire.CellApp, 2+i)
	}
	return r, r.join(wire.BaseApp, 250)
}
