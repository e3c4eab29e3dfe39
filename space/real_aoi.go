package space

import "fmt"

// AoI is the radius of the entity's area of interest and its hysteresis, in metres: those of SetAoI, or
// Config.AoIRadius and Config.AoIHysteresis. On a cell whose ghosts reach less far than was asked for,
// the radius is what they allow.
func (r *Real) AoI() (radius, hysteresis float32) {
	cfg := r.cell.cfg
	if r.witness != nil {
		radius, hysteresis = r.witness.Reach()
	}
	if radius == 0 {
		return cfg.AoIRadius, cfg.AoIHysteresis
	}
	hysteresis = min(hysteresis, cfg.farthestAoI()/2)
	return min(radius, cfg.farthestAoI()-hysteresis), hysteresis
}

// SetAoI makes the entity's client see as far as radius, and what it sees until it is hysteresis farther
// away, in metres: a telescope, a tunnel. It may be called at any time, and lasts until the session
// ends, across cells and with backups; 0 and 0 bring back what Config says. What comes into view or goes
// out of it does so with the next tick. Without a client it does nothing.
//
// It fails, and changes nothing, if radius or hysteresis is not above 0, or if both together reach
// farther than Config.Border.GhostDistance allows: nobody can see who has no ghost.
func (r *Real) SetAoI(radius, hysteresis float32) error {
	unset := radius == 0 && hysteresis == 0
	if most := r.cell.cfg.farthestAoI(); !unset && !(radius > 0 && hysteresis > 0 && radius+hysteresis <= most) {
		return fmt.Errorf("space: an area of interest of %v m and %v m of hysteresis: take numbers above 0, at most %v together, or raise Border.GhostDistance", radius, hysteresis, most)
	}
	if r.witness == nil {
		return nil
	}
	r.witness.SetReach(radius, hysteresis)
	radius, hysteresis = r.AoI()
	r.cell.ranges.SetRange(r.trigger, radius, radius+hysteresis)
	return nil
}
