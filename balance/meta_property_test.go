package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/google/go-cmp/cmp"
)

// cluster is a random observation that lives on: plans are applied, cells are created, and swept
// ones removed.
type metaCluster struct {
	t   *testing.T
	rng *rand.Rand
	o   Observation
	n   uint32
}

func newMetaCluster(t *testing.T, seed uint64) *metaCluster {
	c := &metaCluster{t: t, rng: rand.New(rand.NewPCG(seed, 9))}
	for i := range 1 + c.rng.IntN(12) {
		a := App{ID: uint32(2*i + 1), Addr: appAt(uint32(i)), Salt: c.rng.Uint32N(3), Retiring: c.rng.IntN(6) == 0}
		c.o.Apps = append(c.o.Apps, a)
	}
	for i := range 1 + c.rng.IntN(6) {
		c.o.Spaces = append(c.o.Spaces, c.space(uint32(i+1)))
	}
	c.report()
	return c
}

func (c *metaCluster) leaf(app int) bsp.Leaf {
	c.n++
	return bsp.Leaf{Cell: bsp.CellID{Term: 1, N: c.n}, App: c.o.Apps[app].Addr, Salt: c.o.Apps[app].Salt, Created: c.rng.IntN(5) > 0}
}

func (c *metaCluster) space(id uint32) Space {
	s := Space{ID: id, MinCells: c.rng.IntN(4), MaxCells: c.rng.IntN(3) * 4}
	if s.MaxCells > 0 {
		s.MaxCells = max(s.MinCells, s.MaxCells)
	}
	if c.rng.IntN(2) == 0 {
		s.Bounds = bsp.Around(c.rng.NormFloat64()*100, 0, 500)
	}
	if c.rng.IntN(3) == 0 {
		s.Geometry = bsp.Around(0, c.rng.NormFloat64()*100, 200+c.rng.Float64()*4000)
	}
	order := c.rng.Perm(len(c.o.Apps))
	s.Tree = bsp.New(bsp.Version{Term: 1, N: 1}, c.leaf(order[0]))
	for _, app := range order[1 : 1+c.rng.IntN(len(order))] {
		var cells []bsp.CellID
		for _, l := range s.Tree.Leaves() {
			cells = append(cells, l.Cell)
		}
		// Narrow leaves as well, which no line can divide; a refusal only leaves one out.
		_ = s.Tree.Split(cells[c.rng.IntN(len(cells))], bsp.Axis(c.rng.IntN(2)), math.Round(c.rng.NormFloat64()*8)*25, c.leaf(app), c.rng.IntN(2) == 0)
	}
	for _, l := range slices.Collect(leavesOf(s.Tree)) {
		if c.rng.IntN(4) == 0 {
			_ = s.Tree.Retire(l.Cell) // siblings cannot both
		}
	}
	for _, node := range slices.Collect(s.Tree.Nodes()) {
		lo, hi, _ := s.Tree.LineLimits(node.ID)
		if to := []float64{node.Line, lo, hi}[c.rng.IntN(3)]; to != node.Line {
			if err := s.Tree.MoveLine(node.ID, to); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	return s
}

func leavesOf(t *bsp.Tree) func(yield func(*bsp.Leaf) bool) {
	return func(yield func(*bsp.Leaf) bool) {
		for _, l := range t.Leaves() {
			if !yield(l) {
				return
			}
		}
	}
}

// report has every app and created cell say something new.
func (c *metaCluster) report() {
	scale := []float64{0.01, 0.3, 1}[c.rng.IntN(3)]
	for i := range c.o.Apps {
		c.o.Apps[i].Report(int64(c.rng.Float64()*scale*float64(load.Core)), 0.3)
	}
	for i := range c.o.Spaces {
		s := &c.o.Spaces[i]
		s.Cells = nil
		for r, l := range s.Tree.Leaves() {
			if !l.Created && c.rng.IntN(2) == 0 {
				continue
			}
			app := slices.IndexFunc(c.o.Apps, func(a App) bool { return a.Addr == l.App && a.Salt == l.Salt })
			x := Cell{ID: l.Cell, App: c.o.Apps[app].ID, Load: int64(c.rng.Float64() * scale * float64(load.Core)), Reals: c.rng.IntN(100), Loaded: s.Geometry}
			switch c.rng.IntN(4) {
			case 0:
				x.Loaded = bsp.Rect{}
			case 1:
				x.Profile = load.Build([]load.Sample{{X: 3, Z: 3, Load: 1}})
			case 2:
				x.Profile = rowIn(r)
			}
			s.Cells = append(s.Cells, x)
		}
	}
}

// pass lets the policy plan, checks and applies the plan, and lets time go on.
func (c *metaCluster) pass(p Policy) {
	c.t.Helper()
	plan := p.Meta(&c.o)
	for _, a := range plan.Adds {
		v := look(&c.o)
		s := &v.spaces[a.Space-1]
		if i := slices.IndexFunc(s.leaves, func(x leafView) bool { return x.leaf.Cell == a.Cell }); !s.leaves[i].created {
			c.t.Errorf("cell %v of space %d is not created, and cut", a.Cell, a.Space)
		}
	}
	before := make([]int, len(c.o.Spaces))
	for i := range c.o.Spaces {
		before[i] = c.o.Spaces[i].Tree.Len()
	}
	applyMeta(c.t, &c.o, &plan)
	c.check(&plan, before)
	for i := range c.o.Spaces {
		for _, l := range slices.Collect(leavesOf(c.o.Spaces[i].Tree)) {
			if c.rng.IntN(3) > 0 {
				l.Created = true
			}
			if l.Retiring && c.rng.IntN(3) == 0 {
				if err := c.o.Spaces[i].Tree.Remove(l.Cell); err != nil {
					c.t.Fatal(err)
				}
			}
		}
	}
	c.o.Now += 3 * time.Second
	c.report()
}

func (c *metaCluster) check(plan *Plan, before []int) {
	c.t.Helper()
	byID := map[uint32]*App{}
	for i := range c.o.Apps {
		byID[c.o.Apps[i].ID] = &c.o.Apps[i]
	}
	for _, a := range plan.Adds {
		if byID[a.App].Retiring {
			c.t.Errorf("app %d is being shut down, and given a cell", a.App)
		}
	}
	for i := range c.o.Spaces {
		s := &c.o.Spaces[i]
		if _, err := bsp.ParseText(s.Tree.String()); err != nil {
			c.t.Error(err)
		}
		seen := map[string]bool{}
		stays := 0
		for l := range leavesOf(s.Tree) {
			key := fmt.Sprint(l.App, l.Salt)
			if seen[key] {
				c.t.Errorf("space %d has two cells on %s", s.ID, key)
			}
			seen[key] = true
			if !l.Retiring {
				stays++
			}
		}
		if stays == 0 {
			c.t.Errorf("no cell of space %d stays\n%v", s.ID, s.Tree)
		}
		if s.MaxCells > 0 && s.Tree.Len() > before[i] && stays > s.MaxCells+shut(c, s) {
			c.t.Errorf("space %d has %d cells, at most %d", s.ID, stays, s.MaxCells)
		}
	}
}

// shut counts the cells of a space on apps that are being shut down: others may come before they
// have gone.
func shut(c *metaCluster, s *Space) int {
	n := 0
	for l := range leavesOf(s.Tree) {
		if slices.ContainsFunc(c.o.Apps, func(a App) bool { return a.Retiring && a.Addr == l.App && a.Salt == l.Salt }) {
			n++
		}
	}
	return n
}

func TestMetaPlansAlwaysFit(t *testing.T) {
	for _, policy := range []string{classicName, profileName} {
		kinds := map[string]int{}
		for seed := range uint64(150) {
			c := newMetaCluster(t, seed)
			p := newPolicy(t, policy, knobs{Scheme: Scheme(seed % 3), NoMeta: seed%50 == 49})
			for range 8 {
				c.o.Now += time.Second
				o := c.o
				c.pass(recorder{p, kinds})
				if t.Failed() {
					t.Fatalf("%s, seed %d, at %v", policy, seed, o.Now)
				}
			}
		}
		for _, kind := range []string{"cancels", "adds", "retires", "wanting"} {
			if kinds[kind] < 50 {
				t.Errorf("%s: only %d %s in all: the clusters are too tame", policy, kinds[kind], kind)
			}
		}
	}
}

// recorder counts what plans have.
type recorder struct {
	Policy
	kinds map[string]int
}

func (r recorder) Meta(o *Observation) Plan {
	p := r.Policy.Meta(o)
	r.kinds["cancels"] += len(p.Cancels)
	r.kinds["adds"] += len(p.Adds)
	r.kinds["retires"] += len(p.Retires)
	r.kinds["wanting"] += len(p.Wanting)
	return p
}

// TestMetaDoesNotGoByTheOrder gives two policies the same figures in different orders.
func TestMetaDoesNotGoByTheOrder(t *testing.T) {
	for _, policy := range []string{classicName, profileName} {
		for seed := range uint64(60) {
			c := newMetaCluster(t, seed)
			p, q := newPolicy(t, policy, knobs{}), newPolicy(t, policy, knobs{})
			for range 6 {
				o := c.o
				o.Apps, o.Spaces = slices.Clone(o.Apps), slices.Clone(o.Spaces)
				shuffleMeta(c.rng, o.Apps)
				shuffleMeta(c.rng, o.Spaces)
				for i := range o.Spaces {
					o.Spaces[i].Cells = slices.Clone(o.Spaces[i].Cells)
					shuffleMeta(c.rng, o.Spaces[i].Cells)
				}
				again := q.Meta(&o)
				var first Plan
				c.pass(spy{p, &first})
				if d := cmp.Diff(first, again); d != "" {
					t.Fatalf("%s, seed %d: the order shows\n%s", policy, seed, d)
				}
			}
		}
	}
}

// spy keeps a copy of the last plan.
type spy struct {
	Policy
	last *Plan
}

func (s spy) Meta(o *Observation) Plan {
	*s.last = s.Policy.Meta(o)
	return *s.last
}

func shuffleMeta[T any](rng *rand.Rand, s []T) {
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
}
