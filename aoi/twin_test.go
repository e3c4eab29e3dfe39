package aoi

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// twin is a List without any cleverness: it looks at every pair after every call.
type twin struct {
	nodes    []twinNode
	triggers []*twinTrigger
	events   []event
	told     map[withheld]bool // what Drain said last
}

type twinNode struct {
	node Node
	key  uint64
	x, z float32
}

type twinTrigger struct {
	trigger      Trigger
	owner        Node
	enter, leave float32
	inside       []Node
}

func newTwin() *twin { return &twin{told: map[withheld]bool{}} }

func (w *twin) node(n Node) *twinNode {
	i := slices.IndexFunc(w.nodes, func(o twinNode) bool { return o.node == n })
	if i < 0 {
		return nil
	}
	return &w.nodes[i]
}

func (w *twin) trigger(t Trigger) *twinTrigger {
	i := slices.IndexFunc(w.triggers, func(o *twinTrigger) bool { return o.trigger == t })
	if i < 0 {
		return nil
	}
	return w.triggers[i]
}

func (w *twin) insert(n Node, key uint64, x, z float32) {
	w.nodes = append(w.nodes, twinNode{n, key, x, z})
	w.look(nil)
}

func (w *twin) move(n Node, x, z float32) {
	w.node(n).x, w.node(n).z = x, z
	w.look(nil)
}

func (w *twin) remove(n Node) {
	w.triggers = slices.DeleteFunc(w.triggers, func(t *twinTrigger) bool { return t.owner == n })
	gone := *w.node(n)
	w.nodes = slices.DeleteFunc(w.nodes, func(o twinNode) bool { return o.node == n })
	w.look(&gone)
}

func (w *twin) addTrigger(t Trigger, at Node, enter, leave float32) {
	w.triggers = append(w.triggers, &twinTrigger{trigger: t, owner: at, enter: enter, leave: leave})
	w.look(nil)
}

func (w *twin) setRange(t Trigger, enter, leave float32) {
	w.trigger(t).enter, w.trigger(t).leave = enter, leave
	w.look(nil)
}

func (w *twin) removeTrigger(t Trigger) {
	w.triggers = slices.DeleteFunc(w.triggers, func(o *twinTrigger) bool { return o.trigger == t })
}

func twinNear(a, b twinNode, r float32) bool {
	lowX, highX := float64(a.x)-float64(r), float64(a.x)+float64(r)
	lowZ, highZ := float64(a.z)-float64(r), float64(a.z)+float64(r)
	return lowX <= float64(b.x) && float64(b.x) <= highX && lowZ <= float64(b.z) && float64(b.z) <= highZ
}

// look brings every membership up to date; gone is a node that has just been removed.
func (w *twin) look(gone *twinNode) {
	type change struct {
		event
		ownerKey uint64
	}
	var changes []change
	for _, t := range w.triggers {
		owner := *w.node(t.owner)
		if i := slices.IndexFunc(t.inside, func(n Node) bool { return gone != nil && n == gone.node }); i >= 0 {
			t.inside = slices.Delete(t.inside, i, i+1)
			changes = append(changes, change{event{t.trigger, gone.node, gone.key, false}, owner.key})
		}
		for _, n := range w.nodes {
			if n.node == t.owner {
				continue
			}
			i := slices.Index(t.inside, n.node)
			switch {
			case i < 0 && twinNear(owner, n, t.enter):
				t.inside = append(t.inside, n.node)
				changes = append(changes, change{event{t.trigger, n.node, n.key, true}, owner.key})
			case i >= 0 && !twinNear(owner, n, t.leave):
				t.inside = slices.Delete(t.inside, i, i+1)
				changes = append(changes, change{event{t.trigger, n.node, n.key, false}, owner.key})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		rank := func(c change) int {
			if c.enter {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ownerKey, b.ownerKey),
			cmp.Compare(uint32(a.trigger), uint32(b.trigger)), cmp.Compare(a.key, b.key), cmp.Compare(uint32(a.node), uint32(b.node)))
	})
	for _, c := range changes {
		w.events = append(w.events, c.event)
	}
}

func (w *twin) drain() (delivered []event) {
	for _, e := range w.events {
		id := withheld{e.trigger, e.node}
		if w.trigger(e.trigger) == nil || e.enter && w.node(e.node) == nil || !e.enter && !w.told[id] {
			continue
		}
		w.told[id] = e.enter
		delivered = append(delivered, e)
	}
	w.events = nil
	return delivered
}

func (w *twin) sorted(in func(n twinNode) bool) (got []found) {
	for _, n := range w.nodes {
		if in(n) {
			got = append(got, found{n.key, n.node})
		}
	}
	slices.SortFunc(got, compareFound)
	return got
}

// pairOfLists drives a List and its twin with the same calls.
type pairOfLists struct {
	t    testing.TB
	list List
	twin *twin
	log  []string
}

func (p *pairOfLists) fatalf(format string, args ...any) {
	p.t.Helper()
	for _, line := range p.log[max(0, len(p.log)-40):] {
		p.t.Log(line)
	}
	p.t.Fatalf(format, args...)
}

func (p *pairOfLists) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *pairOfLists) insert(key uint64, x, z float32) {
	p.note("insert %d at %v,%v", key, x, z)
	p.twin.insert(p.list.Insert(key, x, z), key, x, z)
}

