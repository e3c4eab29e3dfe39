package space

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
)

// Cost is what a cell costs and where that lies, in nanoseconds of work per second.
type Cost struct {
	// Total is that of its reals and of the cell's own work, without that of migration.
	Total int64
	// Gained is the load of the reals that have come to the cell, by whatever way, less that of
	// those that left, since it was made. Each counts as it did in Total at that moment, a new one
	// as nothing unless Config.ArtificialLoad is set. So it changes when Total does, and Total less
	// Gained moves only by what work itself changes and, with an artificial load, by ghosts. A
	// number of reals could not say that: those near a line at the thin end of a crowd may cost
	// half of the mean, and a balance that counts them answers its own step with a larger one back.
	//
	// Only differences count: what came with little and grew here leaves with much, so it is below
	// zero at times.
	Gained int64
	// Profile and Edges spread the cell's own work evenly over its reals.
	Profile load.Profile
	Edges   load.Edges
}

// TypeLoad is what the reals of one entity type cost, in nanoseconds of work per second.
type TypeLoad struct {
	// Type is the id of the definition.
	Type uint16
	// Reals is how many there are.
	Reals int
	// Raw is the sum of their last tick, Load that of what their meters show, each not below the real's artificial load.
	Raw, Load int64
}

// measured is what a cell knows of its own cost. The whole is not measured but summed up: what is left of a tick by
// the scopes of reals, and what each real's meter shows. So a real that is handed over takes its load along at once,
// on both sides, and nothing can drift apart.
type measured struct {
	rest    load.Meter // the cell's own work
	walks   load.Meter // of a tick's walkers, until it is shared
	walkers []*Real
	at      time.Duration
	types   []TypeLoad // by definition id
	raw     int64      // of the last tick: reals and the cell's own
	builder load.Builder
	samples []load.Sample
}

// measure ends a tick's measuring.
func (c *Cell) measure(dt time.Duration) {
	m := &c.work
	if c.tick == 1 {
		// The meters take their first sample whole. Spread over all the time before the
		// cell was made, it would show an empty one for seconds.
		m.at = c.now - dt
	}
	elapsed := c.now - m.at
	m.at = c.now
	m.raw = 0
	for i := range m.types {
		m.types[i] = TypeLoad{Type: uint16(i)}
	}
	for _, rec := range c.reals {
		r := rec.real
		if r.madeTick == c.tick {
			m.rest.Add(r.meter.Drain()) // it begins with its first whole tick
		} else {
			r.meter.Tick(elapsed, c.cfg.LoadWeight)
		}
		t := &m.types[r.e.Def.ID]
		t.Reals++
		t.Raw += r.meter.Raw()
		m.raw += r.meter.Raw()
		t.Load += r.Load()
	}
	m.rest.Tick(elapsed, c.cfg.LoadWeight)
	m.raw += m.rest.Raw()
}

// Work is the cell's load in nanoseconds of work per second, as Cost.Total, without where it lies; raw is that of the
// last tick alone.
func (c Hosted) Work() (smoothed, raw int64) {
	for _, rec := range c.reals {
		smoothed += c.counts(rec.real)
	}
	if least := c.cfg.ArtificialLoad; least > 0 {
		smoothed = load.Clamp(smoothed + least/10*int64(len(c.ghosts)))
		return smoothed, smoothed
	}
	return load.Clamp(smoothed + c.work.rest.Load()), load.Clamp(c.work.raw)
}

// made ends the making of a real. What that cost is the cell's: as the first sample of a meter, which is taken whole,
// the making of a crowd would show as a load that is never seen again.
func (c *Cell) made(r *Real) {
	r.madeTick = c.tick
	c.work.rest.Add(r.meter.Drain())
}

// TypeLoads returns what the reals of each entity type cost, over all cells, in order of their
// definitions' ids, without types that have no real here. It is as of the last tick, and measured
// even if Config.ArtificialLoad replaces the cells' loads.
func (p *Population) TypeLoads() []TypeLoad {
	sums := make([]TypeLoad, len(p.scripts.Schema().Types))
	for _, c := range p.cells {
		for i, t := range c.work.types {
			sum := &sums[i]
			sum.Type = t.Type
			sum.Reals += t.Reals
			sum.Raw += t.Raw
			sum.Load += t.Load
		}
	}
	return slices.DeleteFunc(sums, func(t TypeLoad) bool { return t.Reals == 0 })
}

