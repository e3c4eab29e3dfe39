package space

import (
	"iter"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
)

// Whom a client is shown: who is in its area of interest by the range events, except who is withheld from
// all or hidden from this one, and except types with ManualAoI, which a script adds one by one.

// inSight reports whether the client of a real is to be shown an entity.
func (r *Real) inSight(rec *record) bool {
	switch {
	case r.witness == nil || rec.cell != r.cell || rec.real == r || rec.e.Aspect&presence.Withheld != 0 || r.witness.Hidden(rec.e.ID):
		return false
	case rec.e.Def.ManualAoI:
		return r.witness.Added(rec.e.ID)
	}
	return r.cell.ranges.Contains(r.trigger, rec.node)
}

// allInSight yields whom the client of a real is to be shown, as it is to be shown: those in range, then
// those that a script has added.
func (r *Real) allInSight() iter.Seq[*presence.Entity] {
	return func(yield func(*presence.Entity) bool) {
		var last entity.ID // of whom there may be images, too
		for key := range r.cell.ranges.Inside(r.trigger) {
			rec := r.cell.population.find(entity.ID(key))
			if rec == nil || rec.e.Def.ManualAoI || rec.e.ID == last {
				continue
			}
			last = rec.e.ID
			if s := r.sight(rec); s != nil && !yield(s.Entity) {
				return
			}
		}
		for id := range r.witness.AllAdded() {
			if rec := r.cell.population.find(id); rec != nil && r.inSight(rec) && !yield(rec.e) {
				return
			}
		}
	}
}

// aspectChanged shows an entity anew to whoever sees it, or hides it.
func (c *Cell) aspectChanged(rec *record) {
	withheld := rec.e.Aspect&presence.Withheld != 0
	for _, other := range c.reals {
		switch r := other.real; {
		case r.witness == nil:
		case withheld:
			r.witness.Leave(rec.e.ID)
		case r.inSight(rec):
			r.witness.Enter(&rec.seen)
		}
	}
	c.noticeWatched(rec)
}

// adders are the reals whose script has said something of single entities.
type adders []*Real

func (a *adders) add(r *Real) {
	if !slices.Contains(*a, r) {
		*a = append(*a, r)
	}
}

func (a *adders) remove(r *Real) {
	if i := slices.Index(*a, r); i >= 0 {
		*a = slices.Delete(*a, i, i+1)
	}
}

// pairLife is how long something that a script has said of an entity outlives the entity's being on
// the cell: long enough for a base to restore it, or for a watcher to come back over a line.
const pairLife = 5 * time.Second

// sweep forgets what was said of entities that are not here any more.
func (a *adders) sweep(c *Cell) {
	for _, r := range *a {
		r.witness.SweepPairs(func(id entity.ID) bool {
			rec := c.population.find(id)
			return rec != nil && rec.cell == c
		}, int(pairLife/c.cfg.CheckPeriod))
	}
	*a = slices.DeleteFunc(*a, func(r *Real) bool { return !r.witness.HasPairs() })
}

// showAdded shows who has come onto the cell to whoever has added it.
func (c *Cell) showAdded(rec *record) {
	if !rec.e.Def.ManualAoI {
		return
	}
	for _, r := range c.adders {
		if r.inSight(rec) {
			r.witness.Enter(&rec.seen)
			c.noticeWatched(rec)
		}
	}
}

// hideAdded takes who leaves the cell out of the view of whoever has added it. Those of other types go
// by the range events.
func (c *Cell) hideAdded(rec *record) {
	if !rec.e.Def.ManualAoI {
		return
	}
	for _, r := range c.adders {
		r.seeEnd(rec.e.ID)
	}
}

// meetAdded shows a client whom its script has added on another cell.
func (r *Real) meetAdded() {
	if !r.witness.HasPairs() {
		return
	}
	r.cell.adders.add(r)
	for id := range r.witness.AllAdded() {
		if rec := r.cell.population.find(id); rec != nil && r.inSight(rec) {
			r.witness.Enter(&rec.seen)
			r.cell.noticeWatched(rec)
		}
	}
}
