package client

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// This file has who rides on what. The server tells the seat on a vehicle, and the place follows here from
// that of the vehicle: whenever that moves, its riders move.

// maxStack bounds how many vehicles carry one another: what no server tells, a ring for one, must not
// keep a client busy. While a ride changes, it may hold more than a server ever has at once.
const maxStack = 2 * presence.MaxStack

// ride is the vehicle that a replica is on.
type ride struct {
	vehicle entity.ID
	seat    presence.Spot
}

// riding is the ride of r, nil if it is on no vehicle.
func (r *Replica) riding() *ride {
	if r.rare == nil {
		return nil
	}
	return r.rare.ride
}

// Vehicle is what the entity rides on, 0 if nothing. Events.RideChanged tells when that changes.
func (r *Replica) Vehicle() entity.ID {
	if on := r.riding(); on != nil {
		return on.vehicle
	}
	return 0
}

// Seat is where the entity is on its vehicle: in metres, x to the right of the vehicle's position, y up,
// z ahead, and yaw, pitch and roll in radians, the yaw as seen from the vehicle. It is zero for who rides
// nothing.
func (r *Replica) Seat() (position, direction property.Vector3) {
	if on := r.riding(); on != nil {
		return on.seat.Position, on.seat.Direction
	}
	return position, direction
}

// SetSeat moves the player's own entity about on its vehicle, as SetPosition does by the place in the
// world. Errors are those of Client.SetPosition, and ErrNoControl for who rides nothing.
func (r *Replica) SetSeat(position, direction property.Vector3) error {
	c := r.client
	switch on := r.riding(); {
	case c == nil || c.state != Playing || !c.inWorld:
		return ErrNotInWorld
	case on == nil || r != c.player || !c.control:
		return ErrNoControl
	case !property.Finite(position) || !property.Finite(direction):
		return ErrPosition
	case on.seat == presence.Spot{Position: position, Direction: direction}:
		return nil
	default:
		on.seat = presence.Spot{Position: position, Direction: direction}
	}
	c.dirty = true
	c.sitDown(r, 0)
	return nil
}

// seatAt is SetSeat by a place in the world.
func (r *Replica) seatAt(at presence.Spot) error {
	on := r.riding()
	v := r.client.Entity(on.vehicle)
	if v == nil {
		return ErrNoControl // the server takes it, too
	}
	seat := at.From(v.spot())
	return r.SetSeat(seat.Position, seat.Direction)
}

// shift uses an entry of a packet that tells another seat on the vehicle. One that has overtaken a bundle
// may be about a ride of which that tells.
func (r *Replica) shift(h *protocol.PacketHead, m *protocol.Moved) (used, ok bool) {
	on := r.riding()
	if on == nil || h.After > r.client.bundle {
		return false, true
	}
	position, direction, ok := m.From(on.seat.Position, on.seat.Direction)
	if !ok {
		return false, false
	}
	r.placed, r.packet = byPacket(h.After), h.Number
	on.seat = presence.Spot{Position: position, Direction: direction}
	r.takeSeat()
	return true, true
}

// findRider is where in c.riders who is on a vehicle is, or belongs.
func (c *Client) findRider(vehicle, id entity.ID) (int, bool) {
	return slices.BinarySearchFunc(*c.riders, id, func(r *Replica, id entity.ID) int {
		return cmp.Or(cmp.Compare(r.riding().vehicle, vehicle), cmp.Compare(r.ID, id))
	})
}

// board puts r on a vehicle.
func (c *Client) board(r *Replica, vehicle entity.ID, seat presence.Spot) {
	c.openRing(r, vehicle)
	says := Rests
	if r.Vehicle() != vehicle {
		says = Appears
		c.alight(r)
		if c.riders == nil {
			c.riders = new([]*Replica)
		}
		i, _ := c.findRider(vehicle, r.ID)
		*c.riders = slices.Insert(*c.riders, i, r)
	}
	r.extend().ride = &ride{vehicle, seat}
	r.play(says)
	c.sitDown(r, 0)
}

// openRing ends the ride on r of what carries the vehicle that r is about to be on, as when a rider and its
// mount swap: it is over at the server, who has yet to tell. Until then they would move each other away.
func (c *Client) openRing(r *Replica, vehicle entity.ID) {
	for range maxStack {
		v := c.Entity(vehicle)
		if v == nil || v == c.player || v.riding() == nil {
			return // the player's own ride ends with a forced place
		}
		if vehicle = v.riding().vehicle; vehicle == r.ID {
			c.alight(v)
			c.tellRide(v)
			return
		}
	}
}

