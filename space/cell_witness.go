package space

import (
	"time"

	"github.com/cellscape/cellscape/aoi"
	"github.com/cellscape/cellscape/aoi/witness"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/mercury"
)

// makeWitness gives a real with a client its area of interest. w is the witness that came with it,
// or nil.
func (r *Real) makeWitness(w *witness.Witness) {
	if w == nil {
		w = witness.New(r.cell.cfg.Witness)
	}
	r.witness = w
	rec := r.cell.population.find(r.e.ID)
	radius, hysteresis := r.AoI()
	r.trigger = r.cell.ranges.AddTrigger(rec.node, radius, radius+hysteresis)
	r.cell.triggers[r.trigger] = r
	r.meetAdded()
}

func (r *Real) dropWitness() {
	if r.witness == nil {
		return
	}
	delete(r.cell.triggers, r.trigger)
	if r.cell.ranges.HasTrigger(r.trigger) {
		r.cell.ranges.RemoveTrigger(r.trigger)
	}
	r.cell.adders.remove(r)
	r.witness.Close()
	r.witness, r.trigger, r.direct, r.audits, r.charges = nil, aoi.Trigger(0), nil, false, nil
}

// sighting is an entity that has come into the area of interest of a real, or gone out of it.
type sighting struct {
	of    aoi.Trigger
	id    entity.ID
	enter bool
	real  *Real   // whose trigger it is, if that has a witness
	rec   *record // of the entity, if it is here
}

// maxSightings is how many sightings are told of together. What witnesses know lies scattered over
// memory, and comes in the time of a few if it is asked for together (witness.Expect): that is a tenth
// of a tick in a crowd of two thousand. More than some dozens the processor does not ask for at a time.
const maxSightings = 64

// deliverRangeEvents tells the witnesses what came near and what went away.
func (c *Cell) deliverRangeEvents() {
	gates := len(c.gates.ends) > 0 || c.gates.closed
	c.gates.closed = false
	c.layTraps()
	c.ranges.Update(func(t aoi.Trigger, _ aoi.Node, key uint64, enter bool) {
		if len(c.traps.laid) > 0 {
			if r := c.traps.laid[t]; r != nil {
				c.traps.sprung = append(c.traps.sprung, sprung{r, t, entity.ID(key)})
				return
			}
		}
		c.sightings = append(c.sightings, sighting{of: t, id: entity.ID(key), enter: enter})
		if len(c.sightings) == maxSightings {
			c.tellSightings(gates)
		}
	})
	c.tellSightings(gates)
	c.tellWatched()
	c.springTraps()
}

// tellSightings tells the witnesses of what was sighted. gates is whether places of this cell can be
// seen from elsewhere, or were.
func (c *Cell) tellSightings(gates bool) {
	list := c.sightings
	for i := range list {
		s := &list[i]
		if i > 0 && list[i-1].of == s.of {
			s.real = list[i-1].real
		} else if s.real = c.triggers[s.of]; s.real != nil && s.real.witness == nil {
			s.real = nil
		}
		if s.real != nil {
			s.rec = c.population.find(s.id)
			s.real.witness.Expect(s.id)
		}
	}
	for i := range list {
		if list[i].real != nil {
			c.tellSighting(&list[i], gates)
		}
	}
	clear(list) // what leaves the cell is not held on to
	c.sightings = list[:0]
}

func (c *Cell) tellSighting(s *sighting, gates bool) {
	r := s.real
	switch rec := s.rec; {
	case rec == nil:
		r.seeEnd(s.id)
	case rec.e.Def.ManualAoI: // a script decides
	case gates:
		r.look(rec)
	case !s.enter:
		r.witness.Leave(s.id)
	case rec.e.Aspect&presence.Withheld == 0 && !r.witness.Hidden(rec.e.ID):
		r.witness.Enter(&rec.seen)
		c.noticeWatched(rec)
	}
}

// seeEnd takes an entity that is not on this cell any more out of the client's view. First the client is
// told what the entity has said since its last turn: whoever calls those who see it, and then ends, as a
// projectile that explodes, wants to be heard.
func (r *Real) seeEnd(id entity.ID) {
	r.direct = r.witness.AppendLastCalls(r.direct, r.e, id)
	r.spill()
	r.witness.Gone(id)
}

