package space

import "github.com/cellscape/cellscape/entity"

// trimTicks is the number of ticks in which a cell asks all its witnesses what they still need of
// the histories, and then the number in which it trims these. With 2000 witnesses of 200 entities
// each, a tick looks at 8000 entries, which takes a fraction of a millisecond; all at once would be
// a pause that players feel. What has happened since the sweep began is kept. At ten ticks a second
// these are five seconds, in which a watcher from another cell finds what it was not told there.
const trimTicks = 50

// trimming is how far the cell's sweep has come. The sweep asks the reals' witnesses, trims the
// reals' histories, trims the ghosts' histories, and begins again. So the watchers here decide what
// each copy of an entity keeps.
//
//	trim(e), floor = last ..... ask(w), floor = min(floor, told) ..... trim(e, floor) ...
//
// A watcher that is first told of an entity during the sweep knows more than the floor. One that
// comes from elsewhere with what it knows lowers the floor itself.
type trimming struct {
	step  trimStep
	ticks int       // of this step
	at    entity.ID // the last entity visited in this step
}

type trimStep uint8

const (
	askWitnesses trimStep = iota
	trimReals
	trimGhosts
	trimSteps
)

// trim goes on with the sweep. A step takes its full time even if there is little to visit.
// Otherwise, in a cell of two entities, the latest changes would be gone before a watcher from
// another cell could have heard of them.
func (c *Cell) trim() {
	c.trimming.ticks++
	list := c.reals
	if c.trimming.step == trimGhosts {
		list = c.ghosts
	}
	visits, looks := len(list)/trimTicks+1, len(list)
	if c.trimming.step == askWitnesses {
		// Only witnesses cost time. Few of the reals may be players, and those may stand in a row.
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
		if c.trimming.step == askWitnesses {
			c.trimImages()
		}
		c.trimming = trimming{step: (c.trimming.step + 1) % trimSteps}
	}
}

// trimVisit does the step for one entity if there is anything to do.
func (c *Cell) trimVisit(rec *record) bool {
	if c.trimming.step != askWitnesses {
		rec.e.History.Trim(rec.floor())
		rec.e.Floor = rec.e.History.Last()
		return true
	}
	if w := rec.real.witness; w != nil {
		w.HoldHistory()
		return true
	}
	return false
}
