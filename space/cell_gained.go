package space

import "github.com/cellscape/cellscape/balance/load"

// Gained is the load of the reals that have come to the cell, by whatever way, less that of those that left, since it was
// made, in nanoseconds of work per second. Each counts as it did in Load at that moment, a new one as nothing unless
// Config.ArtificialLoad is set. So it changes when Load does, and Load less Gained moves only by what work itself changes
// and, with an artificial load, by ghosts. A number of reals could not say that: those near a line at the thin end of a
// crowd may cost half of the mean, and a balance that counts them answers its own step with a larger one back.
//
// Only differences count: what came with little and grew here leaves with much, so it is below zero at times.
func (c *Cell) Gained() int64 { return c.gained }

// counts is the part of a real in the cell's load: 0 to load.Max.
func (c *Cell) counts(r *Real) int64 {
	if least := c.cfg.ArtificialLoad; least > 0 {
		return load.Clamp(max(least, r.leastLoad))
	}
	return r.Load()
}

// keep puts a real among those of the cell, with the load that it brings.
func (c *Cell) keep(rec *record) {
	c.reals.insert(rec)
	// Should it ever pass the ends of int64 it wraps around, and differences are right all the same.
	c.gained += c.counts(rec.real)
}

// partWith takes a real off those of the cell, with the load that it has. It does nothing for a ghost, nor for a real that was
// never whole enough to be kept.
func (c *Cell) partWith(rec *record) {
	if rec.real == nil || !c.reals.remove(rec.e.ID) {
		return
	}
	c.gained -= c.counts(rec.real)
}
