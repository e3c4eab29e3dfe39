package space

import (
	"testing"

	"github.com/cellscape/cellscape/ghost"
)

// TestQueryEndsLostGhost: the State of a new hop died with the CellApp that sent it, after its ack
// had let the origin's copy go. Nobody tells the ghost on the third cell; it asks.
func TestQueryEndsLostGhost(t *testing.T) {
	r := newRig(t, 3)
	e := r.create(7, -5, 0)
	r.tick(3)
	far := r.apps[2].cell
	far.population.GhostState(ghostOf(r.real(7)), r.apps[0].self)
	rec := far.population.find(7)
	if rec == nil || rec.ghost == nil {
		t.Fatal("no ghost to begin with")
	}
	// The real goes for good, and its Delete is lost.
	r.hold = func(p packet) bool {
		_, ok := p.m.(*ghost.Delete)
		return ok && p.to == r.apps[2].self && p.from == r.apps[0].self
	}
	e.cell.drop(r.real(7))
	r.tick(2)
	r.queue = nil
	r.hold = nil
	if far.population.find(7) == nil {
		t.Fatal("the ghost went before it asked")
	}
	r.tick(int(GhostLease/tickPeriod) + 5)
	if far.population.find(7) != nil {
		t.Error("a ghost of nothing stands for ever")
	}
}

// TestQueryBringsMissedState: an Update for a ghost that is not there makes the real show itself.
func TestQueryBringsMissedState(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -5, 0)
	r.tick(3)
	c := r.apps[1].cell
	rec := c.population.find(7)
	if rec == nil || rec.ghost == nil {
		t.Fatal("no ghost to begin with")
	}
	c.evict(rec)
	real := r.real(7)
	_ = real.SetPosition(real.Position())
	p := real.Position()
	p.X++
	if err := real.SetPosition(p); err != nil {
		t.Fatal(err)
	}
	r.tick(3)
	rec = c.population.find(7)
	if rec == nil || rec.ghost == nil || rec.e.Position != p {
		t.Error("the ghost did not come back")
	}
}

// TestQueryLoop: two ghosts that point at each other do not keep a query for ever.
func TestQueryLoop(t *testing.T) {
	r := newRig(t, 2)
	a, b := r.apps[0], r.apps[1]
	r.create(7, -5, 0)
	r.tick(3)
	state := ghostOf(r.real(7))
	state.Order.Incarnation++
	a.cell.drop(r.real(7))
	r.pump()
	state.Sequence = 100
	a.population.GhostState(state, b.self)
	b.population.GhostState(state, a.self)
	r.tick(2*int(GhostLease/tickPeriod) + 20)
	if a.population.find(7) != nil || b.population.find(7) != nil {
		t.Error("ghosts of nothing stand for ever")
	}
}

func ghostOf(r *Real) *ghost.State {
	s := r.state()
	c := *s
	return &c
}
