package space

import "github.com/cellscape/cellscape/balance/load"

// counts is what a real contributes to the cell's load: 0 to load.Max.
func (c *Cell) counts(r *Real) int64 {
	if least := c.cfg.ArtificialLoad; least > 0 {
		return load.Clamp(max(least, r.leastLoad))
	}
	return r.Load()
}

// keep adds a real to those of the cell, with the load that it brings.
func (c *Cell) keep(rec *record) {
	c.reals.insert(rec)
	c.near.add(rec)
	if rec.e.Ride.Vehicle != 0 {
		c.riders.insert(rec)
	}
	c.list(rec)
	if !rec.e.Base.IsZero() {
		c.based++
	}
	// If it ever overflows, it wraps around, and differences are still right.
	c.gained += c.counts(rec.real)
}

// partWith removes a real from those of the cell, with the load that it has. It does nothing for a
// ghost, or for a real that was never complete enough to be kept.
func (c *Cell) partWith(rec *record) {
	if rec.real == nil || !c.reals.remove(rec.e.ID) {
		return
	}
	c.near.remove(rec)
	c.riders.remove(rec.e.ID)
	c.unlist(rec)
	if !rec.e.Base.IsZero() {
		c.based--
	}
	c.gained -= c.counts(rec.real)
}