func (p *pairOfLists) move(n Node, x, z float32) {
	p.note("move %#x to %v,%v", n, x, z)
	p.list.Move(n, x, z)
	p.twin.move(n, x, z)
}

func (p *pairOfLists) remove(n Node) {
	p.note("remove %#x", n)
	p.list.Remove(n)
	p.twin.remove(n)
}

func (p *pairOfLists) addTrigger(n Node, enter, leave float32) {
	p.note("trigger on %#x: %v, %v", n, enter, leave)
	p.twin.addTrigger(p.list.AddTrigger(n, enter, leave), n, enter, leave)
}

func (p *pairOfLists) setRange(t Trigger, enter, leave float32) {
	p.note("range of %#x: %v, %v", t, enter, leave)
	p.list.SetRange(t, enter, leave)
	p.twin.setRange(t, enter, leave)
}

func (p *pairOfLists) removeTrigger(t Trigger) {
	p.note("remove trigger %#x", t)
	p.list.RemoveTrigger(t)
	p.twin.removeTrigger(t)
}

func (p *pairOfLists) drain() {
	var got []event
	p.list.Drain(func(t Trigger, n Node, key uint64, enter bool) { got = append(got, event{t, n, key, enter}) })
	if diff := gocmp.Diff(p.twin.drain(), got, gocmp.AllowUnexported(event{})); diff != "" {
		p.fatalf("events differ (-twin +list):\n%s", diff)
	}
	p.note("drained %d", len(got))
}

func (p *pairOfLists) query(x, z, r float32) {
	centre := twinNode{x: x, z: z}
	var got []found
	for key, n := range p.list.InRange(x, z, r) {
		got = append(got, found{key, n})
	}
	if want := p.twin.sorted(func(n twinNode) bool { return twinNear(centre, n, r) }); !slices.Equal(got, want) {
		p.fatalf("InRange(%v, %v, %v) = %v, want %v", x, z, r, got, want)
	}
	got = got[:0]
	for key, n := range p.list.InCircle(x, z, r) {
		got = append(got, found{key, n})
	}
	want := p.twin.sorted(func(n twinNode) bool {
		dx, dz := float64(n.x)-float64(x), float64(n.z)-float64(z)
		return float64(dx*dx)+float64(dz*dz) <= float64(float64(r)*float64(r))
	})
	if !slices.Equal(got, want) {
		p.fatalf("InCircle(%v, %v, %v) = %v, want %v", x, z, r, got, want)
	}
}

// check compares the whole state and the structure of the lines.
func (p *pairOfLists) check() {
	if p.list.Len() != len(p.twin.nodes) {
		p.fatalf("Len = %d, want %d", p.list.Len(), len(p.twin.nodes))
	}
	for _, n := range p.twin.nodes {
		if x, z := p.list.Position(n.node); x != n.x || z != n.z || p.list.Key(n.node) != n.key {
			p.fatalf("node %#x is %d at %v,%v, want %+v", n.node, p.list.Key(n.node), x, z, n)
		}
	}
	for _, t := range p.twin.triggers {
		got := slices.Collect(p.list.Inside(t.trigger))
		var want []uint64
		for _, n := range t.inside {
			want = append(want, p.twin.node(n).key)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			p.fatalf("Inside(%#x) = %d, want %d", t.trigger, got, want)
		}
		for _, n := range p.twin.nodes {
			if p.list.Contains(t.trigger, n.node) != slices.Contains(t.inside, n.node) {
				p.fatalf("Contains(%#x, %#x) = %v", t.trigger, n.node, p.list.Contains(t.trigger, n.node))
			}
		}
		enter, leave := p.list.Range(t.trigger)
		if enter != t.enter || leave != t.leave || p.list.Owner(t.trigger) != t.owner {
			p.fatalf("trigger %#x has %v, %v", t.trigger, enter, leave)
		}
	}
	p.checkLines()
}

func (p *pairOfLists) checkLines() {
	for a := range p.list.axes {
		var points, edges []mark
		for slot, n := range p.list.nodes {
			if n.live {
				points = append(points, mark{float64(n.at[a]), uint32(slot)})
			}
		}
		for slot := range p.list.triggers {
			t := &p.list.triggers[slot]
			for e := range edgesPerAxis {
				if t.live {
					edges = append(edges, t.edge(slot, e, p.list.nodes[t.owner].at[a]))
				}
			}
		}
		p.checkLine(&p.list.axes[a].points, points)
		p.checkLine(&p.list.axes[a].edges, edges)
	}
}

