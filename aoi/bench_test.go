package aoi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// world is a load: a square side metres wide in which everyone walks and carries a trigger.
type world struct {
	list     Index
	nodes    []Node
	triggers []Trigger
	at       []spot
	heading  []spot
	side     float32
}

func newWorld(n int, side, enter, leave float32) *world {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	w := &world{side: side}
	for i := range n {
		at := spot{r.Float32() * side, r.Float32() * side}
		a := r.Float64() * 2 * math.Pi
		w.at = append(w.at, at)
		w.heading = append(w.heading, spot{float32(math.Cos(a)), float32(math.Sin(a))})
		w.nodes = append(w.nodes, w.list.Insert(uint64(i), at[0], at[1]))
		w.triggers = append(w.triggers, w.list.AddTrigger(w.nodes[i], enter, leave))
	}
	return w
}

// step moves everyone by d metres; whoever meets a wall turns around.
func (w *world) step(d float32) {
	for i, n := range w.nodes {
		for a := range w.at[i] {
			v := w.at[i][a] + w.heading[i][a]*d
			if v < 0 || v > w.side {
				w.heading[i][a] = -w.heading[i][a]
				continue
			}
			w.at[i][a] = v
		}
		w.list.Move(n, w.at[i][0], w.at[i][1])
	}
}

type load struct {
	name         string
	n            int
	side         float32
	enter, leave float32
}

var loads = []load{
	{"sparse", 100, 1000, 100, 105},
	{"dense", 100, 50, 20, 22},
	{"sparse", 1000, 4000, 100, 105},
	{"dense", 1000, 100, 20, 22},
	{"crowd", 2000, 20, 500, 505}, // all see all
	{"sparse", 10000, 10000, 100, 105},
	{"dense", 10000, 1000, 50, 55},
}

func (c load) String() string { return fmt.Sprintf("%s/n=%d", c.name, c.n) }

// BenchmarkTick is one tick of 0.6 m for everyone (6 m/s at 10 Hz) and the delivery of the events
// that it causes. Beside the cost of one entity's move it tells that of comparing it with all
// others, in the same run, and how many times more that is.
func BenchmarkTick(b *testing.B) {
	for _, c := range loads {
		b.Run(c.String(), func(b *testing.B) {
			w := newWorld(c.n, c.side, c.enter, c.leave)
			events := 0
			count := func(Trigger, Node, uint64, bool) { events++ }
			w.list.Update(count)
			events = 0
			b.ReportAllocs()
			for b.Loop() {
				w.step(0.6)
				w.list.Update(count)
			}
			move := float64(b.Elapsed().Nanoseconds()) / float64(b.N*c.n)
			pairs := float64(w.comparePairs(b).Nanoseconds())
			b.ReportMetric(move, "ns/move")
			b.ReportMetric(pairs, "ns/allpairs")
			b.ReportMetric(pairs/move, "allpairs/move")
			b.ReportMetric(float64(events)/float64(b.N), "events/op")
		})
	}
}

// comparePairs does the distance test between some nodes and all others, and nothing else. It
// returns what that takes for one of them.
func (w *world) comparePairs(b *testing.B) time.Duration {
	enter, _ := w.list.Range(w.triggers[0])
	owners := w.at[:min(len(w.at), 1000)]
	near, rounds := 0, 0
	start := time.Now()
	for ; rounds == 0 || time.Since(start) < 50*time.Millisecond; rounds++ {
		for _, p := range owners {
			for _, q := range w.at {
				if inSquare(p, q, float64(enter)) {
					near++
				}
			}
		}
	}
	if near == 0 {
		b.Fatal("nobody is near anybody")
	}
	return time.Since(start) / time.Duration(rounds*len(owners))
}

func nop(Trigger, Node, uint64, bool) {}

func BenchmarkTeleport(b *testing.B) {
	for _, c := range loads {
		b.Run(c.String(), func(b *testing.B) {
			w := newWorld(c.n, c.side, c.enter, c.leave)
			w.list.Update(nop)
			r := rand.New(rand.NewPCG(3, 3))
			b.ReportAllocs()
			for b.Loop() {
				w.list.Move(w.nodes[0], r.Float32()*c.side, r.Float32()*c.side)
				w.list.Update(nop)
			}
		})
	}
}

// BenchmarkComeAndGo makes and removes an entity with a trigger.
func BenchmarkComeAndGo(b *testing.B) {
	for _, c := range loads {
		b.Run(c.String(), func(b *testing.B) {
			w := newWorld(c.n, c.side, c.enter, c.leave)
			w.list.Update(nop)
			b.ReportAllocs()
			for b.Loop() {
				n := w.list.Insert(1<<40, c.side/2, c.side/2)
				w.list.AddTrigger(n, c.enter, c.leave)
				w.list.Update(nop)
				w.list.Remove(n)
				w.list.Update(nop)
			}
		})
	}
}

func BenchmarkInRange(b *testing.B) {
	for _, c := range loads {
		b.Run(c.String(), func(b *testing.B) {
			w := newWorld(c.n, c.side, c.enter, c.leave)
			found := 0
			b.ReportAllocs()
			for b.Loop() {
				for range w.list.InRange(c.side/2, c.side/2, c.enter) {
					found++
				}
			}
			b.ReportMetric(float64(found)/float64(b.N), "found/op")
		})
	}
}
