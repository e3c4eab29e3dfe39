package space

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// listAll makes the next check visit everyone, as one without a border list would.
func (c *Cell) listAll() {
	for _, rec := range c.reals {
		c.list(rec)
	}
}

// twin is a world in which things happen by chance. What its cells send is written down.
type twin struct {
	*rig
	chance *rand.Rand
	naive  bool
	said   []string
	n      uint32
	newest entity.ID
}

func newTwin(t *testing.T, seed uint64, naive bool) *twin {
	w := &twin{newest: twins, chance: rand.New(rand.NewPCG(seed, 1)), naive: naive}
	w.rig = newRig(t, 3, func(c *Config) {
		c.CheckPeriod = 2 * tickPeriod
		c.GhostBudget = 1 + int(seed%4)
		c.Border.OffloadRate = float64(5 * (1 + seed%3))
		c.Dwell = time.Duration(seed%2) * 2 * time.Second
	})
	w.arrive = func(p packet) {
		w.said = append(w.said, fmt.Sprintf("%v %v %T %x", p.from, p.to, p.m, p.m.Append(nil)))
	}
	return w
}

// twins is how many entities a twin has at most.
const twins = 24

// step lets one thing happen, and a tick pass.
func (w *twin) step() {
	id, x := w.newest-entity.ID(w.chance.IntN(twins)), 2400*w.chance.Float32()-900
	switch r := w.real(id); {
	case r == nil:
		w.newest++
		w.create(w.newest, x, uint32(w.chance.IntN(2)))
	case w.chance.IntN(40) == 0:
		r.Destroy()
	case w.chance.IntN(40) == 0:
		tree := w.apps[0].cell.tree.Clone()
		w.n++
		tree.SetVersion(bsp.Version{Term: 1, N: 1 + w.n})
		for node := range tree.Nodes() {
			lo, hi, _ := tree.LineLimits(node.ID)
			_ = tree.MoveLine(node.ID, min(max(node.Line+100*w.chance.Float64()-50, lo), hi))
		}
		for _, a := range w.apps {
			a.cell.SetTree(tree)
		}
	default:
		p := property.Vector3{X: x}
		if w.chance.IntN(3) > 0 {
			p.X = r.Position().X + 60*w.chance.Float32() - 30
		}
		_ = r.SetPosition(p)
	}
	if w.naive {
		for _, a := range w.apps {
			a.cell.listAll()
		}
	}
	w.tick(1)
}

// A check that visits only who is listed does what one does that visits everyone: the same messages
// leave at the same time.
func TestBorderTwin(t *testing.T) {
	for seed := range uint64(12) {
		w, naive := newTwin(t, seed, false), newTwin(t, seed, true)
		visits := 0
		for step := range 600 {
			w.said, naive.said = w.said[:0], naive.said[:0]
			w.step()
			naive.step()
			if a, b := fmt.Sprint(w.said), fmt.Sprint(naive.said); a != b {
				t.Fatalf("seed %d, step %d: the cells said\n%s\nand if all are visited\n%s", seed, step, a, b)
			}
			for i, a := range w.apps {
				visits += len(naive.apps[i].cell.border.list) - len(a.cell.border.list)
			}
		}
		if visits == 0 {
			t.Errorf("seed %d: everyone is near a line", seed)
		}
	}
}

// If more are near a line than a check may visit, each has its turn in the next ones.
func TestCheckBudget(t *testing.T) {
	r := newRig(t, 2, func(c *Config) {
		c.CheckBudget, c.GhostBudget, c.CheckPeriod, c.Border.OffloadRate = 4, 3, time.Millisecond, 8000
	})
	for id := entity.ID(1); id <= 10; id++ {
		r.create(id, -50, 0)
	}
	for _, want := range []int{3, 6, 9, 10} {
		r.tick(1)
		if got := r.apps[1].cell.Ghosts(); got != want {
			t.Fatalf("%d ghosts, want %d", got, want)
		}
	}
	for id := entity.ID(1); id <= 10; id++ {
		r.move(id, 50)
	}
	r.tick(3)
	if got := r.apps[1].cell.Reals(); got != 10 {
		t.Errorf("%d of 10 were handed over in three checks of four", got)
	}
	r.calm()
}

// Whoever is deep inside is on nobody's list, and a check at rest makes no garbage.
func TestBorderAtRest(t *testing.T) {
	r := newRig(t, 2)
	for id := entity.ID(1); id <= 20; id++ {
		r.create(id, -2000, 0)
	}
	r.create(21, -50, 0)
	r.tick(30)
	c := r.apps[0].cell
	if len(c.border.list) != 1 {
		t.Errorf("%d are visited, one is near the line", len(c.border.list))
	}
	if n := testing.AllocsPerRun(100, c.check); n != 0 {
		t.Errorf("a check makes %v allocations", n)
	}
	r.move(3, -40)
	r.tick(30)
	if r.ghost(2, 3) == nil {
		t.Error("who came near the line has no ghost")
	}
}
