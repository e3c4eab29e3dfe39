package cellappmgr

import (
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/internal/wire"
)

// The first cell of a space with a limit is told it. When all cells together have as many entities, all
// are told so, and again when they have fewer, or when the limit is changed.
func TestSpaceIsFull(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Spaces[0].MaxEntities = 10 })
	a, b, first, second := r.split()
	s := r.m.space(1)
	if e := s.data.find(spacekey.MaxEntities); e == nil {
		t.Fatal("there is no limit")
	} else if n, err := spacekey.ParseMaxEntities(e.Value); n != 10 || err != nil {
		t.Errorf("the limit is %d, %v", n, err)
	}
	report := func(p *peer, id bsp.CellID, reals uint32) {
		c := cellReport(1, id, s.version(), 0.1, -100, 100)
		c.Reals = reals
		p.reportCells(c)
	}
	told := func(want ...bool) {
		t.Helper()
		for _, p := range []*peer{a, b} {
			var got []bool
			for _, m := range take[wire.SpaceData](p) {
				if m.Entry.Key == spacekey.Full {
					got = append(got, !m.Entry.Removed)
				}
			}
			if len(got) != len(want) || len(got) == 1 && got[0] != want[0] {
				t.Errorf("%v was told %v, want %v", p.addr, got, want)
			}
		}
	}
	report(a, first, 6)
	report(b, second, 3)
	told()
	report(b, second, 4)
	report(b, second, 5)
	told(true)
	report(a, first, 4)
	told(false)
	a.send(&wire.SetSpaceData{Space: 1, Key: spacekey.MaxEntities, Value: spacekey.AppendMaxEntities(nil, 9)})
	report(a, first, 4)
	told(true)
	a.send(&wire.SetSpaceData{Space: 1, Key: spacekey.MaxEntities, Removed: true})
	report(a, first, 4)
	told(false)
	a.send(&wire.SetSpaceData{Space: 1, Key: spacekey.MaxEntities, Value: []byte("rubbish")})
	report(a, first, 400)
	told()
}
