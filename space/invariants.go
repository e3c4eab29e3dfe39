package space

import "github.com/cellscape/cellscape/internal/invariant"

// assert checks, at the end of a tick, that each entity of the cell is either a real or a ghost,
// that its CellApp finds it here by its id, and that the range list has it.
func (c *Cell) assert() {
	for i, rec := range c.reals {
		c.assertRecord(rec, c.reals, i)
		c.assertReal(rec)
	}
	for i, rec := range c.ghosts {
		c.assertRecord(rec, c.ghosts, i)
		c.assertGhost(rec)
	}
	c.assertBorder()
	if len(c.near) != len(c.reals) {
		invariant.Broken("%d of %d reals are served", len(c.near), len(c.reals))
	}
	n := len(c.reals) + len(c.ghosts)
	for i := range c.gates.ends {
		for _, img := range c.gates.ends[i].images {
			if img.rec != nil {
				n++
			}
		}
	}
	if c.ranges.Len() != n {
		invariant.Broken("space: %d entities on cell %v, %d in its index of places", n, c.id, c.ranges.Len())
	}
}

// assertBorder checks that the next check visits everyone for whom something is due.
func (c *Cell) assertBorder() {
	listed := 0
	for _, rec := range c.reals {
		if rec.real.listed {
			listed++
		} else if rec.real.due(rec, c.border.area) && !rec.noted() && rec.real.gone == staying {
			invariant.Broken("space: no check visits %v", rec.e.ID)
		}
	}
	if listed != len(c.border.list) {
		invariant.Broken("space: checks visit %d reals, %d are to be visited", len(c.border.list), listed)
	}
}

func (c *Cell) assertRecord(rec *record, list sorted, i int) {
	id := rec.e.ID
	switch {
	case (rec.real == nil) == (rec.ghost == nil):
		invariant.Broken("space: %v is real: %v, ghost: %v", id, rec.real != nil, rec.ghost != nil)
	case rec.cell != c || c.population.byID[id] != rec:
		invariant.Broken("space: %v is on cell %v, its CellApp finds it elsewhere", id, c.id)
	case i > 0 && list[i-1].e.ID >= id:
		invariant.Broken("space: %v stands after %v", id, list[i-1].e.ID)
	case rec.e.Space != c.space:
		invariant.Broken("space: %v of %v is on a cell of %v", id, rec.e.Space, c.space)
	}
}

func (c *Cell) assertReal(rec *record) {
	r := rec.real
	switch {
	case r == nil:
		invariant.Broken("space: the ghost %v is among the reals", rec.e.ID)
	case r.e != rec.e || r.cell != c || rec.mirror != nil:
		invariant.Broken("space: the real %v is another than its record", rec.e.ID)
	case r.haunts.Has(c.self):
		invariant.Broken("space: the real %v haunts its own CellApp", rec.e.ID)
	case r.gone == handedOver:
		invariant.Broken("space: %v was handed over and is still here", rec.e.ID)
	}
	for i := range r.flows {
		p := &r.flows[i]
		if i > 0 && r.flows[i-1].compare(p.id, p.side) >= 0 {
			invariant.Broken("space: %v has two flows with %v", rec.e.ID, p.id)
		}
		if c.now < r.quietUntil && !r.own(p) && (p.out.Kept() > 0 || p.in.Owed() || p.prospect.Nothing && r.idle(p)) {
			invariant.Broken("space: the flow of %v with %v has something to do, and is not looked at", rec.e.ID, p.id)
		}
	}
}

func (c *Cell) assertGhost(rec *record) {
	switch g := rec.ghost; {
	case g == nil:
		invariant.Broken("space: the real %v is among the ghosts", rec.e.ID)
	case g.Entity != rec.e:
		invariant.Broken("space: the ghost %v is another than its record", rec.e.ID)
	case rec.told && !rec.watched() && !rec.noted():
		invariant.Broken("space: the app of %v is not told that nobody sees it", rec.e.ID)
	case g.Real == c.self:
		invariant.Broken("space: the ghost %v is of a real on its own CellApp", rec.e.ID)
	}
}

// assert checks, at the end of a tick, that each entity in the CellApp's index is on the cell that
// it names. So each id has at most one real.
func (p *Population) assert() {
	// order does not show: a fault stops the program
	for id, rec := range p.byID {
		list := rec.cell.ghosts
		if rec.real != nil {
			list = rec.cell.reals
		}
		if i, found := list.index(id); !found || list[i] != rec {
			invariant.Broken("space: %v is not on its cell %v", id, rec.cell.id)
		}
	}
}
