package space

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// Message is a body that can append itself; see internal/wire for the ids.
type Message interface{ Append(b []byte) []byte }

// Outbox is where a cell's messages go. The CellApp implements it.
type Outbox interface {
	// Send sends reliably, in order for each app. It does not keep m, which the
	// cell uses again.
	Send(to mercury.Address, m Message)
	// ClientPacket passes a Positions packet to a proxy, unreliably.
	ClientPacket(base mercury.Address, id entity.ID, order entity.Order, session uint32, packet []byte)
	// SetSpaceData asks the manager to set an entry.
	SetSpaceData(space entity.SpaceID, key uint16, value []byte)
	// NewID issues an entity id.
	NewID() (entity.ID, error)
	// Dead reports whether an app was declared dead.
	Dead(app mercury.Address) bool
}

// Counters count what a cell did, from the start of its CellApp.
type Counters struct {
	ClientCallsHandled      uint64
	FlowSent, FlowHandled   uint64
	Migrations              uint64
	GhostsDiffer            uint64
	Refused                 uint64 // calls and messages refused
	Errors                  uint64 // what should not happen
	StaleGhosts, GhostsMade uint64
}

// Env is what a CellApp gives its cells.
type Env struct {
	Self     mercury.Address
	Config   Config // defaults filled in, valid
	Scripts  *Scripts
	Registry *Registry
	Out      Outbox
	Counters *Counters
	Chance   *rand.Rand
	Log      *slog.Logger
	// Clock measures work; nil measures nothing.
	Clock func() time.Duration
	// Stats counts property traffic; nil counts nothing.
	Stats *property.Stats
	// Compressor packs what its cells send; one for all cells of a CellApp, since it
	// is large. nil sends everything as it is.
	Compressor *property.Compressor
}

// Cell is the part of a space that one CellApp runs: its reals, the ghosts of its
// neighbours' reals, and the tick that joins all the machinery.
type Cell struct {
	cfg      Config
	self     mercury.Address
	scripts  *Scripts
	registry *Registry
	out      Outbox
	count    *Counters
	chance   *rand.Rand
	log      *slog.Logger
	clock    func() time.Duration
	stats    *property.Stats

	compressor *property.Compressor

	space entity.SpaceID
	id    bsp.CellID
	tree  *bsp.Tree
	data  spaceData

	tick uint64
	now  time.Duration // the app's clock
	game time.Duration // game time

	reals    sorted
	ghosts   sorted
	ranges   aoi.List
	triggers map[aoi.Trigger]*Real

	departing  []*Real
	departed   []departedFlow
	handoffs   migrate.Handoffs
	tombstones ghost.Tombstones
	orphans    []orphan
	handedOn   []handedOn
	words      []word
	loopback   []entity.Message // flow messages between reals of this cell

	trimming  trimming
	frozen    bool
	checkAt   time.Duration
	meter     load.Meter
	meteredAt time.Duration
	profiles  load.Builder
	samples   []load.Sample

	// Used again for each message or walk: nobody keeps what Outbox.Send is given.
	scratch []byte
	update  ghost.Update
	message entity.Message
	walk    []*record
}

// NewCell makes a cell of a space on this CellApp. tree is the geometry it was
// added with, and has the cell as a leaf.
func NewCell(env Env, space entity.SpaceID, id bsp.CellID, tree *bsp.Tree, data []DataEntry) *Cell {
	c := &Cell{
		cfg: env.Config, self: env.Self, scripts: env.Scripts, registry: env.Registry,
		out: env.Out, count: env.Counters, chance: env.Chance, log: env.Log, clock: env.Clock, stats: env.Stats,
		compressor: env.Compressor,
		space:      space, id: id, tree: tree, triggers: make(map[aoi.Trigger]*Real),
	}
	c.data.load(data)
	return c
}

// Space is the id of the space.
func (c *Cell) Space() entity.SpaceID { return c.space }

// ID is the id of the cell.
func (c *Cell) ID() bsp.CellID { return c.id }

// Version is the version of the geometry that the cell has.
func (c *Cell) Version() bsp.Version { return c.tree.Version() }

// Tree is the geometry that the cell has; it must not be changed.
func (c *Cell) Tree() *bsp.Tree { return c.tree }

// SetTree gives the cell a new version of its space's geometry; an older one is
// ignored. The offload and ghost check runs at the next tick.
func (c *Cell) SetTree(t *bsp.Tree) {
	if c.tree.Version().Less(t.Version()) {
		c.tree = t
		c.checkAt = 0
	}
}

// Become gives the cell another leaf: the manager took the old one away and gave
// this CellApp a new one of the same space, while reals of the old are still here.
// It reports false, and changes nothing, if t is older than what the cell has or
// does not say so.
func (c *Cell) Become(id bsp.CellID, t *bsp.Tree) bool {
	if id == c.id {
		c.SetTree(t)
		return true
	}
	_, _, old := t.Leaf(c.id)
	if _, _, ok := t.Leaf(id); !ok || old || t.Version().Less(c.tree.Version()) {
		return false
	}
	c.id, c.tree, c.checkAt = id, t, 0
	return true
}

// SetData takes a numbered change of the space's data.
func (c *Cell) SetData(e DataEntry) { c.data.set(e) }

// LoadData takes all entries that a manager has; those that are known are ignored.
func (c *Cell) LoadData(entries []DataEntry) { c.data.load(entries) }

// Freeze stops timers, controllers and offloads and lifts the client budgets.
func (c *Cell) Freeze(on bool) { c.frozen = on }

