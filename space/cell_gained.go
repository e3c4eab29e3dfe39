package space

import "github.com/cellscape/cellscape/balance/load"

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
