package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/script"
)

// A trap is a range trigger that tells a script. It is a controller, so it travels with its entity, with a
// list of whom the script was told. On each cell its trigger is laid before the range events of a tick:
//
//	AddTrap, or arrival --------> laid: the end of the tick tells all who are inside
//	    laid: a range event of somebody who is not on the list, and inside --> told, and on the list
//	    laid: the same of somebody who is on the list, and not inside -------> told, and off the list
//	    first end of a tick: whoever is on the list, and not inside ---------> the same
//
// Invariant: of each entity the script hears by turns that it has come and that it has gone, whatever
// cells both have been on. What counts is who is inside when it is told, not what the event says: an
// entity whose copy is taken away and made again within a tick has not gone.

// trapTag is the tag under which traps are registered.
const trapTag = "trap"

// maxTrapped is of how many entities at a time a trap tells. Their ids travel with the entity: in the worst
// case this many fill a controller's state. Whoever else comes is told of when one of them has gone.
const maxTrapped = 400

// Trapped is the argument of a trap's callback, a func (T) OnX(space.Trapped).
type Trapped struct {
	// ID is what AddTrap returned, and User the number that the script gave with it.
	ID   entity.CallbackID
	User int64
	// Entity has come, or has gone. Real.Find shows it while it is there.
	Entity entity.ID
	// Inside says that it has come. Otherwise it has gone: beyond the range, to where it has no ghost
	// here, or out of the world.
	Inside bool
}

// trap is the controller of AddTrap.
type trap struct {
	radius  float32
	inside  []entity.ID // as the script was told, ascending
	more    bool        // others may be inside, and there is no room on the list
	trigger aoi.Trigger // on the real's cell; 0 before it is laid there
}

// AddTrap has the script's method of that name called, a func (T) OnX(Trapped), when another entity comes
// within radius metres, and when it goes away again: a guard that is provoked, a plate that opens a door.
// It goes by x and z, each by itself, as areas of interest do, so the trap is a square. Whoever is there
// now is told of at the end of the tick, as all are from then on; who passes through within a tick is
// not. An AppealRadius counts for nothing, and it makes no difference whether clients see the entity, or
// the other. The trap tells of at most 400 entities at a time, and of others when one of them has gone. It
// travels with the entity, dies with it, and ends by Cancel. After the entity was restored the script is
// told what has changed since the backup.
//
// Errors are entity.ErrNoCallback, entity.ErrTooMany beyond MaxControllers, entity.ErrGone, and that of a
// radius that is not above 0, or beyond what Config.Border.GhostDistance allows.
func (r *Real) AddTrap(radius float32, method string, user int64) (entity.CallbackID, error) {
	if most := r.cell.cfg.farthestAoI(); !(radius > 0 && radius <= most) {
		return 0, fmt.Errorf("space: a trap of %v m: take more than 0 and at most %v, or raise Border.GhostDistance", radius, most)
	}
	if r.gone != staying {
		return 0, entity.ErrGone
	}
	if err := script.CheckCallback[Trapped](r.kind, method); err != nil {
		return 0, err
	}
	id, err := r.control(&trap{radius: radius}, trapTag, method, user)
	if err == nil {
		r.cell.traps.unlaid = append(r.cell.traps.unlaid, r)
	}
	return id, err
}

// Step implements Controller.
func (t *trap) Step(*Real, time.Duration) (done bool) { return false }

// layTraps lays those that have been added, or have come with their reals. It does so before the range
// events, and not in a step: a world that is frozen makes none, and reals move between its cells.
func (c *Cell) layTraps() {
	for _, r := range c.traps.unlaid {
		rec := c.population.find(r.e.ID)
		if r.gone != staying || rec == nil || rec.real != r {
			continue
		}
		for i := range r.controllers.list {
			if t, ok := r.controllers.list[i].Controller.(*trap); ok && t.trigger == 0 {
				t.lay(r, rec.node)
			}
		}
	}
	clear(c.traps.unlaid)
	c.traps.unlaid = c.traps.unlaid[:0]
}

func (t *trap) lay(r *Real, at aoi.Node) {
	c := r.cell
	t.trigger = c.ranges.AddProximity(at, t.radius, t.radius)
	if c.traps.laid == nil {
		c.traps.laid = make(map[aoi.Trigger]*Real)
	}
	c.traps.laid[t.trigger] = r
	c.traps.fresh = append(c.traps.fresh, sprung{r, t.trigger, 0})
}

