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
)

// Registry finds the entities of all cells of one CellApp by id. Its zero value
// is not usable; see NewRegistry.
type Registry struct {
	byID map[entity.ID]*record
	// leaving are the cells with reals on their way out: of a thousand rooms a message
	// concerns one.
	leaving []*Cell
	// owing are the cells where destroyed reals have something to say still.
	owing []*Cell
	words unanswered
	// lines are of all cells: what many entities meet at once is one line.
	lines logs.Limit
}

// NewRegistry returns an empty registry, shared by the cells of one CellApp.
func NewRegistry() *Registry { return &Registry{byID: make(map[entity.ID]*record)} }

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
func (g *Registry) unsettled(c *Cell) {
	if !c.unsettled {
		c.unsettled = true
		g.leaving = append(g.leaving, c)
	}
}

// Settle acts on departures that message handlers caused, on all cells; the CellApp
// calls it after each batch of messages.
func (g *Registry) Settle() {
	for i := 0; i < len(g.leaving); i++ { // a callback may make more
		g.leaving[i].unsettled = false
		g.leaving[i].Settle()
	}
	clear(g.leaving)
	g.leaving = g.leaving[:0]
}

func (g *Registry) find(id entity.ID) *record { return g.byID[id] }

// Cell is the cell that has the entity, as a real or a ghost; nil if none has.
func (g *Registry) Cell(id entity.ID) *Cell {
	if rec := g.byID[id]; rec != nil {
		return rec.cell
	}
	return nil
}

// Base is the app of an entity's base; false if the entity is not here.
func (g *Registry) Base(id entity.ID) (base mercury.Address, here bool) {
	if rec := g.byID[id]; rec != nil {
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
