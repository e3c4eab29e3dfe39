package bsp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// network carries messages between publishers and receivers, and loses, doubles and reorders them.
type network struct {
	rng    *rand.Rand
	loss   float64
	flying []packet
}

type packet struct {
	to  int // receiver, or sender of a report
	msg []byte
	has Version // of a report
}

func (n *network) send(p packet) {
	p.msg = slices.Clone(p.msg)
	for n.rng.Float64() >= n.loss {
		n.flying = append(n.flying, p)
		if n.rng.Float64() >= n.loss { // otherwise it is doubled
			return
		}
	}
}

// deliver hands over some of the messages in flight, in any order; all of them if the network is
// calm.
func (n *network) deliver(all bool, to func(packet)) {
	n.rng.Shuffle(len(n.flying), func(i, j int) { n.flying[i], n.flying[j] = n.flying[j], n.flying[i] })
	keep := 0
	if !all {
		keep = n.rng.IntN(len(n.flying) + 1)
	}
	now := n.flying[keep:]
	n.flying = slices.Clone(n.flying[:keep])
	for _, p := range now {
		to(p)
	}
}

// world is one manager after the other and several CellApps; it records everything that is told.
type world struct {
	t         *testing.T
	edit      *editor
	publisher *Publisher
	deposed   *Publisher // goes on for a while, unaware
	told      map[Version]string
	network   *network
	followers []*Follower
	sent      []Version // last version sent to each, as over a channel that is expected to deliver
	taken     int
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, edit: newEditor(seed), publisher: NewPublisher(1, 4), told: map[Version]string{}}
	w.network = &network{rng: rand.New(rand.NewPCG(seed, 9)), loss: 0.3}
	for range 5 {
		w.followers = append(w.followers, &Follower{})
	}
	w.sent = make([]Version, len(w.followers))
	return w
}

func (w *world) publish(p *Publisher) {
	tree, changed, err := p.Publish(w.edit.tree)
	if err != nil {
		w.t.Fatal(err)
	}
	if changed {
		if _, ok := w.told[tree.Version()]; ok {
			w.t.Fatalf("version %v is told twice", tree.Version())
		}
		w.told[tree.Version()] = tree.String()
	}
}

// round is one second: the manager tells what is new, the CellApps report, and each answers what
// reaches it.
func (w *world) round(calm bool) {
	for i := range w.followers {
		w.publisherSends(w.publisher, i, w.sent[i])
		if w.deposed != nil {
			w.publisherSends(w.deposed, i, w.deposed.past[0].tree.Version())
		}
	}
	w.network.deliver(calm, w.deliver)
	for i, f := range w.followers {
		has, _ := f.Lacks()
		w.network.send(packet{to: i, has: has})
	}
	w.network.deliver(calm, w.deliver)
	w.network.deliver(calm, w.deliver)
}

func (w *world) publisherSends(p *Publisher, to int, from Version) {
	if msg := p.Message(from); msg != nil {
		w.network.send(packet{to: to, msg: msg})
		if p == w.publisher {
			w.sent[to] = p.Tree().Version()
		}
	}
}

func (w *world) deliver(p packet) {
	if p.msg == nil { // a report: repair from what it has
		w.publisherSends(w.publisher, p.to, p.has)
		return
	}
	f := w.followers[p.to]
	before := f.Tree()
	changed, err := f.Take(p.msg)
	if err != nil {
		w.t.Fatal(err)
	}
	if changed != (before != f.Tree()) {
		w.t.Fatalf("changed %v, yet the tree is %v", changed, before != f.Tree())
	}
	if len(f.held) > maxHeld {
		w.t.Fatalf("%d deltas held", len(f.held))
	}
	if !changed {
		return
	}
	w.taken++
	if before != nil && !before.Version().Less(f.Tree().Version()) {
		w.t.Fatalf("from %v to %v", before.Version(), f.Tree().Version())
	}
	if d := cmp.Diff(w.told[f.Tree().Version()], f.Tree().String()); d != "" {
		w.t.Fatalf("receiver %d at %v: %s", p.to, f.Tree().Version(), d)
	}
	checkInvariants(w.t, f.Tree())
}

// succeed gives the space to a manager of the next term, which knows what some CellApp holds.
func (w *world) succeed() {
	w.deposed = w.publisher
	w.publisher = NewPublisher(w.deposed.term+1, 4)
	if t := w.followers[0].Tree(); t != nil {
		w.publisher.Adopt(t)
	}
	clear(w.sent)
}

func TestReceiversAgreeOverALossyReorderingNetwork(t *testing.T) {
	for seed := range uint64(15) {
		w := newWorld(t, seed)
		for r := range 120 {
			for range w.edit.rng.IntN(4) {
				w.edit.edit()
			}
			w.publish(w.publisher)
			if w.deposed != nil && r%2 == 0 {
				w.publish(w.deposed)
			}
			w.round(false)
			if r == 40 || r == 80 {
				w.succeed()
				w.publish(w.publisher)
			}
		}
		w.deposed, w.network.loss = nil, 0
		w.round(true)
		w.round(true)
		want := w.publisher.Tree()
		for i, f := range w.followers {
			if f.Tree() == nil || f.Tree().Version() != want.Version() || f.Tree().String() != want.String() {
				t.Errorf("seed %d: receiver %d is not at %v", seed, i, want.Version())
			}
			if from, now := f.Lacks(); now || from != want.Version() {
				t.Errorf("seed %d: receiver %d lacks something from %v", seed, i, from)
			}
		}
		if w.taken < 200 {
			t.Errorf("seed %d: only %d messages were of use", seed, w.taken)
		}
	}
}
