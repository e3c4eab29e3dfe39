package space

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/invariant"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
	"github.com/cellscape/cellscape/space/cluster/status"
	"github.com/cellscape/cellscape/space/internal/hosting"
)

// Cell is the part of a space that one CellApp runs: its reals, the ghosts of its neighbours'
// reals, and its tick.
type Cell struct {
	cfg        *Config // of the population, which may change
	self       mercury.Address
	scripts    *Scripts
	population *Population
	out        hosting.Outbox
	count      *status.Counters
	chance     *rand.Rand
	log        *slog.Logger
	watch      *load.Stopwatch
	stats      *property.Stats

	compressor *property.Compressor

	space entity.SpaceID
	id    bsp.CellID
	tree  *bsp.Tree
	data  spaceData

	tick uint64
	now  time.Duration // the app's clock
	game time.Duration // game time, which pace keeps
	pace pace

	reals     sorted
	near      neighbours // the reals
	riders    sorted     // those of them that are on vehicles
	due       []*Real    // scratch: those whose clients are told something
	rooms     []baseRoom // scratch; see clientRoom
	ghosts    sorted
	ranges    aoi.Index
	triggers  map[aoi.Trigger]*Real
	sightings []sighting // scratch of deliverRangeEvents
	traps     traps
	adders    adders
	border    border
	gates     gates
	annex     bool // see there
	yielded   bool // the annex has the ghosts
	unseen    witness.Unseen

	departing []*Real
	hurried   []*Real // to tell their haunts of before the tick
	refusals  []refusal
	failed    script.Failures[*Real]
	loopback  []flow.Message // flow messages between reals of this cell

	unsettled bool // it is in Population.leaving
	trimming  trimming
	rolls     rolls
	based     int  // reals that have a base
	hadBased  bool // there was one
	behind    bool // haunts may be; see catchUp
	ended     bool // the space has ended
	loaded    bsp.Rect
	areaOf    *bsp.Tree // for which the area hook was last considered
	areaTold  bsp.Rect
	// unloadable is true once it was logged that nobody loads the geometry.
	unloadable bool
	local      any    // the game's; see SetLocal
	sealed     bool   // no entity is made here; see cell_life.go
	tape       *tape  // nil while the space is not recorded
	tapeHeard  uint64 // the newest number of the space's data when hearTape last looked
	tapes      uint64 // how often a tape has begun
	first      bool   // the hook of the first cell has yet to be called
	fromStore  bool
	lostHeard  uint64 // the newest number of the space's data when inherit last looked
	checkAt    time.Duration
	work       measured
	gained     int64 // see Cost

	// These are used again for each message or walk. Nobody keeps what Outbox.Send is given.
	scratch []byte
	update  ghost.Update
	message flow.Message
	walk    []*record
	noticed []*record   // that somebody sees now; see tellWatched
	charged []entity.ID // entities here that the clients of others move; see giveCharges
}

// Space is the id of the space.
func (c *Cell) Space() entity.SpaceID { return c.space }

// ID is the id of the cell.
func (c *Cell) ID() bsp.CellID { return c.id }

// Reals is the number of reals.
func (c *Cell) Reals() int { return len(c.reals) }

// runTick runs one tick; see Population.Tick.
func (c *Cell) runTick(now, cluster, dt time.Duration) {
	c.watch.Enter(&c.work.rest)
	c.tick++
	c.now, c.game = now, c.pace.advance(cluster)
	c.runLoopback()
	c.sweep()
	c.endReals()
	if !c.population.frozen {
		c.tellArea()
		c.beginSpace()
		c.inherit()
		c.runEntities(gametime.AtRate(dt, c.pace.rate))
	}
	c.carry()
	c.sweep()
	c.tellGhosts()
	if now >= c.checkAt {
		c.checkAt = now + c.cfg.CheckPeriod
		c.watch.Enter(nil) // moving a line must not raise the load that it is to lower
		c.check()
		c.askForApps()
		c.sweep()
		c.yieldGhosts()
		c.watch.Leave()
	}
	c.showThrough()
	c.deliverRangeEvents()
	c.updateWitnesses(dt)
	c.runTape()
	c.trim()
	c.settleFlows()
	c.backUp()
	c.callRolls()
	c.expire()
	c.watch.Leave()
	c.measure(dt)
	if invariant.On {
		c.assert()
	}
}

// runEntities runs timers and controllers of all reals. It walks a copy, because callbacks may make
// and destroy entities.
func (c *Cell) runEntities(dt time.Duration) {
	c.walk = append(c.walk[:0], c.reals...)
	c.watch.Enter(&c.work.rest)
	shared := c.population.sharedLast()
	for _, rec := range c.walk {
		r := rec.real
		if r == nil || r.gone != staying {
			continue
		}
		c.watch.Switch(c.work.walkTurn(r))
		if r.sharedHeard < shared {
			r.hearShared()
		}
		if r.dataHeard < c.data.last {
			r.hearData()
		}
		r.takeSeat()
		r.runControllers(dt)
		r.timers.Run(r.Now(), r.callBack) // arriving may have added some
		r.timeOut()
		r.runSeek()
	}
	c.watch.Leave()
	c.work.shareWalks()
	clear(c.walk) // what leaves the cell is not held on to
}

// sweep removes the reals that callbacks have destroyed or lost.
func (c *Cell) sweep() {
	if len(c.departing) == 0 {
		return
	}
	// The enclosing scope may belong to a real that goes here. Its work so far is counted before
	// its meter is given up.
	c.watch.Enter(&c.work.rest)
	defer c.watch.Leave()
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

// moved tells the index of places that an entity has moved.
func (c *Cell) moved(e *presence.Entity) {
	if rec := c.population.find(e.ID); rec != nil {
		c.ranges.Move(rec.node, e.Position.X, e.Position.Z)
		c.listMoved(rec)
	}
}

// Spawn makes an entity that has only a cell part and dies with its CellApp. init, if not nil, sets
// properties before the script sees them. ErrFull is one of the errors; see SetMaxEntities.
func (c *Cell) Spawn(typeName string, position, direction property.Vector3, init func(*property.Values)) (entity.ID, error) {
	if c.ended {
		return 0, ErrEnded
	}
	d := c.scripts.Schema().Type(typeName)
	if d == nil {
		return 0, fmt.Errorf("space: no entity type %q", typeName)
	}
	if !d.HasCell {
		return 0, fmt.Errorf("space: %s has no cell part", typeName)
	}
	if !property.Finite(position) || !property.Finite(direction) {
		return 0, errors.New("space: position is not finite or out of range")
	}
	props := property.NewValues(d, property.CellSide, nil)
	if init != nil {
		init(props)
	}
	return c.spawn(d, position, direction, props)
}

// spawn is Spawn of what makes sense.
func (c *Cell) spawn(d *property.Definition, position, direction property.Vector3, props *property.Values) (entity.ID, error) {
	if c.sealed {
		return 0, errSealed
	}
	if c.full(0) {
		return 0, ErrFull
	}
	id, err := c.out.NewID()
	if err != nil {
		return 0, err
	}
	e := &presence.Entity{
		ID: id, Def: d, Space: c.space, Order: entity.Order{Incarnation: 1},
		MovedTick: c.tick, Props: props, History: property.NewHistory(d),
	}
	e.Put(position, direction, 0)
	r := c.makeReal(e, nil)
	r.traceMade("created")
	callback(r, "OnCreated", func(s Creator) { s.OnCreated() })
	c.made(r)
	return id, nil
}
