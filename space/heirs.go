package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

// When a BaseApp dies, other BaseApps bring its bases back, and some of its bases may go to others
// while it lives (package entity/baseapp). Each app works out by itself where, so reals find their
// bases at once:
//
//	real, ghost, frozen copy, what a destroyed real owes ---> the heir
//	flows to its bases                                   ---> the heir, from the oldest message kept
//	a real whose base nobody has a copy of               ---> dropped, for nobody can command it
//
// Nothing that is kept is lost by that: the copy of a base is older than what the base has handled, and
// flows keep what no copy contains.

// heir is the app of an entity's base, now: the given one as long as that lives and nothing is
// known of a move. It is zero if the entity has none, or none any more.
func (p *Population) heir(base mercury.Address, id entity.ID) mercury.Address {
	if base.IsZero() {
		return base
	}
	home := p.homeOfBase(id)
	switch lives := !p.env.Out.Dead(base); {
	case lives && (home.IsZero() || p.env.Out.Dead(home)):
		return base
	case !lives && p.env.Out.Dead(home):
		return mercury.Address{}
	}
	return home
}

// BasesMoved goes on with those who have taken over bases of an app, because it died or gave them away. The
// outbox knows them by then.
func (p *Population) BasesMoved(app mercury.Address) {
	if p.env.Out.Dead(app) {
		p.seekUntil = p.now + flow.SeekTime
	}
	p.handoffs.Rebase(app, func(id entity.ID) mercury.Address { return p.heir(app, id) })
	for i := range p.handedOn {
		if h := &p.handedOn[i]; h.base == app {
			h.base = p.heir(app, h.head.ID)
		}
	}
	p.words.inherited(app, p.now, p.heir)
	p.departedInherited(app)
	for c := range p.homes() {
		c.basesMoved(app)
	}
}

func (c *Cell) basesMoved(app mercury.Address) {
	for _, rec := range c.ghosts {
		if rec.e.Base == app {
			rec.e.Base = c.population.heirOr(app, rec.e.ID)
		}
	}
	for _, rec := range c.reals {
		rec.real.forsake()
		if c.out.Dead(app) {
			rec.real.seek()
		}
		rec.real.quietUntil = 0
		for i := range rec.real.flows {
			c.population.inheritedFlow(&rec.real.flows[i], app)
		}
	}
	for _, rec := range slices.Clone(c.reals) {
		if rec.e.Base != app {
			continue
		}
		heir := c.population.heir(app, rec.e.ID)
		if heir.IsZero() {
			c.drop(rec.real)
			continue
		}
		if heir == app {
			continue // it has stayed there
		}
		r := rec.real
		rec.e.Base = heir
		if c.population.traces(rec.e) {
			c.population.step(rec.e, "base moved", "to", heir)
		}
		r.base().inherited()
		r.clientAnew()
		r.announce()
	}
}

// inherited makes a flow to a base go on with its next life, which may have handled nothing of what is
// kept, and hears at once from where the other end is now.
func (e *peer) inherited() {
	e.out.Rewind(0)
	e.in.Owe()
}

// clientAnew notes that the base is in another life, which may tell the client anew all that the witness has
// said reliably.
func (r *Real) clientAnew() {
	if r.witness != nil {
		r.witness.Doubt()
	}
}

// inheritedFlow is that for a flow to the base of another entity, or by way of it.
func (p *Population) inheritedFlow(end *peer, app mercury.Address) {
	if end.home != app && end.at != app {
		return
	}
	heir := p.heir(app, end.id)
	if heir.IsZero() || heir == app {
		return // see giveUp
	}
	if end.home == app {
		end.home = heir
	}
	if end.side == entity.BasePart {
		end.at = heir // where acks go
		end.inherited()
	}
}

// departedInherited is that for what destroyed reals have sent.
func (p *Population) departedInherited(app mercury.Address) {
	for i := range p.departed.list {
		d := &p.departed.list[i]
		switch {
		case !d.toOwn():
			p.inheritedFlow(&d.peer, app)
		case d.base == app:
			heir := p.heir(app, d.id)
			if heir.IsZero() || heir == app {
				continue // settleDeparted forgets it
			}
			d.base = heir
			d.inherited()
			p.env.Out.Send(heir, &d.was)
		}
	}
}

// inherited readdresses the words to an app that died or gave bases away.
func (u *unanswered) inherited(app mercury.Address, now time.Duration, heir func(mercury.Address, entity.ID) mercury.Address) {
	for _, w := range u.list {
		if w.to == app && !w.done {
			if h := heir(app, w.id); !h.IsZero() && h != app {
				w.to, w.at = h, now
			}
		}
	}
}

// heirOr is what a message says of an entity's base, as it is now: the message may be older than a death.
func (p *Population) heirOr(base mercury.Address, id entity.ID) mercury.Address {
	if heir := p.heir(base, id); !heir.IsZero() {
		return heir
	}
	return base
}
