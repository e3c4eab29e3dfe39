package space

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/argument"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/internal/hosting"
	"github.com/cellscape/cellscape/space/overload"
)

// Population is everything that a CellApp has of entities: its cells, and what departed reals leave
// behind. It takes all messages about entities and finds each entity by its id, so a message costs
// the same with one cell and with a thousand rooms. Each CellApp has one. NewPopulation makes it,
// and its NewCell makes the cells.
type Population struct {
	env         hosting.Env
	cfg         Config
	scripts     *Scripts
	cells       []*Cell // by space
	annexes     []*Cell
	byID        map[entity.ID]*record
	degradation overload.Degradation
	told        witness.Told // to clients, and of that the changes of own properties
	toldOwn     uint64
	frozen      bool
	held        bool // see Hold
	crew        *crew
	// leaving are the cells with reals on their way out. A message concerns one of a thousand
	// rooms, and only that needs a sweep.
	leaving    []*Cell
	words      unanswered
	tombstones ghost.Tombstones
	rumours    ghost.Rumours
	refusals   refusals
	handoffs   migrate.Handoffs
	departed   departed
	lastWords  flow.LastWords // of reals without a base
	orphans    []orphan
	handedOn   []handedOn
	teleports  []*Real // that have one which has not ended
	turned     turnedAway
	accepted   acceptances
	early      script.Early[*Real]
	now        time.Duration // of the newest tick or TellEarly, as its cells have it
	ahead      time.Duration // by how much the time of the cluster is ahead of now, as of the newest tick
	arrival    time.Duration // of the newest message, by the same clock as now; see Arrive
	seekUntil  time.Duration // callers who come ask until then after bases that owe them answers; see Real.hearDeaths
	past       entity.Order  // of the message at hand, if it was passed on; see Follow
	// Scratch of all calls that scripts make and take.
	arguments  argument.Buffer
	parameters script.Parameters
	parts      []byte // scratch; see Real.packed
	// lines limits the log of all cells: what happens to many entities at once is one line.
	lines logs.Limit
}

// NewPopulation returns the empty population of a CellApp. The configuration must be valid, with
// its defaults filled in.
func NewPopulation(cfg Config, scripts *Scripts, env hosting.Env) *Population {
	p := &Population{env: env, cfg: cfg, scripts: scripts, crew: newCrew(&env, scripts), byID: make(map[entity.ID]*record)}
	p.arguments.Large = func(d *property.Definition, m *property.Method, bytes int) {
		env.Counters.OversizeCalls++
		env.Stats.AddOversizeCall(d, m, bytes)
	}
	return p
}

// record is an entity on a cell: a real or a ghost, exactly one of them.
type record struct {
	e      *presence.Entity
	cell   *Cell
	real   *Real
	ghost  *ghost.Ghost
	mirror *Ghost // for the script of a ghost; nil without one
	images []*image
	node   aoi.Node
	// giver is the app that handed the real over to here, while it is here and when it has gone on.
	giver mercury.Address
	heard time.Duration // when a ghost last heard of its real
	// doubted is when a ghost goes unless its real's app is heard of before; 0 if nobody but that app
	// has said that it must. See doubt.
	doubted time.Duration
	// denied is the newest order of a real that was not made because this ghost is newer; see outdo.
	denied  entity.Order
	told    bool // what the real's app was told of clients that see the ghost
	telling bool // it was told so at any time

	seen witness.Subject // the entity as witnesses see it: a kilobyte, and so the last
}

// unsettled notes that a cell has a real on its way out.
func (p *Population) unsettled(c *Cell) {
	if !c.unsettled {
		c.unsettled = true
		p.leaving = append(p.leaving, c)
	}
}

// Settle carries out the departures that message handlers caused, on all cells. The CellApp calls
// it after each batch of messages.
func (p *Population) Settle() {
	for i := 0; i < len(p.leaving); i++ { // a callback may make more
		p.leaving[i].unsettled = false
		p.leaving[i].sweep()
	}
	clear(p.leaving)
	p.leaving = p.leaving[:0]
}

// Arrive says when the messages that follow have arrived. The CellApp calls it before each, by the
// clock of Tick: the moves of clients are timed by it, since a tick is too long for that.
func (p *Population) Arrive(now time.Duration) { p.arrival = now }

// clusterNow is the time of the cluster when the newest message arrived, or now if that is later. It
// never goes back.
func (p *Population) clusterNow() time.Duration { return max(p.now, p.arrival) + p.ahead }

// Tick runs one tick of all cells and of what belongs to none of them, in the order of the package
// doc. now is the app's clock, cluster the time of the cluster, and dt the tick period. Leases,
// backups, dwells and periods go by now; timers and controllers go by game time (see
// gametime.Clock).
func (p *Population) Tick(now, cluster, dt time.Duration) {
	if p.held {
		p.tickHeld(now, cluster)
		return
	}
	p.now, p.ahead = now, cluster-now
	p.runAnnexes(now, cluster)
	p.runEarly()
	for _, c := range p.cells {
		c.runTick(now, cluster, dt)
	}
	p.runTeleports()
	p.settleDeparted()
	p.tombstones.Expire(now)
	p.lastWords.Expire(now)
	p.rumours.Expire(now)
	p.refusals.leases.Expire(now)
	p.expireHandoffs()
	p.turned.leases.Expire(now)
	p.words.repeat(now, p.env.Out)
	if invariant.On {
		p.assert()
	}
}

// Freeze(true) stops timers, controllers and offloads, and lifts the client budgets; Freeze(false)
// lets all go on. A second Freeze(true) makes every ghost compare itself with its real.
func (p *Population) Freeze(on bool) {
	if on && p.frozen {
		for _, c := range p.cells {
			c.auditGhosts()
		}
	}
	p.frozen = on
}

// Frozen reports whether the world is frozen.
func (p *Population) Frozen() bool { return p.frozen }

func (p *Population) indexOf(space entity.SpaceID) (int, bool) {
	return slices.BinarySearchFunc(p.cells, space, func(c *Cell, id entity.SpaceID) int { return cmp.Compare(c.space, id) })
}

// cell returns the cell of a space, nil if there is none here.
func (p *Population) cell(space entity.SpaceID) *Cell {
	if i, here := p.indexOf(space); here {
		return p.cells[i]
	}
	return nil
}

func (p *Population) addCell(c *Cell) {
	i, _ := p.indexOf(c.space)
	p.cells = slices.Insert(p.cells, i, c)
}

func (p *Population) dropCell(c *Cell) {
	p.cells = slices.DeleteFunc(p.cells, func(x *Cell) bool { return x == c })
}

func (p *Population) find(id entity.ID) *record { return p.byID[id] }

// Base returns the app of an entity's base; here is false if the entity is not here.
func (p *Population) Base(id entity.ID) (base mercury.Address, here bool) {
	if rec := p.byID[id]; rec != nil {
		return rec.e.Base, true
	}
	return base, false
}

// sorted is a list of records in order of entity ids, so that all walks have the same order.
type sorted []*record

func (s sorted) index(id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(s, id, func(r *record, id entity.ID) int { return cmp.Compare(r.e.ID, id) })
}

func (s *sorted) insert(r *record) {
	if i, found := s.index(r.e.ID); !found {
		*s = slices.Insert(*s, i, r)
	}
}

// remove reports whether the record was in the list.
func (s *sorted) remove(id entity.ID) bool {
	i, found := s.index(id)
	if found {
		*s = slices.Delete(*s, i, i+1)
	}
	return found
}
