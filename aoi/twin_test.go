package aoi

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// twin is an Index without any cleverness: it looks at every pair in every update.
type twin struct {
	nodes    []twinNode
	gone     []twinNode // since the last update
	triggers []*twinTrigger
	events   []event
	told     map[withheld]bool // what was delivered last
}

type twinNode struct {
	node   Node
	key    uint64
	x, z   float32
	appeal float32
}

type twinTrigger struct {
	trigger      Trigger
	owner        Node
	enter, leave float32
	plain        bool
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

func (w *twin) insert(n Node, key uint64, x, z, appeal float32) {
	w.nodes = append(w.nodes, twinNode{n, key, x, z, appeal})
}

func (w *twin) move(n Node, x, z float32) { w.node(n).x, w.node(n).z = x, z }

func (w *twin) remove(n Node) {
	w.triggers = slices.DeleteFunc(w.triggers, func(t *twinTrigger) bool { return t.owner == n })
	w.gone = append(w.gone, *w.node(n))
	w.nodes = slices.DeleteFunc(w.nodes, func(o twinNode) bool { return o.node == n })
}

func (w *twin) addTrigger(t Trigger, at Node, enter, leave float32, plain bool) {
	w.triggers = append(w.triggers, &twinTrigger{trigger: t, owner: at, enter: enter, leave: leave, plain: plain})
}

func (w *twin) setRange(t Trigger, enter, leave float32) {
	w.trigger(t).enter, w.trigger(t).leave = enter, leave
}

func (w *twin) removeTrigger(t Trigger) {
	w.triggers = slices.DeleteFunc(w.triggers, func(o *twinTrigger) bool { return o.trigger == t })
}

func twinNear(a, b twinNode, r float32) bool {
	d := float64(r) + float64(b.appeal)
	lowX, highX := float64(a.x)-d, float64(a.x)+d
	lowZ, highZ := float64(a.z)-d, float64(a.z)+d
	return lowX <= float64(b.x) && float64(b.x) <= highX && lowZ <= float64(b.z) && float64(b.z) <= highZ
}

// update brings every membership up to date.
func (w *twin) update() {
	slices.SortFunc(w.triggers, func(a, b *twinTrigger) int {
		return cmp.Or(cmp.Compare(w.node(a.owner).key, w.node(b.owner).key), cmp.Compare(uint32(a.trigger), uint32(b.trigger)))
	})
	for _, t := range w.triggers {
		var leaves, enters []event
		for _, n := range w.gone {
			if i := slices.Index(t.inside, n.node); i >= 0 {
				t.inside = slices.Delete(t.inside, i, i+1)
				leaves = append(leaves, event{t.trigger, n.node, n.key, false})
			}
		}
		owner := *w.node(t.owner)
		for _, n := range w.nodes {
			if n.node == t.owner {
				continue
			}
			if t.plain {
				n.appeal = 0
			}
			i := slices.Index(t.inside, n.node)
			switch {
			case i < 0 && twinNear(owner, n, t.enter):
				t.inside = append(t.inside, n.node)
				enters = append(enters, event{t.trigger, n.node, n.key, true})
			case i >= 0 && !twinNear(owner, n, t.leave):
				t.inside = slices.Delete(t.inside, i, i+1)
				leaves = append(leaves, event{t.trigger, n.node, n.key, false})
			}
		}
		for _, list := range [][]event{leaves, enters} {
			slices.SortFunc(list, func(a, b event) int {
				return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(uint32(a.node), uint32(b.node)))
			})
			w.events = append(w.events, list...)
		}
	}
	w.gone = nil
}

// next returns the next event that is to be delivered as things stand.
func (w *twin) next() (event, bool) {
	for len(w.events) > 0 {
		e := w.events[0]
		w.events = w.events[1:]
		id := withheld{e.trigger, e.node}
		if w.trigger(e.trigger) == nil || e.enter && w.node(e.node) == nil || !e.enter && !w.told[id] {
			continue
		}
		w.told[id] = e.enter
		return e, true
	}
	return event{}, false
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

// pair drives an Index and its twin with the same calls.
type pair struct {
	t    testing.TB
	list Index
	twin *twin
	log  []string

	updates int
}

func (p *pair) fatalf(format string, args ...any) {
	p.t.Helper()
	for _, line := range p.log[max(0, len(p.log)-40):] {
		p.t.Log(line)
	}
	p.t.Fatalf(format, args...)
}

func (p *pair) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf(format, args...))
}

