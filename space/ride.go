package space

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// This file has vehicles and who rides on them; the package documentation has the rules.

// VehiclePatience is how long a passenger waits for a vehicle that is not on its cell, before it
// leaves it: longer than a ghost needs to come, and than bases mostly need to restore both after a
// CellApp has died.
const VehiclePatience = 10 * time.Second

// Errors of Real.Board.
var (
	// ErrNoVehicle is returned for a vehicle that is not on the cell, or that rides on the entity itself or
	// on too many others.
	ErrNoVehicle = errors.New("space: no such vehicle here")
)

// Vehicle is what the entity rides on, 0 if nothing.
func (r *Real) Vehicle() entity.ID { return r.e.Ride.Vehicle }

// Seat is where the entity is on its vehicle: in metres, x to the right of the vehicle's position, y up,
// z ahead, and yaw, pitch and roll in radians, the yaw as seen from the vehicle. It is zero for who rides
// nothing.
func (r *Real) Seat() (position, direction property.Vector3) {
	return r.e.Ride.Seat.Position, r.e.Ride.Seat.Direction
}

// Board puts the entity on a vehicle, at a seat (see Seat): from now on it goes where that goes, and turns
// with it. Any other entity on the cell can be a vehicle, real or ghost, also one that rides itself. A
// player's client is told, and moves about on the vehicle. Who is on a vehicle already changes over, or
// takes another seat. It ends a walk or chase, which would lead off the vehicle.
//
// A seat is at most half of Config.Border.GhostDistance away from the vehicle, so that the vehicle is known
// wherever its passenger is. Errors are entity.ErrGone, ErrNoVehicle, and that of a seat that is not finite
// or too far away.
func (r *Real) Board(vehicle entity.ID, position, direction property.Vector3) error {
	seat := presence.Spot{Position: position, Direction: direction}
	if r.gone != staying {
		return entity.ErrGone
	}
	if err := r.checkSeat(seat); err != nil {
		return err
	}
	v := r.cell.on(vehicle)
	if v == nil || v.e == r.e || r.cell.stack(v, r.e.ID) >= presence.MaxStack {
		return fmt.Errorf("%w: %s", ErrNoVehicle, vehicle)
	}
	r.stopWalking()
	r.ride(vehicle, seat)
	r.follow(v)
	r.force()
	return nil
}

// Alight takes the entity off its vehicle, where it is. It does nothing for who rides nothing.
func (r *Real) Alight() {
	if r.gone == staying && r.e.Ride.Vehicle != 0 {
		r.ride(0, presence.Spot{})
		r.force()
	}
}

func (r *Real) checkSeat(s presence.Spot) error {
	if !property.Finite(s.Position) || !property.Finite(s.Direction) {
		return fmt.Errorf("space: seat %v, direction %v is not finite or out of range", s.Position, s.Direction)
	}
	if !r.cell.seats(s) {
		return fmt.Errorf("space: a seat at %v is too far away from its vehicle: at most %g m", s.Position, r.cell.farthestSeat())
	}
	return nil
}

// farthestSeat is how far from its vehicle a passenger may be, in metres.
func (c *Cell) farthestSeat() float64 { return c.cfg.Border.GhostDistance / 2 }

// seats reports whether a seat is near enough to its vehicle.
func (c *Cell) seats(s presence.Spot) bool {
	most := float32(c.farthestSeat())
	p := s.Position
	return max(p.X, -p.X) <= most && max(p.Z, -p.Z) <= most
}

// on is the record of an entity that is on this cell, nil for others.
func (c *Cell) on(id entity.ID) *record {
	if rec := c.population.find(id); rec != nil && rec.cell == c {
		return rec
	}
	return nil
}

