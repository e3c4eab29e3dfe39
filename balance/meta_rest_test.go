package balance

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// still is a cluster whose entities never move: they are handed over at once wherever a line
// passes.
type still struct {
	o       Observation
	crowds  map[uint32][]load.Sample // of each space
	n       uint32
	p       Policy
	changes int // cells added, cancelled and retired in the last run
}

// addSpace has so many entities of a load, in thousandths of a core for all, spread over a square.
func (c *still) addSpace(rng *rand.Rand, id, app uint32, side float64, entities int, milli int64) {
	c.n++
	t := bsp.New(bsp.Version{Term: 1, N: 1}, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: c.n}, App: appAt(app), Created: true})
	c.o.Spaces = append(c.o.Spaces, Space{ID: id, Tree: t})
	for range entities {
		c.crowds[id] = append(c.crowds[id], load.Sample{
			X: float32(rng.Float64() * side), Z: float32(rng.Float64() * side), Load: milli * load.Core / 1000 / int64(entities)})
	}
}

func (c *still) second(t *testing.T) {
	t.Helper()
	total := map[uint32]int64{}
	for i := range c.o.Spaces {
		s := &c.o.Spaces[i]
		in := map[bsp.CellID][]load.Sample{}
		for _, e := range c.crowds[s.ID] {
			cell := s.Tree.At(float64(e.X), float64(e.Z)).Cell
			in[cell] = append(in[cell], e)
		}
		s.Cells = nil
		for l := range leavesOf(s.Tree) {
			l.Created = true
			x := Cell{ID: l.Cell, App: uint32(l.App.Port()) - 1000, Reals: len(in[l.Cell]), Profile: load.Build(in[l.Cell])}
			for _, e := range in[l.Cell] {
				x.Load += e.Load
			}
			total[x.App] += x.Load
			s.Cells = append(s.Cells, x)
		}
	}
	for i := range c.o.Apps {
		for range 4 { // four reports a second
			c.o.Apps[i].Report(total[c.o.Apps[i].ID], 0.05)
		}
	}
	c.o.Now += time.Second
	plan := c.p.Balance(&c.o)
	applyMeta(t, &c.o, &plan)
	if c.o.Now%(3*time.Second) == 0 {
		plan := c.p.Meta(&c.o)
		c.changes += len(plan.Adds) + len(plan.Cancels) + len(plan.Retires)
		c.applyMeta(t, &plan)
	}
}

func (c *still) applyMeta(t *testing.T, plan *Plan) {
	t.Helper()
	err := plan.Apply(func(id uint32) *bsp.Tree {
		return c.o.Spaces[slices.IndexFunc(c.o.Spaces, func(s Space) bool { return s.ID == id })].Tree
	}, func(a *Add) bsp.Leaf {
		c.n++
		return bsp.Leaf{Cell: bsp.CellID{Term: 1, N: c.n}, App: appAt(a.App)}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *still) busiest() float64 {
	top := int64(0)
	for i := range c.o.Apps {
		top = max(top, c.o.Apps[i].Load)
	}
	return float64(top) / float64(load.Core)
}

// TestStillClustersComeToRest shows that cells are not added and given back for ever, and that no
// app is left with much more than the target, whatever mix of divided spaces and rooms there is.
func TestStillClustersComeToRest(t *testing.T) {
	type spaces struct {
		n, entities int
		milli       int64
		side        float64
	}
	tests := []struct {
		name   string
		apps   int
		spaces []spaces
		shut   int // apps that are shut down halfway
		most   float64
	}{
		{"one world", 12, []spaces{{1, 600, 1500, 4000}}, 2, 0.35},
		{"a world and rooms", 16, []spaces{{1, 600, 1500, 4000}, {12, 20, 40, 200}}, 2, 0.35},
		{"many rooms on one app", 12, []spaces{{40, 20, 30, 300}}, 1, 0.40},
		{"a heavy room beside a world", 16, []spaces{{1, 600, 800, 4000}, {1, 200, 1000, 500}}, 2, 0.35},
		{"nobody", 4, []spaces{{3, 0, 0, 100}}, 1, 0.01},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &still{crowds: map[uint32][]load.Sample{}, p: newPolicy(t, profileName, knobs{})}
			rng := rand.New(rand.NewPCG(5, 5))
			c.o.Apps = apps(make([]int64, tt.apps)...)
			id := uint32(0)
			for _, s := range tt.spaces {
				for range s.n {
					id++
					c.addSpace(rng, id, 1, s.side, s.entities, s.milli)
				}
			}
			for half := range 2 {
				for range 160 {
					c.second(t)
				}
				c.changes = 0
				for range 60 {
					c.second(t)
				}
				t.Logf("busiest %.3f, %d changes", c.busiest(), c.changes)
				if c.changes > 0 || c.busiest() > tt.most {
					t.Errorf("half %d: busiest app %.3f, at most %.3f; %d cells changed late", half, c.busiest(), tt.most, c.changes)
				}
				for i := range tt.shut {
					c.o.Apps[i].Retiring = true
				}
			}
			for i := range c.o.Spaces {
				for l := range leavesOf(c.o.Spaces[i].Tree) {
					if id := int(l.App.Port()) - 1000; id <= tt.shut {
						t.Errorf("app %d was to be shut down, and still has a cell of space %d", id, c.o.Spaces[i].ID)
					}
				}
			}
		})
	}
}
