package space

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A CellApp proves that it is of the cluster, and that it is a CellApp. This file asks whether it may
// say what it says of an entity. The package doc has the list of what is believed of whom.

// errUntrue is in the chain of what no app that keeps to the protocol says, whatever was lost, late
// or restored.
var errUntrue = errors.New("space: not true")

var (
	errNotReal  = fmt.Errorf("%w: the sender has no real of that order", errUntrue)
	errNotTaker = fmt.Errorf("%w: the entity was handed over to another app", errUntrue)
	errNotAsker = fmt.Errorf("%w: it asks in the name of another app", errUntrue)
	errDenied   = errors.New("space: a newer real is known")
	errOverrun  = fmt.Errorf("%w: the real of that incarnation is here, and was not handed over", errUntrue)
)

// untrue counts a lie.
func (p *Population) untrue(err error) error {
	p.env.Counters.Unproved++
	return err
}

// outdo gives up a ghost that claims to be newer than a real that is about to be made here, and
// returns the record if there still is one. The word of a ghost's app must not keep a real out. If
// it was true, the base refuses the real, and the ghost comes back.
func (p *Population) outdo(rec *record, order entity.Order) *record {
	if rec == nil || rec.ghost == nil || rec.e.Order.Before(order) || rec.e.Order == order {
		return rec
	}
	p.env.Counters.Unproved++
	rec.cell.evict(rec)
	return nil
}

// denies reports whether a real is not made for now because a ghost that is here, or was, is newer.
// Either the order to make it comes late, and its base has begun another one since; then the ghost
// must not go back. Or the ghost's app lies. The base knows: told that there is no such real, it
// refuses an outdated one, and begins the next incarnation in place of one that counts. Nobody but
// the base makes incarnations, so an order that is newer than one denied shows that the ghost is
// the lie.
func (p *Population) denies(id entity.ID, rec *record, order entity.Order, base mercury.Address, title migrate.Title) bool {
	if rec == nil {
		if base.IsZero() || !p.rumours.Deny(id, order) {
			return false
		}
		p.env.Counters.Unproved++
		p.tellLost(base, id, order, title, errDenied.Error())
		return true
	}
	if rec.ghost == nil || base.IsZero() || rec.e.Order.Before(order) || rec.e.Order == order || rec.denied.Before(order) && rec.denied != (entity.Order{}) {
		return false
	}
	p.env.Counters.Unproved++
	rec.denied = order
	p.tellLost(base, id, order, title, errDenied.Error())
	return true
}

// doubt is what a ghost does when an app speaks of its real that does not have it, as far as is known
// here. Its word may be true, if the real has moved and the news is late or lost. So the app where
// the real should be is asked. If it does not answer for a lease, the ghost goes.
func (c *Cell) doubt(rec *record) {
	if rec.doubted == 0 {
		rec.doubted = c.now + GhostLease
		c.population.ask(rec.ghost.Real, rec.ghost.Head())
	}
}

// challenge meets the claim that a newer real lives elsewhere than one here. A real that is here and
// was not handed over has no newer hop. Only its base begins a new incarnation, so the base is asked,
// which refuses the older real.
func (c *Cell) challenge(r *Real, order entity.Order, from mercury.Address) error {
	if r.e.Base.IsZero() || order.Incarnation <= r.e.Order.Incarnation {
		return c.population.untrue(errOverrun)
	}
	c.count.Unproved++
	r.rival = from
	if r.gone == staying && (r.rivalAt == 0 || c.now-r.rivalAt >= askForItself) {
		r.rivalAt = c.now
		r.announce()
	}
	return nil
}

// ofBase reports whether an app may bring a word of an entity's base: the base's own, or the one that
// handed the real over to here, to which the base may have sent it. The base sends to the new app
// whatever it has no ack for, so nothing is lost with what others pass on.
func (rec *record) ofBase(app mercury.Address) bool { return app == rec.e.Base || app == rec.giver }

// claimHolds is for how long the claim of a newer real counts: longer than it takes to make it again.
const claimHolds = 2*migrate.ResendOnload + askForItself

// outlivedAt reports whether an app has a newer incarnation of a real, or says so. What it passes on is for
// that one; this one, which the base is about to refuse, would hear of it what came after all that it missed.
func (r *Real) outlivedAt(app mercury.Address) bool {
	return r != nil && r.rival == app && r.rivalAt != 0 && r.cell.now-r.rivalAt < claimHolds
}

// mayCall reports whether an app may bring a message to a real that is here or has gone on.
func (c *Cell) mayCall(rec *record, m *flow.Message, from mercury.Address) bool {
	if rec.real.outlivedAt(from) {
		return false
	}
	if m.FromPart == entity.BasePart {
		return c.mayCallAsBase(rec, m, from)
	}
	// A caller that stands here has no newer incarnation, unless its base says so.
	caller := c.population.find(m.From)
	if caller == nil || caller.real == nil || m.Incarnation <= caller.e.Order.Incarnation {
		return true
	}
	_ = caller.cell.challenge(caller.real, entity.Order{Incarnation: m.Incarnation}, from)
	return false
}

// mayCallAsBase is mayCall for what a base sends. That of another entity sends to where the target's
// base is, which passes it on. A cell part without a base may be reached over where it was.
func (c *Cell) mayCallAsBase(rec *record, m *flow.Message, from mercury.Address) bool {
	if rec.ofBase(from) {
		return true
	}
	return m.From != m.To && (rec.e.Base.IsZero() || c.population.homeOfBase(m.From) == from)
}

// homeOfBase is the app of an entity's base, zero if that is not known or there is none.
func (p *Population) homeOfBase(id entity.ID) mercury.Address {
	if app, base := p.env.Out.Home(id); base {
		return app
	}
	return mercury.Address{}
}
