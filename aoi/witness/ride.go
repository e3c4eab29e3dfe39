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
//	places told ---------------------------------------------------> aboard --+ another seat:
//	            <---------------------------------------------------   ^      | Ride
//	             it has alighted, or the vehicle has left the view:    +------+
//	             Ride without a vehicle, with the exact place
//
// Both ends are reliable words on the place: packets from before them do not count, and the first place
// after the second one is told whole.

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
		return !aboard || en.a.ridden != v.Stamp, true
	}
	return aboard, false
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
	en.moved, en.rested = en.s.stamp, true
	en.told, en.sure = 0, 0
	en.a.bundle, en.a.telling, en.bundled = w.number+1, w.moves.now, !aboard
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
