package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// eachPolicy runs a test with a new Classic and a new Profile. bound is the level at which a cell
// of the space must not grow, by the policy's own average.
func eachPolicy(t *testing.T, cfg knobs, test func(t *testing.T, p, twin Policy, bound func(*Observation, int) float64)) {
	bound := func(classic bool) func(*Observation, int) float64 {
		d := cfg.shared()
		return func(o *Observation, at int) float64 {
			v := look(o)
			s := &v.spaces[slices.IndexFunc(v.spaces, func(s spaceView) bool { return s.ID == o.Spaces[at].ID })]
			average := float64(s.average())
			if classic {
				average = smoothedAverage(v, s)
			}
			return max(nanos(d.SafetyBound), average*d.SafetyRatio)
		}
	}
	for _, name := range []string{classicName, profileName} {
		t.Run(name, func(t *testing.T) {
			cfg.Policy = name
			p, err := made(cfg)
			if err != nil {
				t.Fatal(err)
			}
			twin, _ := made(cfg)
			test(t, p, twin, bound(name == classicName))
		})
	}
}

// checkMoves applies the moves of a plan one by one, and says what is wrong with them.
func checkMoves(o *Observation, p *Plan, bound func(*Observation, int) float64, all bool) error {
	for at := range o.Spaces {
		s := &o.Spaces[at]
		v := look(o)
		sv := &v.spaces[slices.IndexFunc(v.spaces, func(x spaceView) bool { return x.ID == s.ID })]
		work, first := s.Tree.Clone(), true
		for _, m := range p.Moves {
			if m.Space != s.ID {
				continue
			}
			n, ok := work.Node(m.Node)
			if !ok || !(math.Abs(m.To) <= bsp.MaxCoord) {
				return fmt.Errorf("line %v to %v", m.Node, m.To)
			}
			before := work.Clone()
			if err := work.MoveLine(m.Node, m.To); err != nil {
				return err
			}
			for r, l := range before.Leaves() {
				if _, now, _ := work.Leaf(l.Cell); now != r {
					i := slices.IndexFunc(sv.leaves, func(x leafView) bool { return x.leaf.Cell == l.Cell })
					if !sv.leaves[i].known() {
						return fmt.Errorf("cell %v changes from %v to %v, but is not created or has not reported", l.Cell, r, now)
					}
				}
			}
			// Profile books what its first moves hand over, so that only the first can be judged by
			// the observation.
			if all || first {
				grow := n.Left
				if m.To < n.Line {
					grow = n.Right
				}
				for _, l := range work.Under(grow) {
					i := slices.IndexFunc(sv.leaves, func(x leafView) bool { return x.leaf.Cell == l.Cell })
					if float64(sv.leaves[i].level) >= bound(o, at) {
						return fmt.Errorf("line %v grows a side with %v at %d", m.Node, l.Cell, sv.leaves[i].level)
					}
				}
			}
			first = false
		}
	}
	return nil
}

func TestAnyPlanIsSafe(t *testing.T) {
	for _, cfg := range []knobs{{}, {SafetyBound: 0.3, SafetyRatio: 1.01}, {IgnoreGeometry: true, MaxLoadingCells: -1}} {
		eachPolicy(t, cfg, func(t *testing.T, p, _ Policy, bound func(*Observation, int) float64) {
			moves, removals, retires, blocked := 0, 0, 0, 0
			for seed := range uint64(2) {
				c := newCluster(seed)
				_, classic := p.(*Classic)
				for step := range 120 {
					c.stir()
					o, nonsense := c.observe()
					trees := fmt.Sprint(o.Spaces[0].Tree, o.Spaces[1].Tree, o.Spaces[2].Tree)
					plan := p.Balance(o)
					if fmt.Sprint(o.Spaces[0].Tree, o.Spaces[1].Tree, o.Spaces[2].Tree) != trees {
						t.Fatalf("seed %d, step %d: the observed trees are changed", seed, step)
					}
					if plan.Ignored != nonsense || len(plan.Faults) != min(nonsense, maxFaults) {
						t.Fatalf("seed %d, step %d: %d figures ignored, want %d: %v", seed, step, plan.Ignored, nonsense, plan.Faults)
					}
					if err := checkMoves(o, &plan, bound, classic); err != nil {
						t.Fatalf("seed %d, step %d: %v\n%s", seed, step, err, trees)
					}
					if err := apply(o, &plan); err != nil {
						t.Fatalf("seed %d, step %d: %v\n%+v\n%s", seed, step, err, plan, trees)
					}
					for i := range c.spaces {
						staying := 0
						for _, l := range c.spaces[i].Tree.Leaves() {
							if !l.Retiring {
								staying++
							}
						}
						if staying == 0 {
							t.Fatalf("seed %d, step %d: no cell stays in\n%v", seed, step, c.spaces[i].Tree)
						}
					}
					moves, removals, retires, blocked = moves+len(plan.Moves), removals+len(plan.Removals), retires+len(plan.Retires), blocked+len(plan.Blocked)
				}
			}
			t.Logf("%d moves, %d removals, %d retires, %d blocked", moves, removals, retires, blocked)
			if moves == 0 || removals == 0 || blocked == 0 {
				t.Errorf("too tame: %d moves, %d removals, %d blocked", moves, removals, blocked)
			}
		})
	}
}