// Reals is the number of reals; Ghosts that of ghosts.
func (c *Cell) Reals() int { return len(c.reals) }

// Ghosts is the number of ghosts.
func (c *Cell) Ghosts() int { return len(c.ghosts) }

// Handoffs is the number of handoffs in flight from here.
func (c *Cell) Handoffs() int { return c.handoffs.Len() }

// PropertyStats counts the property traffic of the cell, with that of the other cells
// of its CellApp; nil if it is not counted.
func (c *Cell) PropertyStats() *property.Stats { return c.stats }

// Tick runs one tick: see the package doc for its order. now is the app's clock,
// game the game time, dt the tick period.
func (c *Cell) Tick(now, game, dt time.Duration) {
	var begun time.Duration
	if c.clock != nil {
		begun = c.clock()
	}
	c.tick++
	c.now, c.game = now, game
	c.runLoopback()
	c.sweep()
	if !c.frozen {
		c.runEntities(dt)
	}
	c.sweep()
	c.tellGhosts()
	var migration time.Duration
	if now >= c.checkAt {
		c.checkAt = now + c.cfg.CheckPeriod
		var checked time.Duration
		if c.clock != nil {
			checked = c.clock()
		}
		c.check()
		c.sweep()
		if c.clock != nil {
			migration = c.clock() - checked
		}
	}
	c.deliverRangeEvents()
	c.updateWitnesses()
	c.trim()
	c.settleFlows()
	c.backUp()
	c.expire()
	if c.clock != nil {
		// Migration is left out: a moved line must not raise the load it lowers.
		c.meter.Add(c.clock() - begun - migration)
		if c.tick == 1 {
			// The meter takes its first sample whole. Spread over all the time before
			// the cell was made, it would show an empty one for seconds.
			c.meteredAt = now - dt
		}
		c.meter.Tick(now-c.meteredAt, 0)
		c.meteredAt = now
	}
}

// runEntities runs timers and controllers of all reals. A callback may make and
// destroy entities: the walk is over a copy.
func (c *Cell) runEntities(dt time.Duration) {
	c.walk = append(c.walk[:0], c.reals...)
	for _, rec := range c.walk {
		r := rec.real
		if r == nil || r.gone != staying {
			continue
		}
		r.runControllers(dt)
		r.runTimers()
	}
	clear(c.walk) // what leaves the cell is not held on to
}

// sweep acts on what callbacks decided: reals that were destroyed, or lost.
func (c *Cell) sweep() {
	for i := 0; i < len(c.departing); i++ { // OnDestroy may add to it
		r := c.departing[i]
		switch r.gone {
		case destroyed:
			c.destroy(r)
		case lost:
			c.lose(r)
		case refused:
			c.drop(r)
		}
	}
	clear(c.departing)
	c.departing = c.departing[:0]
}

// Settle acts on departures that message handlers caused; the CellApp calls it
// after each batch of messages.
func (c *Cell) Settle() { c.sweep() }

// moved tells the range list that an entity has moved.
func (c *Cell) moved(e *entity.Entity) {
	if rec := c.registry.find(e.ID); rec != nil {
		c.ranges.Move(rec.node, e.Position.X, e.Position.Z)
	}
}

// Load is the cell's load, in nanoseconds of work per second, and where it lies.
func (c *Cell) Load() (total int64, profile load.Profile) {
	perReal := c.cfg.ArtificialLoad
	switch {
	case perReal > 0:
		total = perReal*int64(len(c.reals)) + perReal/10*int64(len(c.ghosts))
	default:
		total = c.meter.Load()
		perReal = load.Share(total, 0, len(c.reals))
	}
	c.samples = c.samples[:0]
	for _, rec := range c.reals {
		p := rec.e.Position
		c.samples = append(c.samples, load.Sample{X: p.X, Z: p.Z, Load: perReal})
	}
	return total, c.profiles.Build(c.samples)
}

// Spawn makes an entity that has only a cell part; it dies with its CellApp. init,
// if not nil, sets properties before the script sees them.
func (c *Cell) Spawn(typeName string, position, direction property.Vector3, init func(*property.Values)) (entity.ID, error) {
	d := c.scripts.schema.Type(typeName)
	if d == nil {
		return 0, fmt.Errorf("space: no entity type %q", typeName)
	}
	if !d.HasCell {
		return 0, fmt.Errorf("space: %s has no cell part", typeName)
	}
	if !entity.Finite(position) || !entity.Finite(direction) {
		return 0, errors.New("space: position is not finite or out of range")
	}
	id, err := c.out.NewID()
	if err != nil {
		return 0, err
	}
	e := &entity.Entity{
		ID: id, Def: d, Space: c.space, Order: entity.Order{Incarnation: 1},
		Position: position, Direction: direction, MovedTick: c.tick,
		Props: property.NewValues(d, property.CellSide, nil), History: property.NewHistory(d),
	}
	if init != nil {
		init(e.Props)
	}
	r := c.makeReal(e, nil)
	callback(r, "OnCreated", func(s Creator) { s.OnCreated() })
	return id, nil
}

// Views yields every entity on the cell in id order, reals and ghosts alike.
func (c *Cell) Views() iter.Seq[View] {
	return func(yield func(View) bool) {
		i, j := 0, 0
		for i < len(c.reals) || j < len(c.ghosts) {
			var rec *record
			if j == len(c.ghosts) || i < len(c.reals) && c.reals[i].e.ID < c.ghosts[j].e.ID {
				rec = c.reals[i]
				i++
			} else {
				rec = c.ghosts[j]
				j++
			}
			if !yield(View{rec}) {
				return
			}
		}
	}
}
