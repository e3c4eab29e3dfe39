package witness

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Who rides goes where its vehicle goes. A client that has the vehicle is told the seat, once, and then
// works the place out itself: a full ferry costs what one entity does. To all others, places are told as
// of anybody.
//
//	             vehicle in the client's view: Ride, with the seat
//	places told ---------------------------------------------------> aboard --+ it moves about: seats
//	            <---------------------------------------------------   ^      | in packets, and a Ride
//	             it has alighted, or the vehicle has left the view:    +------+ once it rests
//	             Ride without a vehicle, with the exact place
//
// Both ends are reliable words on the place: packets from before them do not count, and the first place
// after them is told whole. On the way seats are told as places are, but on the grid of the vehicle:
// Subject.seat has a Motion of its own for them, and entry.moved counts by Ride.Stamp while the
// client is aboard. An entry of a packet says that it is a seat, since a packet may overtake the Ride.

// aboard reports whether the client knows the place from that of a vehicle.
func (en *entry) aboard() bool { return en.unseen&unseenPlace != 0 }

// rides finds whether the client is to be told a ride, or its end, and whether it is aboard: then no
// other word on the place is due.
func (w *Witness) rides(en *entry) (due, aboard bool) {
	v := &en.entity().Ride
	switch aboard = en.aboard(); {
	case !en.sent:
		return false, false
	case newer(en.a.ridden, v.Stamp): // this copy has to catch up first
		return false, aboard
	case v.Vehicle != 0 && en.a.via == 0 && w.hasVehicle(v.Vehicle):
		return !aboard || newer(v.Since, en.a.ridden), true
	}
	return aboard, false
}

// showSeat takes in where the entity is on its vehicle, as Show does of its place.
func (s *Subject) showSeat(tick uint64) {
	if s.seat == nil {
		s.seat = &Subject{Entity: new(presence.Entity)}
	}
	seat, ride := s.seat, &s.Entity.Ride
	seat.hot()
	first := seat.now == 0
	seat.now = momentOf(tick)
	if e := seat.Entity; first || seat.stamp != ride.Stamp {
		e.Put(ride.Seat.Position, ride.Seat.Direction, ride.Stamp)
		e.MovedTick = tick
		seat.showMove(first)
	}
	seat.moving = seat.Entity.MovedTick+RestTicks >= tick
}

// course is how the entity moves, as the client is told of it: by its place, or by its seat.
func (en *entry) course() *sight {
	if en.aboard() && en.a.s.seat != nil {
		return en.a.s.seat.sight
	}
	return en.s
}

// standing is where the entity is, and what a packet with an origin counts that from: its seat on the vehicle
// if the client is aboard.
func (en *entry) standing(origin [2]int32) (*presence.Entity, [2]int32) {
	if en.aboard() && en.a.s.seat != nil {
		return en.a.s.seat.Entity, [2]int32{}
	}
	return en.entity(), origin
}

// hasVehicle reports whether the client has an entity where it is.
func (w *Witness) hasVehicle(id entity.ID) bool {
	i, known := w.find(id)
	return known && w.entries[i].sent && w.entries[i].s != nil && w.entries[i].a.via == 0
}

// sayRide tells what an entity rides on now, if anything that the client has.
func (w *Witness) sayRide(en *entry) {
	e := en.entity()
	m := protocol.Ride{Place: placeOf(e)}
	_, aboard := w.rides(en)
	if aboard != en.aboard() || newer(e.Ride.Since, en.a.ridden) {
		en.told, en.sure = 0, 0
	}
	if en.unseen &^= unseenPlace; aboard {
		m.Vehicle, m.Position, m.Direction = e.Ride.Vehicle, e.Ride.Seat.Position, e.Ride.Seat.Direction
		en.unseen |= unseenPlace
	}
	start := len(w.bundle)
	w.bundle = m.Append(w.bundle)
	if w.with.Told != nil {
		w.with.Told.Places += uint64(len(w.bundle) - start)
	}
	w.with.Stats.AddMoves(e.Def, 1, len(w.bundle)-start)
	en.a.ridden = e.Ride.Stamp
	en.moved, en.rested = en.course().stamp, true
	en.a.bundle, en.a.telling, en.bundled = w.number+1, w.moves.now, true
}

// serveVehicles serves what the watcher rides on before all others, however much there is to tell: its
// client moves its own entity on it.
func (w *Witness) serveVehicles() {
	id := w.view.watcher.Ride.Vehicle
	for range presence.MaxStack {
		if id == 0 || len(w.bundle) >= MaxDirect {
			return
		}
		i, known := w.find(id)
		if !known || w.entries[i].s == nil {
			return
		}
		if id = w.entries[i].entity().Ride.Vehicle; !w.attended(i) {
			w.serve(i)
		}
	}
}

// readRide reads what the client was told of the rides of an entry.
func (en *entry) readRide(r *codec.Reader) {
	if en.a.ridden = fields.ReadUint32(r); en.a.ridden == 0 {
		r.Fail(errState)
	}
	if r.Bool() {
		en.unseen |= unseenPlace
	}
}
