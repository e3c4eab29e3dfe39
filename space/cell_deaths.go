package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// AppDied forgets a CellApp that was declared dead, by the manager's verdict.
func (c *Cell) AppDied(app mercury.Address) {
	for _, rec := range c.reals {
		rec.real.haunts.Remove(app)
	}
	c.handoffs.Died(app, func(h *migrate.Handoff) {
		// Ghosts of the old hop point here, where the real no longer is: unless a
		// newer one shows itself within the grace, they have to go.
		c.orphans = append(c.orphans, orphan{
			at: c.now + c.cfg.OrphanGrace, haunts: h.Haunts,
			head: ghost.Head{ID: h.Offer.ID, Order: h.Offer.Order, Sequence: ghost.Last},
		})
		if h.Base.IsZero() {
			c.log.Warn("entity without a base lost in a handoff to a dead CellApp", "entity", h.Offer.ID.String())
			return
		}
		offer := h.Offer
		c.tellBase(h.Base, offer.ID, offer.Order, &offer)
	})
	c.handedOn = slices.DeleteFunc(c.handedOn, func(h handedOn) bool {
		if h.to != app {
			return false
		}
		// One that came back and was destroyed here speaks for itself.
		if !h.base.IsZero() && !c.owesBase(h.head.ID) {
			c.tellLost(h.base, h.head.ID, h.head.Order, "its CellApp died")
		}
		h.orphan.at = c.now + c.cfg.OrphanGrace
		c.orphans = append(c.orphans, h.orphan)
		return true
	})
	for _, rec := range c.ghosts {
		if rec.ghost.Real != app {
			continue
		}
		rec.ghost.OrphanedUntil = c.now + c.cfg.OrphanGrace
		if !rec.e.Base.IsZero() {
			// The base may never have heard that the real went there: the ack let the
			// frozen copy go, and the news for the base died with the app.
			c.tellLost(rec.e.Base, rec.e.ID, rec.e.Order, "its CellApp died")
		}
	}
}

// BaseAppDied destroys the reals whose base is gone: nothing can restore or
// command them any more.
func (c *Cell) BaseAppDied(app mercury.Address) {
	for _, rec := range append(sorted(nil), c.reals...) {
		if rec.e.Base == app {
			c.drop(rec.real)
		}
	}
}

// orphan is a real that was lost in a handoff from here: its ghosts elsewhere are
// ended when their grace is over.
type orphan struct {
	at     time.Duration
	haunts []mercury.Address
	head   ghost.Head
}

// handedOn is a real that was taken over from here, by an app that may not have
// told its base and its haunts yet; at is when it surely has.
type handedOn struct {
	to, base mercury.Address
	orphan
}

// expire gives up orphaned ghosts.
func (c *Cell) expire() {
	c.handedOn = slices.DeleteFunc(c.handedOn, func(h handedOn) bool { return h.at <= c.now })
	c.handoffs.Due(c.now, func(h *migrate.Handoff) {
		if c.has(c.roomLater(), h.To) { // else it may be in the queue still
			c.out.Send(h.To, &h.Onload)
		}
	})
	c.orphans = slices.DeleteFunc(c.orphans, func(o orphan) bool {
		if o.at > c.now {
			return false
		}
		for _, app := range o.haunts {
			c.out.Send(app, &ghost.Delete{Head: o.head})
		}
		return true
	})
	for i := 0; i < len(c.ghosts); {
		rec := c.ghosts[i]
		if rec.ghost.OrphanedUntil == 0 && c.now-rec.heard >= GhostLease {
			c.population.ask(rec.ghost.Real, rec.ghost.Head())
			rec.heard = c.now
		}
		if u := rec.ghost.OrphanedUntil; u != 0 && u <= c.now {
			c.population.tombstones.Bury(rec.ghost.Head(), c.now)
			c.evict(rec)
			continue
		}
		i++
	}
}