// updateWitnesses makes this tick's messages to the clients, and sends them: one client's after the
// other's, or with several workers all of them when the last is made.
func (c *Cell) updateWitnesses(dt time.Duration) {
	c.watch.Enter(&c.work.rest)
	defer c.watch.Leave()
	due := c.dueWitnesses(dt)
	crew := c.population.crew
	crew.benches[0] = bench{c.stats, c.compressor, &c.population.told}
	if len(due) > 0 {
		c.showAll()
	}
	if !crew.shared(len(due)) {
		crew.benches[0].equip(&crew.scratch)
		for _, r := range due {
			c.watch.Switch(&r.meter)
			r.update(&crew.scratch)
			r.sendUpdate()
		}
		return
	}
	crew.work(len(due), func(s *witness.Scratch, i int) { due[i].update(s) })
	for _, r := range due {
		c.watch.Switch(&r.meter)
		r.sendUpdate()
	}
}

// dueWitnesses lists the reals whose clients are told something in this tick.
func (c *Cell) dueWitnesses(dt time.Duration) []*Real {
	if c.tick%orderEvery == 0 {
		c.near.arrange()
	}
	c.giveCharges()
	spare := c.degradation()
	c.due, c.rooms = c.due[:0], c.rooms[:0]
	for i := range c.near {
		r := c.near[i].rec.real
		if r.witness == nil || r.gone != staying || r.choked() || r.session.Away || c.now < r.slowUntil {
			continue
		}
		r.tellData()
		r.tellDay()
		r.tellForced()
		r.tellCharges()
		r.witness.SetDegradation(spare.Budget, spare.Detail)
		r.witness.SetAllowance(bytesIn(dt, r.session.Rate))
		r.witness.SetMaxPacket(min(int(r.session.Room), c.clientRoom(r.e.Base)))
		c.due = append(c.due, r)
	}
	return c.due
}

// baseRoom is how long a packet may be that goes by a base.
type baseRoom struct {
	base  mercury.Address
	bytes int
}

// clientRoom is how long a packet may be that goes by a base, in this tick. It is asked for once:
// thousands of clients are on a base, and what was sent to one is no reason to send less to the next.
func (c *Cell) clientRoom(base mercury.Address) int {
	for i := range c.rooms {
		if c.rooms[i].base == base {
			return c.rooms[i].bytes
		}
	}
	c.rooms = append(c.rooms, baseRoom{base, c.out.ClientRoom(base)})
	return c.rooms[len(c.rooms)-1].bytes
}

// showAll brings up to date what witnesses read of entities. Workers must not, and one alone must not
// either: without room for everyone it would look at some entities in some ticks only, and when an
// entity is looked at shows in the form that its next places have.
func (c *Cell) showAll() {
	for _, list := range []sorted{c.reals, c.ghosts} {
		for _, rec := range list {
			rec.seen.Show(c.tick)
		}
	}
	for i := range c.gates.ends {
		for _, img := range c.gates.ends[i].images {
			img.seen.Show(c.tick)
		}
	}
}

// update makes the messages of a tick to the client. They are valid until another client's are made with
// the same memory.
func (r *Real) update(s *witness.Scratch) {
	r.witness.WorkWith(s)
	r.bundle, r.packets = r.witness.Update(r.e, r.cell.tick, r.direct, r.cell.population.frozen)
	r.direct = r.direct[:0]
}

// sendUpdate sends them.
func (r *Real) sendUpdate() {
	if len(r.bundle) > 0 {
		r.sendBundle(r.bundle)
	}
	r.sendPackets(r.packets)
	r.countUnsaid()
	r.tellArrived()
	if r.audits {
		r.audit()
	}
}

