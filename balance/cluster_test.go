package balance

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// cluster is a few spaces with random trees and crowds.
type cluster struct {
	rng    *rand.Rand
	apps   int
	spaces []Space
	now    time.Duration
	next   uint32
}

func newCluster(seed uint64) *cluster {
	c := &cluster{rng: rand.New(rand.NewPCG(seed, 7)), apps: 12}
	for id := range uint32(3) {
		c.next++
		c.spaces = append(c.spaces, Space{ID: id + 1, Tree: bsp.New(bsp.Version{Term: 1}, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: c.next}, App: appAddr(id + 1)})})
	}
	return c
}

// stir cuts, retires and removes leaves, as a manager and dying CellApps do.
func (c *cluster) stir() {
	for i := range c.spaces {
		tree := c.spaces[i].Tree
		leaves := slices.Collect(func(yield func(bsp.CellID) bool) {
			for _, l := range tree.Leaves() {
				if !yield(l.Cell) {
					return
				}
			}
		})
		cell := leaves[c.rng.IntN(len(leaves))]
		switch c.rng.IntN(6) {
		case 0, 1:
			c.next++
			fresh := bsp.Leaf{Cell: bsp.CellID{Term: 1, N: c.next}, App: appAddr(uint32(c.rng.IntN(c.apps) + 1))}
			_ = tree.Split(cell, bsp.Axis(c.rng.IntN(2)), c.rng.NormFloat64()*300, fresh, c.rng.IntN(2) == 0)
		case 2:
			_ = tree.Retire(cell)
		case 3:
			if len(leaves) > 8 {
				_ = tree.Remove(cell)
			}
		case 4:
			_ = tree.Unretire(cell)
		}
	}
}

// observe makes any figures that could be handed in, sense or nonsense. It returns how many make no
// sense.
func (c *cluster) observe() (o *Observation, nonsense int) {
	c.now += time.Second
	o = &Observation{Now: c.now}
	pick := func(values ...int64) int64 { return values[c.rng.IntN(len(values))] }
	for i := range c.spaces {
		s := c.spaces[i]
		if c.rng.IntN(3) == 0 {
			s.Geometry = bsp.Rect{MinX: -1000, MinZ: -800, MaxX: 900, MaxZ: 1000}
		}
		s.MinLoad, s.MinCells, s.Cells = pick(0, 0, 1e9), c.rng.IntN(4), nil
		switch c.rng.IntN(20) {
		case 0:
			s.MinLoad = pick(-1, math.MaxInt64)
			nonsense++
		case 1:
			s.Geometry.MaxX = math.NaN()
			nonsense++
		}
		for r, leaf := range s.Tree.Leaves() {
			leaf.Created = leaf.Created || c.rng.IntN(4) > 0
			var samples []load.Sample
			for range c.rng.IntN(25) * c.rng.IntN(2) {
				samples = append(samples, load.Sample{X: float32(c.rng.NormFloat64() * 300), Z: float32(c.rng.IntN(9)-4) * 60, Load: c.rng.Int64N(2e7)})
			}
			cell := cellOf(leaf.Cell.N, samples)
			cell.App = uint32(c.rng.IntN(c.apps) + 1)
			cell.Load = pick(cell.Load, cell.Load, 0, c.rng.Int64N(2e9), load.Max)
			cell.Loaded = []bsp.Rect{{}, bsp.Everything(), r, r.Grow(700)}[c.rng.IntN(4)]
			cell.Ghosts = c.rng.IntN(2)
			n := nonsensical(c.rng, &cell)
			nonsense += n
			s.Cells = append(s.Cells, cell)
			if n == 0 && c.rng.IntN(15) == 0 {
				s.Cells = append(s.Cells, cell)
				nonsense++
			}
		}
		o.Spaces = append(o.Spaces, s)
	}
	for id := range c.apps {
		a := App{ID: uint32(id + 1), Addr: appAddr(uint32(id + 1)), AppLoad: AppLoad{Load: c.rng.Int64N(2e9)}}
		a.Smoothed = pick(a.Load, 0, c.rng.Int64N(2e9))
		switch c.rng.IntN(40) {
		case 0:
			a.Load = pick(-1, math.MaxInt64, math.MinInt64)
			nonsense++
		case 1:
			o.Apps = append(o.Apps, a)
			nonsense++
		}
		o.Apps = append(o.Apps, a)
	}
	return o, nonsense
}

// nonsensical spoils some reports, each in one way.
func nonsensical(rng *rand.Rand, c *Cell) int {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rng.IntN(3)]
	switch rng.IntN(40) {
	case 0:
		c.Load = []int64{-1, math.MinInt64, math.MaxInt64}[rng.IntN(3)]
	case 1:
		c.Profile.X[rng.IntN(load.Slices+1)] = float32(bad)
	case 2:
		c.Edges[rng.IntN(2)][rng.IntN(2)][rng.IntN(load.Levels)].At = float32(bad)
	case 3:
		c.Edges[rng.IntN(2)][rng.IntN(2)][rng.IntN(load.Levels)].Load = -1
	case 4:
		c.ID.N += 1e6
	case 5:
		c.Reals = -5
	case 6:
		c.Loaded.MinX = math.NaN()
	default:
		return 0
	}
	return 1
}