// alight takes r off its vehicle, where it is.
func (c *Client) alight(r *Replica) {
	on := r.riding()
	if on == nil {
		return
	}
	if i, found := c.findRider(on.vehicle, r.ID); found {
		*c.riders = slices.Delete(*c.riders, i, i+1)
	}
	r.rare.ride = nil
	r.play(Appears) // its filter has heard nothing of where it was taken
}

// takeSeat puts one who rides where its seat is. Without its vehicle in view it stays where it was: the
// server is about to tell.
func (r *Replica) takeSeat() {
	on := r.riding()
	if v := r.client.Entity(on.vehicle); v != nil && v != r {
		if at := on.seat.On(v.spot()); property.Finite(at.Position) {
			r.putAt(at)
		}
	}
}

// sitDown puts one who rides where its seat is, and then its own riders.
func (c *Client) sitDown(r *Replica, depth int) {
	r.takeSeat()
	c.carry(r, depth+1)
}

// carry moves all who ride on an entity that has moved.
func (c *Client) carry(vehicle *Replica, depth int) {
	if c.riders == nil || len(*c.riders) == 0 || depth > maxStack {
		return
	}
	first, _ := c.findRider(vehicle.ID, 0)
	end, _ := c.findRider(vehicle.ID+1, 0)
	if first == end {
		return
	}
	for _, r := range slices.Clone((*c.riders)[first:end]) { // events may end the session, and more
		if on := r.riding(); on == nil || on.vehicle != vehicle.ID {
			continue
		}
		before := r.spot()
		c.sitDown(r, depth)
		if r != c.player {
			c.tellMoved(r, r.spot() != before)
		}
	}
}

// onRide takes the server's word on what an entity rides on.
func (c *Client) onRide(body []byte) error {
	var m protocol.Ride
	if err := m.Parse(body); err != nil {
		return err
	}
	r := c.entities.get(m.ID)
	if r == nil {
		c.stats.UnknownEntities++
		return nil
	}
	if m.Vehicle == r.ID {
		return malformed("%s %v rides on itself", r.Def.Name, r.ID)
	}
	before, was := r.spot(), ride{}
	if on := r.riding(); on != nil {
		was = *on
	}
	if m.Vehicle != 0 {
		c.loseControl(r) // nobody drives who rides
		r.placed = max(r.placed, byBundle(c.bundle))
		r.heard = 0
		c.board(r, m.Vehicle, presence.Spot{Position: m.Position, Direction: m.Direction})
	} else {
		c.alight(r)
		// This client may drive it again, and has heard of that before.
		if used, _ := c.hearing(r, func() (used, moves bool) { return r.rest(c.bundle, m.Position, m.Direction) }); used {
			r.heard = 0
		}
		r.play(Appears)
		c.carry(r, 0)
	}
	if on := r.riding(); on != nil && *on != was || on == nil && was.vehicle != 0 {
		c.tellRide(r)
	}
	c.tellMoved(r, r.spot() != before)
	return nil
}

func (c *Client) tellRide(r *Replica) {
	if c.muted {
		return
	}
	r.tellRide()
	if c.state != Closed && c.cfg.Events.RideChanged != nil {
		c.cfg.Events.RideChanged(r)
	}
}

// seatAll puts all who ride where their seats are, and tells nobody.
func (c *Client) seatAll() {
	if c.riders == nil {
		return
	}
	for range maxStack { // some sit on what is put down later
		for _, r := range *c.riders {
			c.sitDown(r, maxStack)
		}
	}
}

// shownOn is where to draw one who rides at a time: on the vehicle as that is drawn.
func (r *Replica) shownOn(now time.Duration, depth int) (at presence.Spot, ok bool) {
	on := r.riding()
	if on == nil || r.client == nil || depth > maxStack {
		return at, false
	}
	v := r.client.Entity(on.vehicle)
	if v == nil || v == r {
		return at, false
	}
	if at, ok = v.shownOn(now, depth+1); !ok {
		at.Position, at.Direction = v.filtered(now)
	}
	seat := on.seat
	if r != r.client.player && r.rare.filter != nil {
		seat.Position, seat.Direction = r.rare.filter.Output(now)
	}
	return seat.On(at), true
}