// countUnsaid counts and logs what the client was not told since no bundle can carry it.
func (r *Real) countUnsaid() {
	switch n := r.witness.Dropped(); {
	case n == r.unsaid:
	case n < r.unsaid: // of another session
		r.unsaid = 0
		r.countUnsaid()
	default:
		r.cell.count.Unsaid += n - r.unsaid
		r.unsaid = n
		if unlogged, ok := r.cell.population.lines.Allow(r.cell.now, "unsaid"); ok {
			r.Log().Warn("a client is not told what is too long: calls to all of one entity, or all that there is to see of one",
				"most", witness.MaxEntity, "of it for calls", witness.MaxCall, "unlogged", unlogged)
		}
	}
}

// bytesIn is how many bytes a rate in bytes a second is in a time; 0 remains no limit.
func bytesIn(d time.Duration, rate uint32) int {
	if rate == 0 {
		return 0
	}
	return max(1, int(int64(rate)*int64(d)/int64(time.Second)))
}

// choked reports whether the channel to the base has no room. The client then hears the outcome
// when there is room, instead of every step.
func (r *Real) choked() bool { return !r.e.Base.IsZero() && r.base().out.Waiting() > 0 }

// sendBundle adds a bundle for the client to the flow to the proxy.
func (r *Real) sendBundle(bundle []byte) {
	m := flow.Bundle{Session: r.session.Number, Bytes: bundle}
	r.cell.scratch = m.Append(r.cell.scratch[:0])
	_ = r.sendBase(r.cell.scratch)
}

// sendPackets sends packets of places to the proxy. The witness still has to tell what found no
// room.
func (r *Real) sendPackets(packets [][]byte) {
	for i, packet := range packets {
		if len(packet) > int(r.session.Room) { // the client's channel takes less than the packet needs
			r.cell.count.PacketsUnsent++
			r.witness.Unsent(i)
			continue
		}
		if err := r.cell.out.ClientPacket(r.e.Base, r.e.ID, r.e.Order, r.session.Number, packet); err != nil {
			r.cell.count.PacketsUnsent++
			r.witness.Unsent(i)
		}
	}
}

// spill sends direct messages ahead of the tick when there are more than the witness takes. A
// bundle above the flow's limit would be lost as a whole.
func (r *Real) spill() {
	if len(r.direct) > witness.MaxDirect {
		r.sendBundle(r.direct)
		r.direct = r.direct[:0]
	}
}

// tellData tells the client what is new in the space's data, or all of it anew if it may have been
// told of something that is lost.
func (r *Real) tellData() {
	d := &r.cell.data
	if d.lacks(r.dataTold) {
		r.direct = protocol.AppendSpaceDataAnew(r.direct)
		r.dataTold = 0
	}
	if r.dataTold >= d.last {
		return
	}
	for i := range d.entries {
		if e := &d.entries[i]; e.Number > r.dataTold {
			r.tellDatum(e)
		}
	}
	r.dataTold = d.last
}

// tellDatum tells the client of one entry. A client that has been told of none has none to remove.
func (r *Real) tellDatum(e *DataEntry) {
	switch {
	case e.Key == spacekey.TimeOfDay: // see tellDay
	case e.Key == spacekey.LostArea || e.Key == spacekey.Gateway: // for cells only
	case !e.Removed:
		m := protocol.SpaceData{Key: e.Key, Entry: e.ID, Value: e.Value}
		r.direct = m.Append(r.direct)
	case r.dataTold > 0:
		m := protocol.SpaceDataGone{Key: e.Key, Entry: e.ID}
		r.direct = m.Append(r.direct)
	}
	r.spill()
}

// pending counts what the cell still has to tell: watched entities with something unsent,
// unacknowledged flow messages, and unsent ghost changes. Roughly, all that a client sees count while it has
// no room for all.
func (c *Cell) pending(roughly bool) uint64 {
	n := uint64(len(c.loopback))
	if c.behind {
		n++
	}
	for _, rec := range c.reals {
		r := rec.real
		n += uint64(len(r.changes))
		for i := range r.flows {
			n += uint64(r.flows[i].out.Unreceived())
		}
		if r.witness != nil {
			if roughly && r.witness.Crowded() {
				n += uint64(r.witness.Len())
			} else {
				n += uint64(r.witness.Pending(r.e))
			}
			if len(r.direct) > 0 || r.dataTold < c.data.last || r.owesPlace() || r.owesCharge() {
				n++
			}
		}
	}
	return n
}
