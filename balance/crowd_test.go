package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
)

// crowd is a small world to balance: entities walk towards goals; each costs something for itself
// and for everyone near it, so that load grows faster than numbers, as with areas of interest.
// Cells hand over who is outside of them by more than the border band, so many a step; a new cell
// takes a period to come up.
type crowd struct {
	t        *testing.T
	rng      *rand.Rand
	now      time.Duration
	tree     *bsp.Tree
	policy   Policy
	cfg      Config
	band     float64
	bounds   bsp.Rect
	apps     []App
	walkers  []walker
	creating []bsp.CellID
	cellApp  map[bsp.CellID]uint32 // looked up only
	gained   map[bsp.CellID]int64  // looked up only
	nextCell uint32
	speed    float64

	moved   int     // lines moved by the last balance
	ratio   float64 // highest cell load over average, at the last balance
	split   string
	crowded []Ref
}

type walker struct {
	x, z, goalX, goalZ float64
	cell               bsp.CellID
	meter              load.Meter
	heavy              int64 // what it costs beside
}

const (
	crowdStep    = 250 * time.Millisecond
	costSelf     = 3_200_000 // ns per second
	costNear     = 40_000    // for each other within nearRange
	nearRange    = 50.0
	handoverStep = 60 // reals a cell hands over in one step
)

func newCrowd(t *testing.T, seed uint64, n, apps int, cfg knobs) *crowd {
	p, err := made(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), policy: p, cfg: cfg.shared(), band: cfg.border().Band, speed: 6,
		cellApp: map[bsp.CellID]uint32{}, gained: map[bsp.CellID]int64{}, nextCell: 2, walkers: make([]walker, n),
	}
	for i := range apps {
		c.apps = append(c.apps, App{ID: uint32(i + 1), Addr: netip.MustParseAddrPort(fmt.Sprintf("10.0.0.%d:7000", i+1))})
	}
	first := bsp.CellID{Term: 1, N: 1}
	c.tree = bsp.New(bsp.Version{Term: 1}, bsp.Leaf{Cell: first, App: c.apps[0].Addr, Created: true})
	c.cellApp[first] = 1
	for i := range c.walkers {
		w := &c.walkers[i]
		w.x, w.z = c.rng.Float64()*1000-500, c.rng.Float64()*1000-500
		w.cell = first
	}
	c.goals(func(int) (float64, float64) { return c.rng.Float64()*1000 - 500, c.rng.Float64()*1000 - 500 })
	return c
}

func (c *crowd) goals(f func(i int) (x, z float64)) {
	for i := range c.walkers {
		c.walkers[i].goalX, c.walkers[i].goalZ = f(i)
	}
}

func (c *crowd) halt() {
	for i := range c.walkers {
		c.walkers[i].goalX, c.walkers[i].goalZ = c.walkers[i].x, c.walkers[i].z
	}
}

// second runs one second of balance periods.
func (c *crowd) second() {
	c.moved, c.split = 0, ""
	for i := range 4 {
		c.walk()
		c.handOver()
		if i%2 == 0 {
			c.measure(2 * crowdStep)
		}
		if c.now += crowdStep; c.now%c.cfg.Period == 0 {
			c.balance()
		}
	}
}

func (c *crowd) walk() {
	step := c.speed * crowdStep.Seconds()
	for i := range c.walkers {
		w := &c.walkers[i]
		dx, dz := w.goalX-w.x, w.goalZ-w.z
		if d := math.Hypot(dx, dz); d <= step {
			w.x, w.z = w.goalX, w.goalZ
		} else {
			w.x, w.z = w.x+dx/d*step, w.z+dz/d*step
		}
	}
}

func (c *crowd) handOver() {
	given := map[bsp.CellID]int{} // looked up only
	for i := range c.walkers {
		w := &c.walkers[i]
		l := c.tree.At(w.x, w.z)
		if l.Cell == w.cell || !l.Created || given[w.cell] == handoverStep {
			continue
		}
		own, rect, _ := c.tree.Leaf(w.cell)
		if own.Retiring || !rect.Keeps(w.x, w.z, c.band) {
			given[w.cell]++
			c.gained[w.cell] -= w.meter.Load()
			c.gained[l.Cell] += w.meter.Load()
			w.cell = l.Cell
		}
	}
}