// stack is how many vehicles carry one another, beginning with v, as far as is known here. It is at least
// presence.MaxStack if one of them is the entity with an id: nobody rides on what rides on it.
func (c *Cell) stack(v *record, id entity.ID) (n int) {
	for n < presence.MaxStack && v != nil {
		if v.e.ID == id {
			return presence.MaxStack
		}
		n++
		if v.e.Ride.Vehicle == 0 {
			return n - 1
		}
		v = c.on(v.e.Ride.Vehicle)
	}
	return n
}

// ride notes what the entity rides on now.
func (r *Real) ride(vehicle entity.ID, seat presence.Spot) {
	rec := r.cell.population.find(r.e.ID)
	r.e.Ride = presence.Ride{Vehicle: vehicle, Stamp: r.e.Ride.Stamp + 1, Since: r.e.Ride.Stamp + 1, Seat: seat}
	r.vehicleMissing = 0
	if r.shareControl(); vehicle != 0 {
		r.cell.riders.insert(rec)
		return
	}
	r.steering.aboard = false
	r.cell.riders.remove(r.e.ID)
}

// sit notes a new seat on the same vehicle.
func (r *Real) sit(seat presence.Spot) {
	if r.e.Ride.Seat == seat {
		return
	}
	r.e.Ride.Seat = seat
	r.e.Ride.Stamp++
	if v := r.cell.on(r.e.Ride.Vehicle); v != nil {
		r.follow(v)
	}
}

// reseat notes where the entity is on its vehicle after it was put somewhere in the world: too far away, or
// while the vehicle is not here, it is off it.
func (r *Real) reseat() {
	v := r.cell.on(r.e.Ride.Vehicle)
	if v != nil && r.e.Ride.Seat.On(v.e.Spot()) == r.e.Spot() {
		return
	}
	seat := presence.Spot{}
	if v != nil {
		seat = r.e.Spot().From(v.e.Spot())
	}
	if v == nil || !r.cell.seats(seat) {
		r.thrownOff()
		return
	}
	r.e.Ride.Seat = seat
	r.e.Ride.Stamp++
}

// follow puts the entity where its seat is. It reports false if that is out of the world.
func (r *Real) follow(v *record) bool {
	at := r.e.Ride.Seat.On(v.e.Spot())
	if !property.Finite(at.Position) {
		return false
	}
	if r.e.MoveTo(r.cell.tick, at.Position, at.Direction) {
		r.cell.moved(r.e)
	}
	return true
}

// takeSeat puts one who rides where its seat is by now, before anything is done by its place: its vehicle
// may have moved since it was carried, in this tick or, driven by a client or as a ghost, since the last one.
// Whoever then walks or turns would change its seat by that way.
func (r *Real) takeSeat() { r.takeSeatAbove(0) }

func (r *Real) takeSeatAbove(depth int) {
	if r.gone != staying || r.e.Ride.Vehicle == 0 {
		return
	}
	v := r.cell.on(r.e.Ride.Vehicle)
	if v == nil {
		return
	}
	if v.real != nil && depth < presence.MaxStack {
		v.real.takeSeatAbove(depth + 1)
	}
	r.follow(v)
}

// carry moves all who ride to where their vehicles are by now: vehicles that ride themselves before their
// own passengers. It does so in a frozen world, too, where ghosts may still hear the last of their vehicles,
// but nobody is thrown off there.
func (c *Cell) carry() {
	if len(c.riders) == 0 {
		return
	}
	c.walk = append(c.walk[:0], c.riders...) // OnAlighted may board
	for _, rec := range c.walk {
		if r := rec.real; r != nil {
			r.carried(0)
		}
	}
	clear(c.walk)
}

