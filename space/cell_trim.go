package space

import "github.com/cellscape/cellscape/entity"

// trimTicks is over how many ticks a cell asks all its witnesses what they still
// need of the histories, and then over how many it trims these. With 2000 witnesses
// of 200 entities each, 8000 entries a tick are looked at, a fraction of a
// millisecond; all at once they would be a pause that players feel. And what has
// happened since the sweep began is kept: five seconds at ten ticks, in which a
// watcher that comes from another cell finds what it was not told there.
const trimTicks = 50

// trimming is how far the cell's sweep has come. It goes over the reals to ask their
// witnesses, over the reals to trim their histories, over the ghosts to trim theirs,
// and begins again. Each copy of an entity is so trimmed by who watches it here.
//
//	trim(e), floor = last ..... ask(w), floor = min(floor, told) ..... trim(e, floor) ...
//
// A watcher that is told of an entity for the first time in between has been told more
// than the floor; one that comes with what it was told elsewhere lowers the floor itself.
type trimming struct {
	step  trimStep
	ticks int       // of this step
	at    entity.ID // the last one that was visited in this step
}

type trimStep uint8

const (
	askWitnesses trimStep = iota
	trimReals
	trimGhosts
	trimSteps
)

// trim goes on with the sweep. A step takes its time even if there is little to visit:
// in a cell of two entities, what happened a moment ago would be gone before who comes
// from another cell can have heard of it.
func (c *Cell) trim() {
	c.trimming.ticks++
	list := c.reals
	if c.trimming.step == trimGhosts {
		list = c.ghosts
	}
	visits, looks := len(list)/trimTicks+1, len(list)
	if c.trimming.step == askWitnesses {
		// Few of the reals may be players, and in a row: only witnesses cost time.
		visits, looks = len(c.triggers)/trimTicks+1, 4*(len(list)/trimTicks+1)
	}
	i, _ := list.index(c.trimming.at + 1)
	for ; i < len(list) && visits > 0 && looks > 0; i++ {
		if c.trimVisit(list[i]) {
			visits--
		}
		looks--
		c.trimming.at = list[i].e.ID
	}
	if i >= len(list) && c.trimming.ticks >= trimTicks {
		c.trimming = trimming{step: (c.trimming.step + 1) % trimSteps}
	}
}

// trimVisit does the step for one entity, if there is anything to do.
func (c *Cell) trimVisit(rec *record) bool {
	if c.trimming.step != askWitnesses {
		rec.e.History.Trim(rec.e.Floor)
		rec.e.Floor = rec.e.History.Last()
		return true
	}
	if w := rec.real.witness; w != nil {
		w.HoldHistory()
		return true
	}
	return false
}