func (p *pair) insert(key uint64, x, z, appeal float32) {
	p.note("insert %d at %v,%v with %v", key, x, z, appeal)
	p.twin.insert(p.list.InsertBig(key, x, z, appeal), key, x, z, appeal)
}

func (p *pair) move(n Node, x, z float32) {
	p.note("move %#x to %v,%v", n, x, z)
	p.list.Move(n, x, z)
	p.twin.move(n, x, z)
}

func (p *pair) remove(n Node) {
	p.note("remove %#x", n)
	p.list.Remove(n)
	p.twin.remove(n)
}

func (p *pair) addTrigger(n Node, enter, leave float32, plain bool) {
	p.note("trigger on %#x: %v, %v, plain %t", n, enter, leave, plain)
	add := p.list.AddTrigger
	if plain {
		add = p.list.AddProximity
	}
	p.twin.addTrigger(add(n, enter, leave), n, enter, leave, plain)
}

func (p *pair) setRange(t Trigger, enter, leave float32) {
	p.note("range of %#x: %v, %v", t, enter, leave)
	p.list.SetRange(t, enter, leave)
	p.twin.setRange(t, enter, leave)
}

func (p *pair) removeTrigger(t Trigger) {
	p.note("remove trigger %#x", t)
	p.list.RemoveTrigger(t)
	p.twin.removeTrigger(t)
}

// update compares the events, and does act after each.
func (p *pair) update(act func()) {
	p.note("update")
	p.updates++
	p.twin.update()
	p.list.Update(func(t Trigger, n Node, key uint64, enter bool) {
		got := event{t, n, key, enter}
		if want, ok := p.twin.next(); got != want || !ok {
			p.fatalf("event %#v, want %#v, %v", got, want, ok)
		}
		p.note("event %#v", got)
		act()
	})
	if e, ok := p.twin.next(); ok {
		p.fatalf("no event %#v", e)
	}
}

func (p *pair) query(x, z, r float32) {
	centre := twinNode{x: x, z: z}
	var got []found
	for key, n := range p.list.InRange(x, z, r) {
		got = append(got, found{key, n})
	}
	plain := func(n twinNode) twinNode { n.appeal = 0; return n }
	if want := p.twin.sorted(func(n twinNode) bool { return twinNear(centre, plain(n), r) }); !slices.Equal(got, want) {
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

// check compares the whole state, as the last update left it.
func (p *pair) check() {
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
			if o := p.twin.node(n); o != nil {
				want = append(want, o.key)
			}
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
}

// coarse draws from few values, so that equal positions, ranges and edges are common.
func coarse(r *rand.Rand, n int) float32 { return float32(r.IntN(n)) * 0.5 }

// course is what the random calls of one run are like.
type course struct {
	*rand.Rand
	nodes, triggers int     // at most
	side            int     // of the world, in half metres
	walkers         float64 // share of the nodes that walk between two updates
	jumps           int     // calls of a hundred that make somebody jump
	big             int     // nodes of a hundred that have an appeal
	acts            int     // events of a hundred whose callback makes calls
	calm            bool    // few calls, small steps, long ranges: triggers need seldom look
}

func (p *pair) call(c *course) {
	node := func() Node { return p.twin.nodes[c.IntN(len(p.twin.nodes))].node }
	trigger := func() Trigger { return p.twin.triggers[c.IntN(len(p.twin.triggers))].trigger }
	x, z := coarse(c.Rand, c.side), coarse(c.Rand, c.side)
	enter := coarse(c.Rand, 12)
	leave := enter + coarse(c.Rand, 4)
	if c.calm {
		enter, leave = 5*enter, 5*leave
	}
	switch k := c.IntN(100); {
	case k < 30 && len(p.twin.nodes) < c.nodes || len(p.twin.nodes) == 0:
		appeal := float32(0)
		if c.IntN(100) < c.big {
			appeal = coarse(c.Rand, 10)
		}
		p.insert(uint64(c.IntN(50)), x, z, appeal)
	case k < 36:
		p.remove(node())
	case k < 60 && len(p.twin.triggers) < c.triggers:
		p.addTrigger(node(), enter, leave, k%3 == 0)
	case k < 64 && len(p.twin.triggers) > 0:
		p.removeTrigger(trigger())
	case k < 70 && len(p.twin.triggers) > 0:
		p.setRange(trigger(), enter, leave)
	case k < 70+c.jumps:
		p.move(node(), x, z)
	default:
		p.query(x, z, enter)
	}
}

// walk moves some by a step.
func (p *pair) walk(c *course) {
	for i := range p.twin.nodes {
		n := &p.twin.nodes[i]
		switch {
		case c.Float64() >= c.walkers:
		case c.calm: // straight on, to one of eight sides, and back after a while
			way := p.updates/100 + int(n.key)
			p.move(n.node, n.x+0.3*float32(way%3-1), n.z+0.3*float32(way/3%3-1)+0.01)
		default:
			p.move(n.node, n.x+coarse(c.Rand, 5)-1, n.z+coarse(c.Rand, 5)-1)
		}
	}
}

func TestIndexEqualsTwin(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := &pair{t: t, twin: newTwin()}
			p.run(300, 6, &course{
				Rand: r, nodes: []int{5, 60, 200}[seed%3], triggers: []int{3, 60}[seed%2], side: []int{40, 60, 400}[seed/2%3],
				walkers: []float64{0, 0.05, 0.5, 1}[seed/3%4], jumps: []int{0, 5, 20}[r.IntN(3)], big: []int{0, 10}[r.IntN(2)],
				acts: []int{0, 20}[r.IntN(2)],
			})
		})
	}
}