// carried moves one who rides, once a tick.
func (r *Real) carried(depth int) {
	c := r.cell
	if r.gone != staying || r.e.Ride.Vehicle == 0 || r.carriedTick == c.tick {
		return
	}
	r.carriedTick = c.tick
	v := c.population.find(r.e.Ride.Vehicle)
	switch {
	case c.population.frozen && (v == nil || v.cell != c || c.stack(v, r.e.ID) >= presence.MaxStack):
		return
	case v == nil:
		if r.vehicleMissing == 0 {
			r.vehicleMissing = max(c.now, 1)
		} else if c.now-r.vehicleMissing >= VehiclePatience {
			r.thrownOff()
		}
		return
	case v.cell != c || c.stack(v, r.e.ID) >= presence.MaxStack:
		r.thrownOff() // it is in another space now; or two boarded each other on two cells
		return
	}
	r.vehicleMissing = 0
	if v.real != nil && depth < presence.MaxStack {
		v.real.carried(depth + 1)
	}
	if r.e.Ride.Vehicle == v.e.ID && !r.follow(v) && !c.population.frozen {
		r.thrownOff()
	}
}

// thrownOff ends a ride that the script has not ended.
func (r *Real) thrownOff() {
	vehicle := r.e.Ride.Vehicle
	r.Alight()
	callback(r, "OnAlighted", func(s Passenger) { s.OnAlighted(vehicle) })
}

// throwOff ends the rides on an entity that was destroyed.
func (c *Cell) throwOff(vehicle entity.ID) {
	for _, rec := range slices.Clone(c.riders) {
		if r := rec.real; r != nil && r.gone == staying && r.e.Ride.Vehicle == vehicle {
			r.thrownOff()
		}
	}
}

// leaveVehicle ends the ride of a real that was teleported, unless its vehicle goes along.
func (r *Real) leaveVehicle(with []entity.ID) {
	if r.e.Ride.Vehicle != 0 && !slices.Contains(with, r.e.Ride.Vehicle) {
		r.ride(0, presence.Spot{})
	}
}

// checkAboard finds whether the client knows where its entity is from the vehicle, and begins its
// steering anew if that has changed: it says its place on the vehicle then, and not in the world. A client
// that is not shown the vehicle is moved by the server.
func (r *Real) checkAboard() {
	s := &r.steering
	aboard := false
	if v := r.cell.on(r.e.Ride.Vehicle); v != nil && r.witness != nil {
		aboard = r.witness.Has(v.e.ID, v.e.Order.Incarnation)
	}
	if aboard != s.aboard {
		s.aboard = aboard
		r.force()
	}
}

// stepAboard moves the entity about on its vehicle as its client says, as stepTo does in the world. The
// game's check is given places in the world.
func (r *Real) stepAboard(seat presence.Spot) {
	r.takeSeat()
	s := &r.steering
	v := r.cell.on(r.e.Ride.Vehicle)
	switch {
	case !property.Finite(seat.Position) || !property.Finite(seat.Direction):
		r.cell.count.Refused++
		return
	case v == nil:
		r.cell.count.Overruled++
		return
	case !r.cell.seats(seat) || !s.stride.take(r.cell.population.clusterNow(), s.limit.takes(r.e.Ride.Seat.Position, seat.Position)):
		r.correct()
		return
	}
	to, number := seat.On(v.e.Spot()).Position, s.number
	at, ok := r.askGame(r.e.Position, to)
	if r.gone != staying || s.number != number {
		return // the hook has had the last word
	}
	switch {
	case ok && at == to:
		r.sit(seat)
		return
	case ok:
		// It is finite, and the real is here: there is no error.
		_ = r.put(at, seat.On(v.e.Spot()).Direction)
		r.reseat()
	}
	r.correct()
}

// appendRide and readRide carry a ride to another cell, and into backups.
func (r *Real) appendRide(b []byte) []byte { return fields.AppendRide(b, &r.e.Ride) }

func (r *Real) readRide(rd *codec.Reader) {
	r.e.Ride = fields.ReadRide(rd)
	if v := r.e.Ride.Vehicle; v != 0 && (!v.Valid() || v == r.e.ID) {
		rd.Fail(errRide)
	}
	r.shareControl() // whoever drives it was read before, and nobody drives who rides
}

var errRide = errors.New("space: a ride on what no entity can ride on")