func (p *pairOfLists) checkLine(l *line, want []mark) {
	slices.SortFunc(want, compareMarks)
	if got := marksOf(p.t, l); !slices.Equal(got, want) {
		p.fatalf("a line holds %v, want %v", got, want)
	}
}

func compareMarks(a, b mark) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ref, b.ref))
}

// coarse draws from few values, so that equal positions, ranges and edges are common.
func coarse(r *rand.Rand, n int) float32 { return float32(r.IntN(n)) * 0.5 }

func (p *pairOfLists) randomCall(r *rand.Rand) {
	node := func() Node { return p.twin.nodes[r.IntN(len(p.twin.nodes))].node }
	trigger := func() Trigger { return p.twin.triggers[r.IntN(len(p.twin.triggers))].trigger }
	place := func() (float32, float32) { return coarse(r, 60), coarse(r, 60) }
	ranges := func() (float32, float32) {
		enter := coarse(r, 12)
		return enter, enter + coarse(r, 4)
	}
	x, z := place()
	enter, leave := ranges()
	switch k := r.IntN(100); {
	case k < 12 && len(p.twin.nodes) < 60 || len(p.twin.nodes) == 0:
		p.insert(uint64(r.IntN(50)), x, z)
	case k < 18:
		p.remove(node())
	case k < 28 && len(p.twin.triggers) < 60:
		p.addTrigger(node(), enter, leave)
	case k < 32 && len(p.twin.triggers) > 0:
		p.removeTrigger(trigger())
	case k < 38 && len(p.twin.triggers) > 0:
		p.setRange(trigger(), enter, leave)
	case k < 45:
		p.move(node(), x, z)
	case k < 90:
		n := node()
		x, z := p.list.Position(n)
		p.move(n, x+coarse(r, 5)-1, z+coarse(r, 5)-1)
	case k < 95:
		p.query(x, z, enter)
	default:
		p.drain()
	}
}

func TestListEqualsTwin(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := &pairOfLists{t: t, twin: newTwin()}
			for i := range 1500 {
				p.randomCall(r)
				if i%50 == 0 {
					p.drain()
					p.check()
				}
			}
			for len(p.twin.nodes) > 0 {
				p.remove(p.twin.nodes[0].node)
			}
			p.drain()
			p.check()
			if n := len(p.list.queue.withheld); n != 0 {
				t.Errorf("%d pairs are still withheld after everything is gone", n)
			}
		})
	}
}

// FuzzList reads the input as a string of calls, three bytes each, and compares List and twin.
func FuzzList(f *testing.F) {
	f.Add([]byte("\x00\x11\x11\x00\x22\x22\x02\x00\x34\x04\x01\x15\x07\x00\x00\x01\x01\x00\x07\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x02\x00\x00\x02\x01\x00\x04\x00\x00\x07\x00\x00"))
	f.Add([]byte("\x00\x77\x77\x02\x00\xff\x00\x78\x78\x03\x00\x01\x07\x00\x00\x05\x00\x00\x06\x00\x00"))
	r := rand.New(rand.NewPCG(7, 7))
	for range 4 {
		b := make([]byte, 300)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, calls []byte) {
		p := &pairOfLists{t: t, twin: newTwin()}
		for ; len(calls) >= 3; calls = calls[3:] {
			p.call(calls[0], calls[1], calls[2])
			if len(p.log) > 600 {
				break // a longer string shows nothing that a shorter one does not
			}
		}
		p.drain()
		p.check()
	})
}

func (p *pairOfLists) call(op, a, b byte) {
	x, z := float32(b>>4), float32(b&15)
	enter, leave := float32(b>>4)/2, float32(b>>4)/2+float32(b&15)/4
	nodes, triggers := p.twin.nodes, p.twin.triggers
	if op%8 != 0 && len(nodes) == 0 || op%8 >= 4 && op%8 <= 5 && len(triggers) == 0 {
		return
	}
	switch op % 8 {
	case 0:
		if len(nodes) < 40 {
			p.insert(uint64(a%32), x, z)
		}
	case 1:
		p.move(nodes[int(a)%len(nodes)].node, x, z)
	case 2:
		if len(triggers) < 40 {
			p.addTrigger(nodes[int(a)%len(nodes)].node, enter, leave)
		}
	case 3:
		p.remove(nodes[int(a)%len(nodes)].node)
	case 4:
		p.setRange(triggers[int(a)%len(triggers)].trigger, enter, leave)
	case 5:
		p.removeTrigger(triggers[int(a)%len(triggers)].trigger)
	case 6:
		p.query(x, z, float32(a)/8)
	case 7:
		p.drain()
	}
}
