package space

// OnFirstCell sets the function that is called when a space begins: once, in the first tick of the
// first cell that the space ever has. It is the place to spawn the space's own entities. fromStore
// is true if the space was kept by a store when the world was stopped, and has its data again:
// entities that are to come back do so by their bases (cluster.Config.BringBack), and those without
// a base have ended with the world. Without a store, and after a crash of a world that was never
// stopped, it is false. f is not called again for a space that lost all its cells and gets a new
// one, since entities with a base come back by themselves; OnLostArea is then. If the CellApp of
// the first cell dies before the manager has heard of the cell, f is called for the next one,
// because nothing is left of what it did.
//
// f runs on the goroutine of the CellApp. A panic is contained and logged.
func (s *Scripts) OnFirstCell(f func(c *Cell, fromStore bool)) {
	if s.firstCell != nil {
		s.registry.Fault("space: OnFirstCell was given a function twice; let one call the other")
	}
	s.firstCell = f
}

// First marks the cell as the first of its space; see Scripts.OnFirstCell.
func (c Hosted) First(fromStore bool) { c.first, c.fromStore = true, fromStore }

// beginSpace calls the game's hook, within a tick, so that timers of spawned entities start from
// the right time.
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