// Cost is the cell's load, and where it lies. It is for reports: making it costs about as much as
// sorting the reals four times.
func (c Hosted) Cost() Cost {
	m := &c.work
	c.watch.Enter(&m.rest)
	defer c.watch.Leave()
	m.samples = m.samples[:0]
	var attributed int64
	for _, rec := range c.reals {
		p, own := rec.e.Position, c.counts(rec.real)
		attributed += own
		m.samples = append(m.samples, load.Sample{X: p.X, Z: p.Z, Load: own})
	}
	l := Cost{Total: load.Clamp(attributed + m.rest.Load()), Gained: c.gained}
	share := load.Share(l.Total, attributed, len(c.reals))
	if c.cfg.ArtificialLoad > 0 {
		l.Total, share = load.Clamp(attributed+c.cfg.ArtificialLoad/10*int64(len(c.ghosts))), 0
	}
	for i := range m.samples {
		m.samples[i].Load += share
	}
	l.Profile = m.builder.Build(m.samples)
	l.Edges = m.builder.Edges(m.samples, c.cfg.Border.Slice())
	return l
}

// scope is the meter of whoever a message to an entity is work for: the real, or the cell, which passes it on.
func (c *Cell) scope(id entity.ID) *load.Meter {
	if rec := c.population.find(id); rec != nil && rec.real != nil {
		return &rec.real.meter
	}
	return &c.work.rest
}

// turn is the meter for a real's turn in a walk over all reals. A real that has something to do is
// charged itself; the cell pays for finding out that one has nothing to do.
func (r *Real) turn(busy bool) *load.Meter {
	if busy {
		return &r.meter
	}
	return &r.cell.work.rest
}

// walkTurn is the meter for a real's controllers and timers. Steps of walks are alike and short: to read the clock for
// each would cost a tenth of the step. They are measured together, and who walks has an even share; what is called back
// on arrival is still the real's alone.
func (m *measured) walkTurn(r *Real) *load.Meter {
	switch {
	case r.timers.Due(r.cell.game):
		return &r.meter
	case r.controllers.onlyWalks():
		m.walkers = append(m.walkers, r)
		return &m.walks
	case len(r.controllers.list) > 0:
		return &r.meter
	}
	return &m.rest
}

func (m *measured) shareWalks() {
	if n := time.Duration(len(m.walkers)); n > 0 {
		work := m.walks.Drain()
		m.rest.Add(work % n)
		for _, r := range m.walkers {
			r.meter.Add(work / n)
		}
	}
	clear(m.walkers) // what leaves the cell is not held on to
	m.walkers = m.walkers[:0]
}

// Load is what the real costs, in nanoseconds of work per second, smoothed over some twenty ticks: its timers and
// controllers, its callbacks, what its client and others ask of it, what its client is told, its backups. Work that a
// script of another entity does with it counts for the other. It begins with the first whole tick after the real was
// made or restored, and travels with it from cell to cell. It is not below what SetArtificialLoad said.
func (r *Real) Load() int64 { return max(r.meter.Load(), r.leastLoad) }

// SetArtificialLoad makes the real count as no cheaper than least, in nanoseconds of work per second, up to load.Max;
// 0 or less ends it. It is for work that the cell does not see, or that is expected soon: a boss that will draw a crowd.
// It counts in the cell's load, too, and travels with the real from cell to cell; a backup does not have it.
func (r *Real) SetArtificialLoad(least int64) { r.leastLoad = load.Clamp(least) }

// appendLoad encodes the load that a real takes along, so that it counts at the destination at
// once. Otherwise the destination would believe for seconds that it has room for more.
func (r *Real) appendLoad(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(r.meter.Load()))
	return binary.AppendUvarint(b, uint64(r.leastLoad))
}

var errLoad = errors.New("space: load out of range")

func (r *Real) readLoad(rd *codec.Reader) {
	shown, least := rd.Uvarint(), rd.Uvarint()
	if max(shown, least) > uint64(load.Max) {
		rd.Fail(errLoad)
		return
	}
	r.meter.Set(int64(shown))
	r.leastLoad = int64(least)
}
