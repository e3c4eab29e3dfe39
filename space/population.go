package space

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Population is what a CellApp has of entities beyond its single cells: it finds each by
// its id, and keeps what a real that has left a cell leaves behind. It is one per CellApp,
// so a message about an entity costs the same with one cell and with a thousand rooms.
// Make one with NewPopulation, and the cells with its NewCell.
type Population struct {
	env  Env
	byID map[entity.ID]*record
	// leaving are the cells with reals on their way out: of a thousand rooms a message
	// concerns one.
	leaving    []*Cell
	words      unanswered
	tombstones ghost.Tombstones
	handoffs   migrate.Handoffs
	departed   departed
	orphans    []orphan
	handedOn   []handedOn
	now        time.Duration // of the newest tick, as its cells have it
	// lines are of all cells: what many entities meet at once is one line.
	lines logs.Limit
}

// NewPopulation returns the empty population of a CellApp.
func NewPopulation(env Env) *Population {
	return &Population{env: env, byID: make(map[entity.ID]*record)}
}

// record is an entity on a cell: a real or a ghost, exactly one of them.
type record struct {
	e      *entity.Entity
	cell   *Cell
	real   *Real
	ghost  *ghost.Ghost
	mirror *Ghost // what the script of a ghost has of it; nil without one
	node   aoi.Node
	heard  time.Duration // when a ghost last heard of its real
}

// unsettled notes that a cell has a real on its way out.
func (p *Population) unsettled(c *Cell) {
	if !c.unsettled {
		c.unsettled = true
		p.leaving = append(p.leaving, c)
	}
}

// Settle acts on departures that message handlers caused, on all cells; the CellApp
// calls it after each batch of messages.
func (p *Population) Settle() {
	for i := 0; i < len(p.leaving); i++ { // a callback may make more
		p.leaving[i].unsettled = false
		p.leaving[i].Settle()
	}
	clear(p.leaving)
	p.leaving = p.leaving[:0]
}

// Tick runs what is of no single cell, after the cells have had their ticks.
func (p *Population) Tick(now time.Duration) {
	p.now = now
	p.settleDeparted()
	p.tombstones.Expire(now)
	p.expireHandoffs()
}

func (p *Population) find(id entity.ID) *record { return p.byID[id] }

// Cell is the cell that has the entity, as a real or a ghost; nil if none has.
func (p *Population) Cell(id entity.ID) *Cell {
	if rec := p.byID[id]; rec != nil {
		return rec.cell
	}
	return nil
}

// Base is the app of an entity's base; false if the entity is not here.
func (p *Population) Base(id entity.ID) (base mercury.Address, here bool) {
	if rec := p.byID[id]; rec != nil {
		return rec.e.Base, true
	}
	return base, false
}

// sorted is a list of records by entity id, so that every walk has one order.
type sorted []*record

func (s sorted) index(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(r *record, id entity.ID) int { return cmp.Compare(r.e.ID, id) })
}

func (s *sorted) insert(r *record) {
	if i, found := s.index(r.e.ID); !found {
		*s = slices.Insert(*s, i, r)
	}
}

// remove reports whether the record was in the list.
func (s *sorted) remove(id entity.ID) bool {
	i, found := s.index(id)
	if found {
		*s = slices.Delete(*s, i, i+1)
	}
	return found
}
