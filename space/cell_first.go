package space

// OnFirstCell sets the function that is called when a space begins. f is called once, in the first
// tick of the first cell that the space ever has. It is the place to spawn the space's own
// entities. fromStore says that the space was loaded from a store and has its entities already;
// without a store it is false. A space that lost all its cells and gets one again does not begin
// anew: an entity with a base comes back by itself.
// If the CellApp of the first cell dies before the manager has heard of the cell, f is
// called for the next one, since nothing is left of what it did.
//
// f runs on the goroutine of the CellApp. Its panic is contained and logged.
func (s *Scripts) OnFirstCell(f func(c *Cell, fromStore bool)) {
	if s.firstCell != nil {
		s.registry.Fault("space: OnFirstCell was given a function twice; let one call the other")
	}
	s.firstCell = f
}

// First says that the cell is the first of its space; see Scripts.OnFirstCell.
func (c Hosted) First(fromStore bool) { c.first, c.fromStore = true, fromStore }

// beginSpace calls the game's hook, in a tick, so that timers of what it spawns start
// from the right time.
func (c *Cell) beginSpace() {
	if !c.first {
		return
	}
	c.first = false
	if c.ended || c.scripts.firstCell == nil {
		return
	}
	c.hook("OnFirstCell", func() { c.scripts.firstCell(c, c.fromStore) })
}
