package space

import (
	"slices"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
)

// border lists whom the offload and ghost check visits. Most reals of a large cell stand deep inside
// it and have no ghosts; nothing can be due for them, and no check costs anything for their sake.
//
//	deep  --moves near a line or a gateway, or the cell's
//	        area or the gateways change--------------------> listed
//	      --comes to the cell, gets a ghost----------------> listed
//	      --the last client here sees it no more-----------> listed
//	listed --a check finds nothing to wait for (Real.due)--> deep
//
// A change of the area looks at all reals once. Everything else costs what it concerns.
type border struct {
	area    bsp.Rect // for which the list is kept
	list    sorted
	from    entity.ID // where the next check begins, because of what the last one left over
	leaving []*Real   // scratch
}

// budgets are what a check may still do.
type budgets struct{ ghosts, handovers int }

func (b *budgets) spent() bool { return b.ghosts == 0 || b.handovers == 0 }

// list makes the next checks visit a real.
func (c *Cell) list(rec *record) {
	if r := rec.real; !r.listed {
		r.listed = true
		c.border.list.insert(rec)
	}
}

// unlist makes the checks forget a real that leaves the cell.
func (c *Cell) unlist(rec *record) {
	if rec.real.listed {
		rec.real.listed = false
		c.border.list.remove(rec.e.ID)
	}
}

// listMoved lists a real that has come near a line.
func (c *Cell) listMoved(rec *record) {
	if r := rec.real; r != nil && !r.listed && !r.deep(c.border.area) {
		c.list(rec)
	}
}

// listNear lists who is near the lines of the cell's present area.
func (c *Cell) listNear(area bsp.Rect) {
	if area != c.border.area {
		c.border.area = area
		c.relist()
	}
}

// relist lists who is near the lines or a gateway.
func (c *Cell) relist() {
	c.border.list = c.border.list[:0]
	for _, rec := range c.reals {
		if r := rec.real; r.listed || !r.deep(c.border.area) {
			r.listed = true
			c.border.list = append(c.border.list, rec) // in order, as the reals are
		}
	}
}

// listUnseen lists the reals that no client here sees any more, and tells the apps of such ghosts'
// reals.
func (c *Cell) listUnseen() {
	for id := range c.unseen.Drain() {
		switch rec := c.population.find(id); {
		case rec == nil || rec.cell != c: // it has left since
		case rec.real != nil:
			c.list(rec)
		default:
			c.reportWatched(rec)
		}
	}
}

// reach is how far around the real ghosts of it stand.
func (r *Real) reach() float64 {
	return r.cell.cfg.Border.GhostDistance + float64(r.e.Def.AppealRadius)
}

// deep reports whether a real is so far inside an area, and from gateways, that nobody beyond needs a
// ghost of it.
func (r *Real) deep(area bsp.Rect) bool {
	x, z := float64(r.e.Position.X), float64(r.e.Position.Z)
	return within(bsp.Around(x, z, r.reach()), area) && !r.cell.atGate(x, z)
}

// due reports whether checks may have something to do for a real that does nothing.
func (r *Real) due(rec *record, area bsp.Rect) bool {
	return r.haunts.Len() > 0 || !r.deep(area) || r.outsideSince != 0 ||
		r.unwatched != 0 || r.watched(rec) != r.witnessed
}

// visitBorder visits who is listed, in id order, as many as one check may, and returns who is to
// leave. Where a budget was used up, or visits ended, the next check begins, so that everyone's
// turn comes. A check that came to the end of its work begins with the lowest id.
func (c *Cell) visitBorder() []*Real {
	list := c.border.list
	if len(list) == 0 {
		return nil
	}
	b := budgets{c.cfg.GhostBudget, c.cfg.Border.Budget(c.cfg.CheckPeriod)}
	first, _ := list.index(c.border.from)
	visits, done := min(len(list), c.cfg.CheckBudget), false
	c.border.from, c.border.leaving = 0, c.border.leaving[:0]
	for k := range visits {
		rec := list[(first+k)%len(list)]
		if rec.real.gone != staying {
			continue
		}
		c.visit(rec, &b)
		if b.spent() && c.border.from == 0 {
			c.border.from = rec.e.ID
		}
		if !rec.real.due(rec, c.border.area) {
			rec.real.listed, done = false, true
		}
	}
	if c.border.from == 0 && visits < len(list) {
		c.border.from = list[(first+visits)%len(list)].e.ID
	}
	if done {
		c.border.list = slices.DeleteFunc(list, func(rec *record) bool { return !rec.real.listed })
	}
	return c.border.leaving
}

// visit does for one real what is due.
func (c *Cell) visit(rec *record, b *budgets) {
	r := rec.real
	if !c.population.frozen && b.handovers > 0 && c.shouldLeave(r) {
		b.handovers--
		c.border.leaving = append(c.border.leaving, r)
		return
	}
	b.ghosts = c.mirror(r, c.border.area, b.ghosts)
	r.checkWatched(rec)
}
