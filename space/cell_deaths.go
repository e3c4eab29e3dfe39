package space

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// CellAppDied forgets a CellApp that the manager has declared dead. A base first hears what was
// handed over to that CellApp, and then what is lost.
func (p *Population) CellAppDied(app mercury.Address) {
	p.handedOverDied(app)
	p.accepted.died(app)
	for c := range p.homes() {
		c.cellAppDied(app)
	}
}

func (c *Cell) cellAppDied(app mercury.Address) {
	for _, rec := range c.reals {
		rec.real.haunts.Remove(app)
	}
	for _, rec := range c.ghosts {
		if rec.ghost.Real != app {
			continue
		}
		rec.ghost.OrphanedUntil = c.now + c.cfg.orphanGrace(rec.e.Base)
		if !rec.e.Base.IsZero() {
			// The base may never have heard that the real went there. The ack freed the frozen copy
			// here, and the message for the base may have died with the app.
			c.population.tellLost(rec.e.Base, rec.e.ID, rec.e.Order, 0, "its CellApp died")
		}
	}
}

// orphanGrace is how long the ghosts of a real whose CellApp has died wait for another one. Nobody
// restores an entity without a base: clients must not see it, nor scripts find it, beside the one that the
// game spawns in its place (Scripts.OnLostArea). Should it have been handed on just before, its next
// CellApp tells of it, and it is mirrored again.
func (c *Config) orphanGrace(base mercury.Address) time.Duration {
	if base.IsZero() {
		return 1 // the next tick
	}
	return c.OrphanGrace
}

// expire gives up orphaned ghosts.
func (c *Cell) expire() {
	for i := 0; i < len(c.ghosts); {
		rec := c.ghosts[i]
		if rec.ghost.OrphanedUntil == 0 && c.now-rec.heard >= GhostLease {
			c.population.ask(rec.ghost.Real, rec.ghost.Head())
			rec.heard = c.now
		}
		u := rec.ghost.OrphanedUntil
		if u != 0 && u <= c.now || rec.doubted != 0 && rec.doubted <= c.now {
			c.population.rumours.End(rec.ghost.Head(), c.population.now)
			c.evict(rec)
			continue
		}
		i++
	}
}
