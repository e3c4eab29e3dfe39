package space

import (
	"errors"

	"github.com/cellscape/cellscape/space/ending"
)

// What the game hears of the life of a cell, on one CellApp:
//
//	made        OnNewCell     the place to make what the game keeps for the cell: Cell.SetLocal
//	  |         OnFirstCell   if it is the first of its space, in its first tick
//	  |         OnArea        in its first tick, and whenever its area has changed
//	  v
//	sealed      OnCellEnd     the place to close that
//
// Reals meet their cell only between the first and the last, so that each finds what is kept for it
// (Real.CellLocal). A cell that is sealed makes no entity any more, whoever still has it.

// errSealed is returned by Spawn outside of a cell's life.
var errSealed = errors.New("space: no entity is made on a cell that is being made or has ended; Scripts.OnFirstCell can make some")

// OnNewCell sets the function that is called for every cell that is made on a CellApp, before any
// entity comes to it: the first of a space, one that the balance adds, one that takes the place of
// another. It is the place to make what the game keeps for the cell, with Cell.SetLocal. A cell
// that is cut, or whose lines move, is the same; OnArea is told of that.
//
// f has the cell's id and area and the space's data. It makes no entities: Cell.Spawn returns an
// error. It is called in a frozen world, too. It runs on the goroutine of the CellApp. A panic is
// contained and logged.
func (s *Scripts) OnNewCell(f func(c *Cell)) {
	if s.newCell != nil {
		s.registry.Fault("space: OnNewCell was given a function twice; let one call the other")
	}
	s.newCell = f
}

// OnCellEnd sets the function that is called when a cell ends on its CellApp, and why: the place to
// close what the game has opened for it, such as files, connections and what else Cell.Local holds.
// It is called once for each cell that OnNewCell was called for, last of all. If the space has
// ended or goes on without the cell, nobody is on it any more: entities have had their own hooks. A
// cell whose process ends in another way than by the cluster's orders or its runner's Stop, such as
// a crash, is told nothing.
//
// f makes no entities: Cell.Spawn returns an error. The function done of a Cell.Do that is under
// way, or that f begins, is not called. It runs on the goroutine of the CellApp, which may wait for
// it in order to end: do not block for long. A panic is contained and logged.
func (s *Scripts) OnCellEnd(f func(c *Cell, why ending.Why)) {
	if s.cellEnd != nil {
		s.registry.Fault("space: OnCellEnd was given a function twice; let one call the other")
	}
	s.cellEnd = f
}

// Begin calls the game's hook for a new cell. The CellApp calls it once, before anything else is
// done with the cell.
func (c Hosted) Begin() {
	if c.scripts.newCell == nil {
		return
	}
	c.sealed = true
	c.hook("OnNewCell", func() { c.scripts.newCell(c.Cell) })
	c.sealed = false
}

// Seal ends the cell for the game: its hook is called, and no entity is made here any more. A
// second Seal does nothing. Whoever does not Drop the cell after it must drop the whole Population.
func (c Hosted) Seal(why ending.Why) {
	if c.sealed {
		return
	}
	c.sealed = true
	if c.scripts.cellEnd != nil {
		c.hook("OnCellEnd", func() { c.scripts.cellEnd(c.Cell, why) })
	}
}

// CellLocal is Cell.Local of the cell that the entity is on: what the game keeps for that cell, on
// this CellApp. It is another one after a move to another cell: OnLeavingCell and OnDestroy still
// have the old one, OnEnteringCell and OnCreated the new one. Do not keep it in the script.
func (r *Real) CellLocal() any { return r.cell.local }
