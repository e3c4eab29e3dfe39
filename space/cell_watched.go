package space

import (
	"time"

	"github.com/cellscape/cellscape/ghost"
)

// A real is witnessed while a client has it in its area of interest, on this cell or, as a ghost, on
// another. A ghost that is seen says so to the real's app at once:
//
//	watcher --Enter--> ghost --Watched on--> real: OnWitnessed(true)
//	watcher --Leave--> ghost, at the next check --Watched off--> real, UnwitnessedAfter later: OnWitnessed(false)
//
// What the haunts have said travels with the real. A ghost says it again when its real has moved on,
// since its word may have come to the old app after the real had left.

// UnwitnessedAfter is how long nobody must have seen a real before its script is told so: when a player
// crosses a line, the watching ends on one cell a moment before it begins on the next.
const UnwitnessedAfter = 5 * time.Second

// IsWitnessed reports whether any client sees the entity, or has within UnwitnessedAfter. The entity's
// own client does not count.
func (r *Real) IsWitnessed() bool { return r.witnessed }

// watched reports whether any client sees the real now, as far as is known here.
func (r *Real) watched(rec *record) bool { return rec.watched() || r.haunts.Watched() }

// noticeWatched notes who is seen and is not known to be. Scripts hear of it later: in the midst of
// range events they must not change what is in range.
func (c *Cell) noticeWatched(rec *record) {
	known := rec.told
	if rec.real != nil {
		known = rec.real.witnessed
	}
	if !known && rec.watched() {
		c.noticed = append(c.noticed, rec)
	}
}

// tellWatched tells of who was noticed.
func (c *Cell) tellWatched() {
	for i := 0; i < len(c.noticed); i++ { // a callback may make more
		rec := c.noticed[i]
		switch {
		case c.population.find(rec.e.ID) != rec || rec.cell != c: // it has left since
		case rec.real == nil:
			c.reportWatched(rec)
		case rec.real.gone != staying:
		case rec.real.watched(rec):
			rec.real.setWitnessed(true)
		case rec.real.unwatchedFor() >= UnwitnessedAfter:
			rec.real.setWitnessed(false)
		}
	}
	clear(c.noticed)
	c.noticed = c.noticed[:0]
}

// checkWatched finds out whether nobody sees a real any more, or somebody does of whom no range event
// tells: a ghost that was seen here can become the real before its word has come to where the real was.
// The script hears of it at the end of the tick.
func (r *Real) checkWatched(rec *record) {
	switch watched := r.watched(rec); {
	case watched && !r.witnessed:
		r.cell.noticed = append(r.cell.noticed, rec)
	case watched || !r.witnessed:
		r.unwatched = 0
	case r.unwatched == 0:
		r.unwatched = r.cell.now
	case r.unwatchedFor() >= UnwitnessedAfter:
		r.cell.noticed = append(r.cell.noticed, rec)
	}
}

// unwatchedFor is for how long nobody has seen the real, as far as checks have found.
func (r *Real) unwatchedFor() time.Duration {
	if r.unwatched == 0 {
		return 0
	}
	return r.cell.now - r.unwatched
}

func (r *Real) setWitnessed(on bool) {
	if r.unwatched = 0; r.witnessed == on {
		return
	}
	r.witnessed = on
	callback(r, "OnWitnessed", func(s WitnessWatcher) { s.OnWitnessed(on) })
}

// reportWatched tells the app of a ghost's real what has changed.
func (c *Cell) reportWatched(rec *record) {
	if on := rec.watched(); on != rec.told {
		rec.told, rec.telling = on, true
		c.sendWatched(rec)
	}
}

func (c *Cell) sendWatched(rec *record) {
	c.out.Send(rec.ghost.Real, &ghost.Watched{Head: rec.ghost.Head(), On: rec.told})
}