func TestOrderOfFiguresDoesNotMatter(t *testing.T) {
	eachPolicy(t, knobs{}, func(t *testing.T, p, twin Policy, _ func(*Observation, int) float64) {
		c := newCluster(3)
		for step := range 150 {
			c.stir()
			o, _ := c.observe()
			// Of two entries for one cell or app the first counts, so only distinct ones may change
			// places.
			o.Apps = compact(o.Apps, func(a App) uint32 { return a.ID })
			for i := range o.Spaces {
				o.Spaces[i].Cells = compact(o.Spaces[i].Cells, func(c Cell) uint32 { return c.ID.N })
			}
			shuffled := &Observation{Now: o.Now, Apps: shuffle(c.rng, o.Apps), Spaces: shuffle(c.rng, o.Spaces)}
			for i := range shuffled.Spaces {
				shuffled.Spaces[i].Cells = shuffle(c.rng, shuffled.Spaces[i].Cells)
			}
			a, b := p.Balance(o), twin.Balance(shuffled)
			if d := cmp.Diff(a, b, cmpopts.IgnoreFields(Plan{}, "Faults")); d != "" {
				t.Fatalf("step %d: plans differ:\n%s", step, d)
			}
			if err := apply(o, &a); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// compact drops all but the first of each key.
func compact[T any](s []T, key func(T) uint32) []T {
	var kept []T
	for _, x := range s {
		if !slices.ContainsFunc(kept, func(k T) bool { return key(k) == key(x) }) {
			kept = append(kept, x)
		}
	}
	return kept
}

func shuffle[T any](rng *rand.Rand, s []T) []T {
	s = slices.Clone(s)
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

func TestLineIsKnownAsLongAsItExists(t *testing.T) {
	eachPolicy(t, knobs{}, func(t *testing.T, p, _ Policy, _ func(*Observation, int) float64) {
		o := pair(t, 0.2, 0.2)
		id := lineIDs(o.Spaces[0].Tree)[0]
		if _, ok := p.Line(1, id); ok {
			t.Error("known before the first observation")
		}
		p.Balance(o)
		if l, ok := p.Line(1, id); !ok || l.Aggression != 1 {
			t.Errorf("after the first: %+v, %v", l, ok)
		}
		if _, ok := p.Line(2, id); ok {
			t.Error("known in another space")
		}
		if err := o.Spaces[0].Tree.Remove(bsp.CellID{Term: 1, N: 2}); err != nil {
			t.Fatal(err)
		}
		p.Balance(o)
		if _, ok := p.Line(1, id); ok {
			t.Error("known after it has gone")
		}
	})
}

func BenchmarkBalance(b *testing.B) {
	for _, name := range []string{classicName, profileName} {
		for _, cells := range []int{64, 1000} {
			b.Run(fmt.Sprint(name, "/", cells), func(b *testing.B) {
				o := wide(b, cells)
				p, _ := made(knobs{Policy: name})
				for b.Loop() {
					p.Balance(o)
				}
			})
		}
	}
}

// wide is a space of many cells of uneven load.
func wide(b testing.TB, cells int) *Observation {
	rng := rand.New(rand.NewPCG(5, 5))
	tree := bsp.New(bsp.Version{Term: 1}, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: 1}, Created: true})
	for n := uint32(2); tree.Len() < cells; n++ {
		x, z := rng.Float64()*20000, rng.Float64()*20000
		at := []float64{x, z}[n%2]
		_ = tree.Split(tree.At(x, z).Cell, bsp.Axis(n%2), at, bsp.Leaf{Cell: bsp.CellID{Term: 1, N: n}, Created: true}, true)
	}
	var all []Cell
	for r, l := range tree.Leaves() {
		r = finite(r)
		all = append(all, cellOf(l.Cell.N, row(float32(r.MinX), float32(r.MinZ/2+r.MaxZ/2), float32((r.MaxX-r.MinX)/50), 50, 0.1+0.2*rng.Float64())))
	}
	return observed(b, tree.String(), all...)
}
