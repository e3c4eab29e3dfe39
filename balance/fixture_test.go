package balance

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// edgesOf measures edges as a CellApp does: inward from each edge, a level at the first gap after
// its limit is passed, the smallest first; levels that are not reached lie beyond the last real.
func edgesOf(samples []load.Sample, largest int64) load.Edges {
	var e load.Edges
	if len(samples) == 0 {
		return e
	}
	for axis := range 2 {
		for high := range 2 {
			sign := float32(1 - 2*high)
			depth := func(s load.Sample) float32 { return sign * []float32{s.X, s.Z}[axis] }
			s := slices.SortedFunc(slices.Values(samples), func(a, b load.Sample) int { return cmp.Compare(depth(a), depth(b)) })
			level, sum := load.Levels-1, int64(0)
			for i := range s {
				sum += s[i].Load
				at := depth(s[i]) + 0.1
				if i+1 < len(s) {
					if depth(s[i+1])-depth(s[i]) < load.Clump {
						continue
					}
					at = (depth(s[i]) + depth(s[i+1])) / 2
				}
				if level >= 0 && sum > largest>>level {
					e[axis][high][level] = load.Bound{At: sign * at, Load: sum}
					level--
				}
			}
			for ; level >= 0; level-- {
				e[axis][high][level] = load.Bound{At: sign * (depth(s[len(s)-1]) + 0.1), Load: sum}
			}
		}
	}
	return e
}

// row is n reals, step metres apart along x from a place, that share a load.
func row(from, z, step float32, n int, cores float64) []load.Sample {
	var s []load.Sample
	for i := range n {
		s = append(s, load.Sample{X: from + float32(i)*step, Z: z, Load: int64(cores*float64(load.Core)) / int64(n)})
	}
	return s
}

// cellOf is the report of a cell with these reals. It runs on the app of its own number.
func cellOf(n uint32, reals []load.Sample) Cell {
	c := Cell{ID: bsp.CellID{Term: 1, N: n}, App: n, Reals: len(reals), Profile: load.Build(reals), Edges: edgesOf(reals, 20e6)}
	for _, s := range reals {
		c.Load += s.Load
	}
	return c
}

func appAddr(n uint32) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}), 1)
}

// observed is a space of these cells, each alone on its app.
func observed(t testing.TB, tree string, cells ...Cell) *Observation {
	t.Helper()
	parsed, err := bsp.ParseText(tree)
	if err != nil {
		t.Fatal(err)
	}
	o := &Observation{Now: time.Minute, Spaces: []Space{{ID: 1, Tree: parsed, Cells: cells}}}
	for i := range cells {
		l, _, _ := parsed.Leaf(cells[i].ID)
		l.App = appAddr(cells[i].App)
		o.Apps = append(o.Apps, App{ID: cells[i].App, Addr: l.App, AppLoad: AppLoad{Load: cells[i].Load, Smoothed: cells[i].Load}})
	}
	return o
}

const pairTree = "version 1.1 \n x 0 \n cell 1.1 - 0 created \n cell 1.2 - 0 created"

// pair is two cells side by side, of 100 reals each, 10 m apart. Of 0.2 cores each real is 0.002,
// so that the left cell's levels from its high edge are 0.002 at -10, 0.004 at -20, 0.006 at -30,
// 0.012 at -60 and 0.022 at -110.
func pair(t testing.TB, left, right float64) *Observation {
	t.Helper()
	return observed(t, pairTree, cellOf(1, row(-995, 0, 10, 100, left)), cellOf(2, row(5, 0, 10, 100, right)))
}

// loadedPair is a pair that pushes its line to the left over 10 km of geometry, of which the cell on the
// right has loaded what begins at from. edit, if any, changes it.
func loadedPair(t testing.TB, from float64, edit func(*Observation)) *Observation {
	t.Helper()
	o := pair(t, 0.2, 0.1)
	s := &o.Spaces[0]
	s.Geometry = span(-5000, 5000)
	s.Cells[0].Loaded, s.Cells[1].Loaded = span(-5000, 800), span(from, 5000)
	if edit != nil {
		edit(o)
	}
	return o
}

func lineIDs(t *bsp.Tree) []bsp.NodeID {
	var ids []bsp.NodeID
	for n := range t.Nodes() {
		ids = append(ids, n.ID)
	}
	return ids
}

func leafOf(o *Observation, n uint32) *bsp.Leaf {
	l, _, _ := o.Spaces[0].Tree.Leaf(bsp.CellID{Term: 1, N: n})
	return l
}

// newClassic is without a border band unless one is set, as the seed is.
func newClassic(t testing.TB, cfg knobs) *Classic {
	t.Helper()
	if cfg.Band == 0 {
		cfg.Band = math.SmallestNonzeroFloat64
	}
	cfg.Policy = classicName
	c, err := cfg.classic().make(cfg.shared(), cfg.border())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func apply(o *Observation, p *Plan) error {
	return p.Apply(func(id uint32) *bsp.Tree {
		for i := range o.Spaces {
			if o.Spaces[i].ID == id {
				return o.Spaces[i].Tree
			}
		}
		return nil
	}, func(a *Add) bsp.Leaf {
		return bsp.Leaf{Cell: bsp.CellID{Term: 9, N: a.App}, App: appAddr(a.App)}
	})
}
