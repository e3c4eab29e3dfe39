package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cellscape/cellscape/entity"
)

// roomsKnown checks that spaces come and go as a whole: a space begins once; at rest the CellApps
// have cells of exactly those spaces that their manager has; and every lodger that has a cell part
// is in the room that it was given.
type roomsKnown struct{ c *Cluster }

func (k *roomsKnown) safe() error {
	for _, id := range slices.Sorted(maps.Keys(k.c.world.lit)) {
		// A second first cell is right only after the CellApp of the first was declared dead; a
		// CellApp that was only slow may make its cell that late, before it hears of the verdict.
		if n := k.c.world.lit[id]; n > 1 && k.c.losses == 0 && k.c.verdicts() == 0 {
			return fmt.Errorf("space %d had a first cell %d times", id, n)
		}
	}
	return nil
}

// judged reports whether any process may have been declared dead. A CellAppMgr forgets the verdicts
// of the one before it, and while none leads nobody can be asked.
func (c *Cluster) judged() bool {
	return c.leader() == nil || c.verdicts() > 0 || c.terms > 1 || c.observer.last.Deaths > 0
}

// verdicts is how many processes the present CellAppMgr has declared dead.
func (c *Cluster) verdicts() int {
	m := c.leader()
	if m == nil {
		return 0
	}
	return m.Deaths()
}

func (k *roomsKnown) converged() error {
	m := k.c.leader()
	if m == nil {
		return nil
	}
	known := map[entity.SpaceID]bool{}
	for _, s := range m.Status().Spaces {
		known[entity.SpaceID(s.ID)] = true
	}
	var faults []error
	for p, a := range k.c.liveCellApps() {
		for cell := range a.Cells() {
			if !known[cell.Space()] {
				faults = append(faults, fmt.Errorf("%s has a cell of space %d, which has ended", p.Name, cell.Space()))
			}
		}
	}
	for b, l := range basesOf[*lodgerBase](k.c) {
		on, in := k.c.lodging(b.ID)
		switch {
		case !b.HasCell && on != nil:
			faults = append(faults, fmt.Errorf("lodger %v on %s has no cell part, but there is one on %s", b.ID, b.p.Name, on.Name))
		case b.Live && (on == nil || in != l.room() || !known[in]):
			faults = append(faults, fmt.Errorf("lodger %v on %s has room %d, its cell part is in %d", b.ID, b.p.Name, l.room(), in))
		}
	}
	return errors.Join(faults...)
}

// lodging finds the cell part of an entity, and the space that it is in.
func (c *Cluster) lodging(id entity.ID) (on *Process, in entity.SpaceID) {
	for p, a := range c.liveCellApps() {
		for cell := range a.Cells() {
			for v := range cell.Views() {
				if v.ID() == id && v.IsReal() {
					on, in = p, cell.Space()
				}
			}
		}
	}
	return on, in
}
