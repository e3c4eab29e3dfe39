//go:build invariants || race

package space

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/mercury"
)

// TestAsserts plants bugs in a CellApp that has the real 7 and the ghost 8, each of which the end
// of the next tick finds.
func TestAsserts(t *testing.T) {
	for name, plant := range map[string]func(c *Cell, real, mirror *record){
		"an entity is both a real and a ghost": func(_ *Cell, real, mirror *record) { real.ghost = mirror.ghost },
		"an entity is neither":                 func(_ *Cell, _, mirror *record) { mirror.ghost = nil },
		"a ghost is among the reals": func(c *Cell, real, _ *record) {
			real.real, real.ghost = nil, &ghost.Ghost{Entity: real.e}
		},
		"the id leads nowhere":           func(c *Cell, real, _ *record) { delete(c.population.byID, 7) },
		"the id leads to another":        func(c *Cell, real, mirror *record) { c.population.byID[7] = mirror },
		"a record is on no cell":         func(c *Cell, _, _ *record) { c.population.byID[9] = &record{cell: c, ghost: &ghost.Ghost{}} },
		"a record names another cell":    func(_ *Cell, real, _ *record) { real.cell = new(Cell) },
		"two reals have one id":          func(c *Cell, real, _ *record) { c.reals = append(c.reals, real) },
		"a real haunts its own app":      func(c *Cell, real, _ *record) { real.real.haunts.Add(c.self, 0) },
		"a ghost is of its own app":      func(c *Cell, _, mirror *record) { mirror.ghost.Real = c.self },
		"a real that left is here":       func(_ *Cell, real, _ *record) { real.real.gone = handedOver },
		"the index of places forgot one": func(c *Cell, real, _ *record) { c.ranges.Remove(real.node) },
		"an entity of another space":     func(_ *Cell, real, _ *record) { real.e.Space++ },
		"two flows to the same end":      func(_ *Cell, real, _ *record) { real.real.flows = append(real.real.flows, real.real.flows...) },
		"nobody looks at a flow": func(_ *Cell, real, _ *record) {
			p, _ := real.real.peer(9, entity.CellPart)
			p.in.Owe()
			real.real.quietUntil = time.Hour
		},
		"the record of another entity": func(_ *Cell, _, mirror *record) { mirror.ghost.Entity = nil },
	} {
		r := newRig(t, 2)
		r.create(7, -50, 0)
		r.create(8, 50, 0)
		r.tick(3)
		a := r.apps[0]
		real, mirror := a.population.find(7), a.population.find(8)
		if real.real == nil || mirror.ghost == nil || mirror.ghost.Real == (mercury.Address{}) || len(real.real.flows) == 0 {
			t.Fatal("the rig has not made what the test breaks")
		}
		check := func() {
			a.cell.assert()
			a.population.assert()
		}
		if f := invariant.Caught(check); f != "" {
			t.Fatalf("without a bug: %s", f)
		}
		plant(a.cell.Cell, real, mirror)
		if invariant.Caught(check) == "" {
			t.Errorf("not caught: %s", name)
		}
	}
}

// TestAssertsAreNotContained: what contains the panic of a script lets a broken invariant through.
func TestAssertsAreNotContained(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	f := invariant.Caught(func() { r.real(7).guard("test", func() { invariant.Broken("of the library") }) })
	if f != "of the library" {
		t.Errorf("a broken invariant ends as %q", f)
	}
}

// TestLeasesKeepOneClock: a cell may have its clock from an earlier moment than another cell of the
// CellApp; the leases of tombstones end in the order that they began in all the same.
func TestLeasesKeepOneClock(t *testing.T) {
	r := newRig(t, 1)
	a := r.create(7, -50, 0)
	a.population.now = a.cell.now + time.Millisecond // another cell has told its haunts early
	a.population.GhostDelete(&ghost.Delete{Head: ghost.Head{ID: 9, Order: entity.Order{Incarnation: 1}, Sequence: 1}}, addr(2))
	real := r.real(7)
	if f := invariant.Caught(func() { a.cell.drop(real) }); f != "" {
		t.Error(f)
	}
}
