package space

import (
	"iter"
	"slices"
	"time"

	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/invariant"
)

// An annex has the ghosts of a space of which the CellApp has no cell, but into which gateways of its
// cells lead. It is a Cell without a leaf, a real or a script, which no manager knows of:
//
//	no cell of the space here    annex     its ghosts are of whoever is near the far ends
//	a cell is made               (gone)    the ghosts move to the cell
//	the cell leaves the space    annex     those that are left move back
//	no gateway leads there       annex     takes no new ones, and goes when the last has ended

// homes yields the cells and the annexes.
func (p *Population) homes() iter.Seq[*Cell] {
	return func(yield func(*Cell) bool) {
		for _, list := range [2][]*Cell{p.cells, p.annexes} {
			for _, c := range list {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// home is what has the ghosts of a space: its cell, unless that has yielded them, or its annex; nil if there
// is none.
func (p *Population) home(space entity.SpaceID) *Cell {
	if c := p.cell(space); c != nil && !c.yielded {
		return c
	}
	for _, c := range p.annexes {
		if c.space == space {
			return c
		}
	}
	return nil
}

// lodging is the home of a space, or a new annex if a gateway leads there.
func (p *Population) lodging(space entity.SpaceID) *Cell {
	c := p.home(space)
	if c == nil && p.seesInto(space) {
		c = p.makeCell(p.now, p.now+p.ahead, space, bsp.CellID{}, nil)
		c.annex = true
		p.annexes = append(p.annexes, c)
	}
	return c
}

// seesInto reports whether a gateway of a cell here leads to a space.
func (p *Population) seesInto(space entity.SpaceID) bool {
	for _, c := range p.cells {
		c.readGates() // a ghost may come before the next tick
		for i := range c.gates.ends {
			if c.gates.ends[i].there == space {
				return true
			}
		}
	}
	return false
}

// runAnnexes runs a tick of the annexes, before that of the cells, which show what is in them.
func (p *Population) runAnnexes(now, cluster time.Duration) {
	p.annexes = slices.DeleteFunc(p.annexes, func(c *Cell) bool {
		c.tick++
		c.now, c.game = now, cluster
		c.listUnseen()
		c.deliverRangeEvents()
		c.expire()
		c.trim()
		if invariant.On {
			c.assert()
		}
		return len(c.ghosts) == 0 && !p.seesInto(c.space)
	})
}

// adopt gives a new cell of a space what the annex had.
func (c *Cell) adopt() {
	p := c.population
	for i, a := range p.annexes {
		if a.space == c.space {
			a.moveGhosts(c)
			p.annexes = slices.Delete(p.annexes, i, i+1)
			return
		}
	}
}

// yieldGhosts gives the ghosts of a cell that has left its space to the annex, if gateways lead there:
// else it would wait for ever for them to end. If a real is still handed over to it, it has them back.
func (c *Cell) yieldGhosts() {
	_, _, there := c.tree.Leaf(c.id)
	switch {
	case there || len(c.reals) > 0:
		if c.yielded {
			c.yielded = false
			c.adopt()
		}
	case len(c.ghosts) > 0 && c.population.seesInto(c.space):
		c.yielded = true
		c.moveGhosts(c.population.lodging(c.space))
	}
}

// moveGhosts gives all ghosts to another cell. Whoever sees them through a gateway sees no change.
func (c *Cell) moveGhosts(to *Cell) {
	c.listUnseen()
	for _, rec := range slices.Clone(c.ghosts) {
		c.ghosts.remove(rec.e.ID)
		c.ranges.Remove(rec.node)
		rec.cell = to
		rec.seen = witness.Subject{Entity: rec.e, Unseen: &to.unseen} // without reals nobody there has seen it
		for _, img := range rec.images {
			img.seen.Unseen = &to.unseen
		}
		rec.e.MovedTick = to.tick
		rec.node = to.ranges.InsertBig(uint64(rec.e.ID), rec.e.Position.X, rec.e.Position.Z, rec.e.Def.AppealRadius)
		to.ghosts.insert(rec)
		to.noteControl(rec.e)
		to.watchGhost(rec)
	}
}
