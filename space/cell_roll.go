package space

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
)

// A real believes in its haunts, and a base in its real. A broken channel may take the last
// messages with it although everyone lives on. Later messages of a busy entity reveal that, but an
// idle one sends none. So a cell calls the roll of them all: at once over a channel that replaces a
// broken one, and slowly all the time.

const (
	// rollPeriod is the time between two steps of the slow round.
	rollPeriod = time.Second

	// rollBudget is how many reals the slow round looks at in one period: on a cell of 2,560 reals,
	// each is called within 10 s. Most are deep inside their cell and cost only a glance.
	rollBudget = 256

	// reaffirmBudget is how many reals one tick looks at after a channel broke.
	reaffirmBudget = 512

	// askBudget is how many States a cell asks for in one tick because of a Roll; the others are
	// called again later. A State may be large, and an app that has just lost a channel should not
	// be flooded.
	askBudget = 64
)

// rolls is the state of a cell's roll calls.
type rolls struct {
	next   entity.ID // where the slow round goes on
	at     time.Duration
	broken []reaffirmed
	lists  []rollTo // being made; kept for their memory
	used   int
	asked  int    // States asked for in a tick
	tick   uint64 // that tick
}

// reaffirmed is an app to which a channel broke; next is the first real that it has not been told
// of again.
type reaffirmed struct {
	app  mercury.Address
	next entity.ID
}

// rollTo is a Roll that is being made.
type rollTo struct {
	to   mercury.Address
	roll ghost.Roll
}

// channelBroke makes the cell repeat what it believes of an app's ghosts and bases.
func (c *Cell) channelBroke(app mercury.Address) {
	if i := slices.IndexFunc(c.rolls.broken, func(x reaffirmed) bool { return x.app == app }); i >= 0 {
		c.rolls.broken[i].next = 0
		return
	}
	c.rolls.broken = append(c.rolls.broken, reaffirmed{app: app})
}

// callRolls repeats what may not have been heard, within the budgets.
func (c *Cell) callRolls() {
	if len(c.rolls.broken) > 0 {
		c.reaffirm()
	}
	if c.now < c.rolls.at {
		return
	}
	c.rolls.at = c.now + rollPeriod
	from, to := c.span(c.rolls.next, rollBudget)
	for _, rec := range c.reals[from:to] {
		for h := range rec.real.haunts.All() {
			c.call(h.App, rec.real)
		}
	}
	c.sendRolls()
	c.rolls.next = c.after(to)
}

// reaffirm goes on with the apps whose channels broke, one at a time.
func (c *Cell) reaffirm() {
	x := &c.rolls.broken[0]
	from, to := c.span(x.next, reaffirmBudget)
	for _, rec := range c.reals[from:to] {
		r := rec.real
		if r.gone != staying {
			continue
		}
		if r.haunts.Has(x.app) {
			c.call(x.app, r)
		}
		if r.e.Base == x.app {
			r.announce()
		}
	}
	c.sendRolls()
	if x.next = c.after(to); x.next == 0 || c.out.Dead(x.app) {
		c.rolls.broken = slices.Delete(c.rolls.broken, 0, 1)
	}
}

// span returns the indices of the n reals from an id on.
func (c *Cell) span(id entity.ID, n int) (from, to int) {
	from, _ = c.reals.index(id)
	return from, min(from+n, len(c.reals))
}

// after returns the id of the real at an index, 0 if there is none.
func (c *Cell) after(i int) entity.ID {
	if i < len(c.reals) {
		return c.reals[i].e.ID
	}
	return 0
}

// call adds a real to the Roll to an app.
func (c *Cell) call(app mercury.Address, r *Real) {
	s := &c.rolls
	x := ghost.Call{Head: ghost.Head{ID: r.e.ID, Order: r.e.Order, Sequence: r.ghostSequence}, After: r.updated}
	for i := range s.lists[:s.used] {
		if l := &s.lists[i]; l.to == app {
			if l.roll.Calls = append(l.roll.Calls, x); len(l.roll.Calls) == ghost.MaxRoll {
				c.out.Send(app, &l.roll)
				l.roll.Calls = l.roll.Calls[:0]
			}
			return
		}
	}
	if s.used == len(s.lists) {
		s.lists = append(s.lists, rollTo{})
	}
	l := &s.lists[s.used]
	s.used++
	l.to, l.roll.Space, l.roll.Calls = app, c.space, append(l.roll.Calls[:0], x)
}

// sendRolls sends the Rolls that were gathered.
func (c *Cell) sendRolls() {
	s := &c.rolls
	for i := range s.lists[:s.used] {
		if l := &s.lists[i]; len(l.roll.Calls) > 0 {
			c.out.Send(l.to, &l.roll)
		}
	}
	s.used = 0
}

// GhostRoll compares the ghosts here with those that an app says it has made here, and asks for
// missing ones. Messages arrive in order, so whatever the app sent before the Roll has come or is
// lost.
func (p *Population) GhostRoll(m *ghost.Roll, from mercury.Address) {
	c := p.lodging(m.Space)
	if c == nil {
		return // the cell has gone and takes no ghosts
	}
	c.watch.Claim(&c.work.rest)
	if c.rolls.tick != c.tick {
		c.rolls.tick, c.rolls.asked = c.tick, 0
	}
	for i := range m.Calls {
		x := &m.Calls[i]
		rec := c.population.find(x.ID)
		switch {
		case rec == nil && c.population.tombstones.Forbids(x.Head):
		case rec != nil && rec.ghost == nil && !rec.e.Order.Before(x.Order):
		case rec != nil && rec.ghost != nil && !rec.ghost.Lacks(*x):
			if rec.ghost.Real == from {
				rec.hear(c.now)
			}
		case c.rolls.asked < askBudget:
			c.rolls.asked++
			c.population.ask(from, ghost.Head{ID: x.ID})
		}
	}
}
