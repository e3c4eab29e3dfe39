package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/space"
)

// A tight world has budgets that do not suffice: clients cannot be told all that happens, and few
// ghosts are made and few reals handed over in a check. A frozen world knows no budgets, so a tight
// one falls silent before it is frozen. Nothing changes any more, but everything goes on, and what
// clients have not been told must come by and by, within the same budgets.

const (
	tightBytes   = 200 // a tick and client
	tightGhosts  = 4   // a check and cell
	tightHandoff = 2   // a check and cell
	// hushIn is how long the news takes that the game is over; lullEnds is how long it may take
	// until everyone is told everything that happened before.
	hushIn, lullEnds = 20 * time.Second, 40 * time.Second
	// listenFor is several rounds in which cells judge what to save in a crowd, so that lower sees
	// how little a cell may have told.
	listenFor = 5 * time.Second
)

// tighten gives a CellApp's cells the budgets of a tight world.
func (c *Cluster) tighten(cfg *space.Config) {
	if c.opts.Wild.Tight {
		cfg.GhostBudget = tightGhosts
		cfg.Border.OffloadRate = tightHandoff / space.DefaultCheckPeriod.Seconds()
	}
}

// lull lets a tight world fall silent, and demands that everyone is told everything.
func (c *Cluster) lull() error {
	if !c.opts.Wild.Tight || c.opts.Wild.Heralds == 0 {
		return nil
	}
	c.world.hush = true
	if err := c.runUntil(hushIn, c.hushed); err != nil {
		return err
	}
	if !c.hushed() {
		return nil // its heralds died with their BaseApps
	}
	// Heralds set the same entry again and again, so that each cell hears of it. Where budgets were
	// least some clients were then never told to the end (seed 195065 at d55a5231).
	c.world.silent = true
	if err := c.runFor(2 * time.Second); err != nil { // time for a beat of every script
		return err
	}
	if err := c.runUntil(lullEnds, c.toldAll); err != nil {
		return err
	}
	if !c.toldAll() {
		return fmt.Errorf("promise 5: %v after everything fell silent clients have not been told all: %s", lullEnds, c.pending())
	}
	least, err := c.listen()
	if err != nil {
		return err
	}
	var faults []error
	k := &clientsConverge{c}
	reals, all := k.reals()
	for _, pl := range c.players {
		faults = append(faults, k.sight(pl, reals, all, least[pl.id()]*nearRadius)...)
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("with budgets, in silence, at %v: %w", c.now, err)
	}
	return nil
}

// hushed reports whether all cells know that the game is over.
func (c *Cluster) hushed() bool {
	all := true
	for _, a := range c.liveCellApps() {
		for cell := range theCell(a) {
			_, ok := cell.Data(hushKey)
			all = all && ok
		}
	}
	return all
}

// toldAll reports whether no cell has anything left to tell.
func (c *Cluster) toldAll() bool {
	var n uint64
	for _, a := range c.liveCellApps() {
		n += a.Pending()
	}
	return n == 0 && c.inPlace()
}

// listen lets what was sent arrive. A real that is handed over in the meantime does something on
// leaving, so listen waits for the end of a second without a handover at which all has been told.
// (Bases and cell parts never stop to count for each other, so that in no second there is nothing
// on its way.) It returns the result of lower.
func (c *Cluster) listen() (least map[entity.ID]float32, err error) {
	least = map[entity.ID]float32{}
	heard, until, moved := c.now+listenFor, c.now+lullEnds, false
	// Lines may move all the time. What is owed is then judged after a second without a handover.
	for c.now < heard || (moved || !c.toldAll()) && (c.now < until || moved && c.now < until+lullEnds) {
		before := c.hops()
		err := c.runUntil(time.Second, func() bool {
			c.lower(least)
			return false
		})
		if err != nil {
			return nil, err
		}
		moved = c.hops() != before
	}
	c.lower(least)
	return least, nil
}

// hops counts the handovers of all reals that there are.
func (c *Cluster) hops() (n uint64) {
	for v := range c.reals() {
		n += uint64(v.Order().Hop)
	}
	return n
}

// lower notes the smallest share to which each cell cuts the distances of details for its players.
// A crowd may be too dense even in silence: then its clients are owed the details of nearer
// entities, and of more when the cell saves less.
func (c *Cluster) lower(least map[entity.ID]float32) {
	for v := range c.reals() {
		share := float32(v.cell.Degradation().Detail) / gametime.NormalRate
		if was, ok := least[v.ID()]; !ok || share < was {
			least[v.ID()] = share
		}
	}
}

// settles reports whether the game is over for a real. Its walk ends where it is then.
func settles(r *space.Real) bool {
	if !hushed(r) {
		return false
	}
	_, _ = r.MoveTo(r.Position(), 1, "", 0)
	return true
}
