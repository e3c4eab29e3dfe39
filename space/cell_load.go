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

// Cost is the load of a cell and where in the cell it lies, in nanoseconds of work per second.
type Cost struct {
	// Total is the load of its reals and of the cell's own work, without migration.
	Total int64
	// Gained is the load of the reals that have come to the cell since it was made, less the load
	// of those that have left. Each real counts as it did in Total at that moment; a new one counts
	// nothing unless Config.ArtificialLoad is set. So Total less Gained changes only with the work
	// itself and, under an artificial load, with ghosts. A count of reals could not show that:
	// those near a line at the thin end of a crowd may cost half of the mean, and a balance that
	// counts them answers its own step with a larger one back.
	//
	// Only differences count. A real may come with little load, grow here and leave with much, so
	// Gained may be negative.
	Gained int64
	// Profile and Edges spread the cell's own work evenly over its reals.
	Profile load.Profile
	Edges   load.Edges
}

// TypeLoad is the load of the reals of one entity type, in nanoseconds of work per second.
type TypeLoad struct {
	// Type is the id of the definition.
	Type uint16
	// Reals is how many there are.
	Reals int
	// Raw sums their last tick, and Load their smoothed meters. Each real counts at least its
	// artificial load.
	Raw, Load int64
}

// measured is what a cell knows of its own load. The total is a sum: the part of the tick outside
// the reals' scopes, and each real's meter. So a real that is handed over moves its load at once,
// on both sides, and nothing can drift apart.
type measured struct {
	rest    load.Meter // the cell's own work
	walks   load.Meter // of a tick's walkers, until shared out
	walkers []*Real
	at      time.Duration
	types   []TypeLoad // by definition id
	raw     int64      // of the last tick: reals and the cell's own
	builder load.Builder
	samples []load.Sample
}

// measure ends a tick's measurement.
func (c *Cell) measure(dt time.Duration) {
	m := &c.work
	if c.tick == 1 {
		// The meters take their first sample whole. If it covered all the time before the cell was
		// made, the cell would look empty for seconds.
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
			m.rest.Add(r.meter.Drain()) // its load begins with its first whole tick
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

// Work is the cell's load, as Cost.Total, in nanoseconds of work per second; raw is that of the
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

// made ends the making of a real, whose cost counts for the cell. A meter takes its first sample
// whole, so the making of a crowd would otherwise show as a load that never comes again.
func (c *Cell) made(r *Real) {
	r.madeTick = c.tick
	c.work.rest.Add(r.meter.Drain())
}

// TypeLoads returns the load of the reals of each entity type on all cells, in order of their
// definitions' ids. Types without a real here are left out. The figures are of the last tick, and
// are measured even if Config.ArtificialLoad replaces the cells' loads.
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

// Cost returns the cell's load and where it lies. Call it only for reports: it takes about as long
// as sorting the reals four times.
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

// scope returns the meter to which a message to an entity counts: the real's, or the cell's, which
// passes it on.
func (c *Cell) scope(id entity.ID) *load.Meter {
	if rec := c.population.find(id); rec != nil && rec.real != nil {
		return &rec.real.meter
	}
	return &c.work.rest
}

// turn returns the meter for a real's turn in a walk over all reals. A busy real pays for itself;
// the cell pays for finding out that a real has nothing to do.
func (r *Real) turn(busy bool) *load.Meter {
	if busy {
		return &r.meter
	}
	return &r.cell.work.rest
}

// walkTurn returns the meter for a real's controllers and timers. Steps of walks are alike and
// short, and to read the clock for each would add a tenth. They are measured together and shared
// evenly among the walkers. The callback on arrival still counts for its real alone.
func (m *measured) walkTurn(r *Real) *load.Meter {
	switch {
	case r.timers.Due(r.cell.game):
		return &r.meter
	case r.controllers.onlyOwn():
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

// Load is what the real costs, in nanoseconds of work per second, smoothed over some twenty ticks.
// It covers its timers and controllers, its callbacks, messages from its client and others, its
// client's updates and its backups. Work that another entity's script does with it counts for the
// other. The load begins with the first whole tick after the real was made or restored, and travels
// with it from cell to cell. It is at least what SetArtificialLoad set.
func (r *Real) Load() int64 { return max(r.meter.Load(), r.leastLoad) }

// SetArtificialLoad makes the real count at least as much as least, in nanoseconds of work per
// second, up to load.Max; 0 or less ends it. Use it for work that the cell does not see, or that is
// expected soon: a boss that will draw a crowd. It counts in the cell's load, too, and travels with
// the real from cell to cell, but is not in backups.
func (r *Real) SetArtificialLoad(least int64) { r.leastLoad = load.Clamp(least) }

// appendLoad encodes the load that a real takes along, so that it counts at the destination at
// once. Otherwise the destination would believe for seconds that it has room to spare.
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