func (c *crowd) measure(elapsed time.Duration) {
	for i := range c.walkers {
		w := &c.walkers[i]
		cost := costSelf + w.heavy - costNear // it finds itself too
		for j := range c.walkers {
			if o := &c.walkers[j]; math.Abs(o.x-w.x) < nearRange && math.Abs(o.z-w.z) < nearRange {
				cost += costNear
			}
		}
		w.meter.Add(time.Duration(cost * int64(elapsed) / int64(time.Second)))
		w.meter.Tick(elapsed, 225)
	}
}

func (c *crowd) observe() *Observation {
	s := Space{ID: 1, Tree: c.tree, Bounds: c.bounds}
	appLoads := make([]int64, len(c.apps))
	var total, highest int64
	for _, leaf := range c.tree.Leaves() {
		var samples []load.Sample
		cell := Cell{ID: leaf.Cell, App: c.cellApp[leaf.Cell], Created: leaf.Created}
		for i := range c.walkers {
			if w := &c.walkers[i]; w.cell == leaf.Cell {
				samples = append(samples, load.Sample{X: float32(w.x), Z: float32(w.z), Load: w.meter.Load()})
				cell.Load += w.meter.Load()
			}
		}
		cell.Gained = c.gained[leaf.Cell]
		cell.Reals, cell.Profile, cell.Edges = len(samples), load.Build(samples), edgesOf(samples, 20e6)
		s.Cells = append(s.Cells, cell)
		appLoads[cell.App-1] += cell.Load
		total, highest = total+cell.Load, max(highest, cell.Load)
	}
	c.ratio = float64(highest) * float64(len(s.Cells)) / float64(total)
	for i := range c.apps {
		c.apps[i].Report(appLoads[i], c.cfg.Smoothing)
	}
	return &Observation{Now: c.now, Apps: c.apps, Spaces: []Space{s}}
}

func (c *crowd) balance() {
	for _, id := range c.creating {
		if l, _, ok := c.tree.Leaf(id); ok {
			l.Created = true
		}
	}
	c.creating = c.creating[:0]
	plan := c.policy.Balance(c.observe())
	c.moved += len(plan.Moves)
	c.apply(&plan)
	if c.now%c.cfg.MetaPeriod == 0 {
		plan = c.policy.Meta(c.observe())
		c.crowded = plan.Crowded
		c.apply(&plan)
	}
}

func (c *crowd) apply(plan *Plan) {
	err := plan.Apply(func(uint32) *bsp.Tree { return c.tree }, func(a *Add) bsp.Leaf {
		fresh := bsp.Leaf{Cell: bsp.CellID{Term: 1, N: c.nextCell}, App: c.apps[a.App-1].Addr}
		c.nextCell++
		c.cellApp[fresh.Cell] = a.App
		c.creating = append(c.creating, fresh.Cell)
		c.split += fmt.Sprintf("%+v ", *a)
		return fresh
	})
	if err != nil {
		c.t.Fatalf("%v: %v", c.now, err)
	}
}

// run runs some seconds and counts those in which the highest load was more than 1.35 times the
// average. It returns the number of lines moved in the last 20.
func (c *crowd) run(name string, seconds int) (uneven, late int) {
	worst, moves := 0.0, 0
	for i := range seconds {
		c.second()
		if c.split != "" {
			c.t.Logf("%v %s: split %s", c.now, name, c.split)
		}
		if c.ratio > 1.35 {
			uneven++
		}
		worst = max(worst, c.ratio)
		moves += c.moved
		if i >= seconds-20 {
			late += c.moved
		}
	}
	c.t.Logf("%v %-8s cells %d, now %.2f of average, worst %.2f, uneven %d/%d s, lines moved %d (%d at the end)",
		c.now, name, c.tree.Len(), c.ratio, worst, uneven, seconds, moves, late)
	return uneven, late
}