// TestCalmEqualsTwin is for the times between two looks of a trigger.
func TestCalmEqualsTwin(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			p := &pair{t: t, twin: newTwin()}
			p.run(1500, 1+int(seed%2), &course{
				Rand: r, nodes: []int{8, 30}[seed%2], triggers: []int{5, 30}[seed/2%2], side: []int{200, 600}[seed/4%2],
				walkers: []float64{0.1, 0.7, 1}[seed%3], jumps: []int{0, 10}[r.IntN(2)], big: []int{0, 10}[r.IntN(2)], calm: true,
			})
		})
	}
}

// run makes up to so many calls before each update, and takes everything away in the end.
func (p *pair) run(updates, calls int, c *course) {
	for i := range updates {
		for range c.IntN(calls + 1) {
			if !c.calm || c.IntN(10) == 0 {
				p.call(c)
			}
		}
		p.walk(c)
		p.update(func() {
			if c.IntN(100) < c.acts {
				p.call(c)
			}
		})
		if i%10 == 0 {
			p.check()
		}
	}
	for len(p.twin.nodes) > 0 {
		p.remove(p.twin.nodes[0].node)
	}
	p.update(func() {})
	p.check()
}

// FuzzIndex reads the input as a string of calls, three bytes each, and compares Index and twin.
func FuzzIndex(f *testing.F) {
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
		p := &pair{t: t, twin: newTwin()}
		rest := calls[:min(len(calls), 1800)] // a longer string shows nothing that a shorter one does not
		next := func() bool {
			if len(rest) < 3 {
				return false
			}
			p.coded(rest[0], rest[1], rest[2])
			rest = rest[3:]
			return true
		}
		for len(rest) >= 3 {
			if rest[0]%8 != 7 {
				next()
				continue
			}
			acts := rest[1]
			rest = rest[3:]
			p.update(func() {
				if acts&1 != 0 && len(rest) > 0 && rest[0]%8 != 7 {
					next()
				}
				acts >>= 1
			})
			p.check()
		}
	})
}

func (p *pair) coded(op, a, b byte) {
	x, z := float32(b>>4), float32(b&15)
	enter, leave := float32(b>>4)/2, float32(b>>4)/2+float32(b&15)/4
	nodes, triggers := p.twin.nodes, p.twin.triggers
	if op%8 != 0 && len(nodes) == 0 || op%8 >= 4 && op%8 <= 5 && len(triggers) == 0 {
		return
	}
	switch op % 8 {
	case 0:
		if len(nodes) < 40 {
			p.insert(uint64(a%32), x, z, float32(a>>5/6)*3)
		}
	case 1:
		p.move(nodes[int(a)%len(nodes)].node, x, z)
	case 2:
		if len(triggers) < 40 {
			p.addTrigger(nodes[int(a)%len(nodes)].node, enter, leave, b&1 == 1)
		}
	case 3:
		p.remove(nodes[int(a)%len(nodes)].node)
	case 4:
		p.setRange(triggers[int(a)%len(triggers)].trigger, enter, leave)
	case 5:
		p.removeTrigger(triggers[int(a)%len(triggers)].trigger)
	case 6:
		p.query(x, z, float32(a)/8)
	}
}