// lift takes the trap off its cell.
func (t *trap) lift(c *Cell) {
	if t.trigger == 0 {
		return
	}
	delete(c.traps.laid, t.trigger)
	if c.ranges.HasTrigger(t.trigger) {
		c.ranges.RemoveTrigger(t.trigger)
	}
	t.trigger, t.more = 0, false
}

// liftTraps takes all of a real off the cell, which it leaves.
func (r *Real) liftTraps() {
	for i := range r.controllers.list {
		if t, ok := r.controllers.list[i].Controller.(*trap); ok {
			t.lift(r.cell)
		}
	}
}

// traps are those of the reals of a cell.
type traps struct {
	unlaid []*Real // some of their traps are
	laid   map[aoi.Trigger]*Real
	fresh  []sprung // laid since the last end of a tick
	sprung []sprung // by the range events of this tick
}

// sprung is a trap by which an entity has come or gone.
type sprung struct {
	real *Real
	of   aoi.Trigger
	id   entity.ID
}

// springTraps tells the scripts, when the range events of a tick are known.
func (c *Cell) springTraps() {
	for i := 0; i < len(c.traps.fresh); i++ {
		s := c.traps.fresh[i]
		if x := s.real.laid(s.of); x != nil {
			for _, id := range slices.Clone(x.Controller.(*trap).inside) {
				s.real.spring(s.of, id)
			}
		}
	}
	for i := 0; i < len(c.traps.sprung); i++ {
		s := c.traps.sprung[i]
		s.real.spring(s.of, s.id)
	}
	clear(c.traps.sprung)
	clear(c.traps.fresh)
	c.traps.sprung, c.traps.fresh = c.traps.sprung[:0], c.traps.fresh[:0]
}

// laid returns the controller whose trap that is; nil if it was lifted.
func (r *Real) laid(of aoi.Trigger) *controller {
	i := slices.IndexFunc(r.controllers.list, func(x controller) bool { t, ok := x.Controller.(*trap); return ok && t.trigger == of })
	if i < 0 || r.gone != staying || !r.cell.ranges.HasTrigger(of) {
		return nil
	}
	return &r.controllers.list[i]
}

// spring tells the script that an entity has come or gone, if it has.
func (r *Real) spring(of aoi.Trigger, id entity.ID) {
	x := r.laid(of)
	if x == nil {
		return
	}
	t := x.Controller.(*trap)
	rec := r.cell.population.find(id)
	in := rec != nil && rec.cell == r.cell && r.cell.ranges.Contains(of, rec.node)
	at, was := slices.BinarySearch(t.inside, id)
	switch {
	case in == was:
		return
	case was:
		t.inside = slices.Delete(t.inside, at, at+1)
	case len(t.inside) == maxTrapped:
		t.more = true
		return
	default:
		t.inside = slices.Insert(t.inside, at, id)
	}
	callBackWith(r, x.method, Trapped{ID: x.id, User: x.user, Entity: id, Inside: in})
	if was && t.more {
		t.more = false
		for key := range r.cell.ranges.Inside(of) {
			if t.more || t.trigger != of { // full again, or the script has ended it
				return
			}
			r.spring(of, entity.ID(key))
		}
	}
}

// AppendState implements Controller.
func (t *trap) AppendState(b []byte) []byte {
	b = codec.AppendF32(b, t.radius)
	last := entity.ID(0)
	for _, id := range t.inside {
		b = binary.AppendUvarint(b, uint64(id-last))
		last = id
	}
	return b
}

// ReadState implements Controller.
func (t *trap) ReadState(b []byte) error {
	r := codec.NewReader(b)
	t.radius, t.inside = r.F32(), nil
	for last := entity.ID(0); r.Len() > 0; {
		id := last + entity.ID(r.Uvarint())
		if id <= last || !id.Valid() || len(t.inside) == maxTrapped {
			r.Fail(errors.New("space: a trap with an impossible list"))
			break
		}
		t.inside, last = append(t.inside, id), id
	}
	if !(t.radius > 0) || !aoi.ValidRange(t.radius, t.radius) {
		r.Fail(errors.New("space: a trap with an impossible radius"))
	}
	return r.Close()
}