// TestClassicFollowsACrowd starts with four cells around the middle.
func TestClassicFollowsACrowd(t *testing.T) {
	c := newCrowd(t, 1, 300, 4, knobs{Policy: classicName})
	first := bsp.CellID{Term: 1, N: 1}
	c.apply(&Plan{Adds: []Add{
		{Space: 1, Cell: first, Axis: bsp.AxisZ, At: 300, NewOnHigherSide: true, App: 2},
		{Space: 1, Cell: first, Axis: bsp.AxisX, At: 400, NewOnHigherSide: true, App: 3},
		{Space: 1, Cell: bsp.CellID{Term: 1, N: 2}, Axis: bsp.AxisX, At: 400, NewOnHigherSide: true, App: 4},
	}})
	c.halt()
	c.run("settle", 40)
	if uneven, _ := c.run("still", 20); uneven != 0 {
		t.Errorf("uneven for %d of 20 seconds\n%v", uneven, c.tree)
	}
	c.goals(func(i int) (float64, float64) { // two towns
		return float64(i%2)*500 - 250 + c.rng.NormFloat64()*60, c.rng.NormFloat64() * 60
	})
	c.run("to town", 100)
	if uneven, _ := c.run("in town", 20); uneven != 0 {
		t.Errorf("uneven for %d of 20 seconds\n%v", uneven, c.tree)
	}
	if c.tree.Len() != 4 {
		t.Errorf("%d cells, want all 4", c.tree.Len())
	}
}

func TestCrowdIsFollowed(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			c := newCrowd(t, seed, 300, 4, knobs{})
			c.run("start", 30)
			if c.tree.Len() != 4 {
				t.Errorf("%d cells after 30 s, want 4", c.tree.Len())
			}
			uneven, total := 0, 0
			phase := func(name string, seconds int) (late int) {
				n, late := c.run(name, seconds)
				uneven, total = uneven+n, total+seconds
				return late
			}
			phase("spread", 40)
			c.goals(func(i int) (float64, float64) { // eight points of a star and its centre
				r, a := 15*math.Sqrt(c.rng.Float64()), c.rng.Float64()*2*math.Pi
				x, z := r*math.Cos(a), r*math.Sin(a)
				if k := i % 9; k < 8 {
					x, z = x+400*math.Cos(float64(k)*math.Pi/4), z+400*math.Sin(float64(k)*math.Pi/4)
				}
				return x, z
			})
			phase("to star", 120)
			if late := phase("star", 90); late != 0 {
				t.Errorf("%d lines moved while the crowd stood still", late)
			}
			c.goals(func(i int) (float64, float64) { // along rays, through the centre and out
				a := float64(i%16) * math.Pi / 8
				r := 100 + c.rng.Float64()*400
				return r * math.Cos(a), r * math.Sin(a)
			})
			phase("rays", 120)
			if late := phase("still", 60); late != 0 {
				t.Errorf("%d lines moved while the crowd stood still", late)
			}
			if uneven*10 > total {
				t.Errorf("uneven in %d of %d seconds", uneven, total)
			}
			if t.Failed() {
				t.Log(c.tree)
			}
		})
	}
}

// TestRetirementsEndAmongWalkers has most of a crowd leave. What is left steps in and out of the
// cells that retire, which must not keep their lines from going on.
func TestRetirementsEndAmongWalkers(t *testing.T) {
	for seed := range uint64(4) {
		c := newCrowd(t, seed, 300, 4, knobs{})
		c.run("start", 30)
		c.walkers = c.walkers[:80]
		for range 20 {
			c.goals(func(int) (float64, float64) { return c.rng.Float64()*1000 - 500, c.rng.Float64()*1000 - 500 })
			c.run("walk", 5)
		}
		for _, l := range c.tree.Leaves() {
			if l.Retiring {
				t.Errorf("seed %d: cell %v still retires\n%v", seed, l.Cell, c.tree)
			}
		}
		if n := c.tree.Len(); n > 2 {
			t.Errorf("seed %d: %d cells, want 1 or 2", seed, n)
		}
	}
}
