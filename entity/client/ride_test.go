package client

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

const cart = foe + 1

// riding is a client that sees a cart at 10 m and foe, two metres ahead on it, as bundle 7 says.
func riding(t *testing.T) *rig {
	t.Helper()
	r := meeting(t)
	r.say(r.enter(cart, 10).Append(r.cell(6)))
	r.say(rideOf(foe, cart, property.Vector3{Z: 2}).Append(r.cell(7)))
	r.events = nil
	return r
}

func rideOf(id, vehicle entity.ID, at property.Vector3) *protocol.Ride {
	return &protocol.Ride{Vehicle: vehicle, Place: protocol.Place{ID: id, Position: at}}
}

// wantAt demands that an entity is at a place.
func (r *rig) wantAt(id entity.ID, x, z float32) {
	r.t.Helper()
	if p := r.c.Entity(id).Position; property.Distance(p, property.Vector3{X: x, Z: z}) > 1e-4 {
		r.t.Errorf("%v is at %v, want %v, %v", id, p, x, z)
	}
}

// Whoever rides moves with the vehicle, whatever moves that, until it gets off.
func TestRide(t *testing.T) {
	r := riding(t)
	changed := 0
	r.c.cfg.Events.RideChanged = func(*Replica) { changed++ }
	e := r.c.Entity(foe)
	r.wantAt(foe, 10, 2)
	if seat, _ := e.Seat(); e.Vehicle() != cart || seat != (property.Vector3{Z: 2}) {
		t.Errorf("it rides on %v at %v", e.Vehicle(), seat)
	}
	r.whisper(packet(6, 1, place(foe, 50))) // from before
	r.wantAt(foe, 10, 2)
	r.whisper(packet(7, 2, place(cart, 12)))
	r.wantAt(foe, 12, 2)
	r.wantEvents("moved 1.8 to {12 0 0}", "moved 1.7 to {12 0 2}")
	east := protocol.Place{ID: cart, Position: property.Vector3{X: 13}, Direction: property.Vector3{X: math.Pi / 2}}
	r.say(east.AppendRest(r.cell(8)))
	r.wantAt(foe, 15, 0)
	if d := e.Direction.X; math.Abs(float64(d-math.Pi/2)) > 1e-6 {
		t.Errorf("it looks to %v", d)
	}
	r.say(rideOf(foe, cart, property.Vector3{Z: 3}).Append(r.cell(9)))
	r.wantAt(foe, 16, 0)
	r.say(rideOf(foe, 0, property.Vector3{X: 16, Z: 1}).Append(r.cell(10)))
	r.say(place(cart, 20).AppendRest(r.cell(11)))
	r.wantAt(foe, 16, 1)
	if e.Vehicle() != 0 || changed != 2 || len(*r.c.riders) != 0 {
		t.Errorf("it rides on %v, %d changes, %d riders", e.Vehicle(), changed, len(*r.c.riders))
	}
	r.whisper(packet(11, 3, place(foe, 17)))
	r.wantAt(foe, 17, 0)
}

// seatOf is a packet with the seat of foe, whose alias is 0.
func seatOf(after uint64, number uint32, x, z float32) []byte {
	e := &presence.Entity{}
	e.Put(property.Vector3{X: x, Z: z}, property.Vector3{}, 1)
	entry := protocol.AppendFar(nil, e, [2]int32{})
	protocol.MarkSeat(entry)
	head := protocol.PacketHead{After: after, Number: number, Origin: [2]int32{3, -9}}
	lists := protocol.Lists{protocol.Flagged: {Aliases: []uint32{0}, Entries: entry}}
	return lists.Append(head.Append(nil))
}

// Who walks about on a vehicle is told of in packets by its seat there, wherever the vehicle is by now. A seat
// counts only for the ride in which it was: not before the word on that, and not after it is over.
func TestSeatsInPackets(t *testing.T) {
	r := riding(t)
	var seats []property.Vector3
	r.c.cfg.Events.RideChanged = func(e *Replica) {
		seat, _ := e.Seat()
		seats = append(seats, seat)
	}
	r.now += time.Second
	r.whisper(seatOf(7, 1, 1, 3))
	r.wantAt(foe, 11, 3)
	r.wantEvents("moved 1.7 to {11 0 3}")
	r.whisper(packet(7, 2, place(cart, 20)))
	r.wantAt(foe, 21, 3)
	r.whisper(seatOf(7, 1, 9, 9)) // an older one
	r.whisper(seatOf(6, 4, 9, 9)) // from before it got on
	r.whisper(seatOf(8, 5, 9, 9)) // it may ride on something else by then
	r.wantAt(foe, 21, 3)
	if stale := r.c.Stats().StalePositions; stale != 3 {
		t.Errorf("%d places were stale", stale)
	}
	if age := r.c.Entity(foe).Age(r.now + time.Second); age != time.Second {
		t.Errorf("the seat is %v old", age)
	}
	r.say(rideOf(foe, cart, property.Vector3{X: 2, Z: 2}).Append(r.cell(8)))
	r.whisper(seatOf(7, 6, 9, 9)) // overtaken by the word that it rests
	r.wantAt(foe, 22, 2)
	r.say(rideOf(foe, 0, property.Vector3{X: 22, Z: 1}).Append(r.cell(9)))
	r.whisper(seatOf(9, 7, 9, 9)) // what no server says
	r.wantAt(foe, 22, 1)
	if want := []property.Vector3{{X: 1, Z: 3}, {X: 2, Z: 2}, {}}; !slices.Equal(seats, want) {
		t.Errorf("told of the seats %v, want %v", seats, want)
	}
	if r.c.State() != Playing {
		t.Errorf("the client is %v", r.c.State())
	}
}

// A filter plays the seats of who rides: a step on a ship under way is drawn as a step, on the ship as it is
// drawn.
func TestFilterPlaysSeats(t *testing.T) {
	r := riding(t)
	e := r.c.Entity(foe)
	e.SetFilter(&Raw{})
	r.c.Entity(cart).SetFilter(&Raw{})
	r.whisper(packet(7, 1, place(cart, 18)))
	r.whisper(seatOf(7, 2, 1, 3))
	if at, _ := e.Shown(r.now); at != (property.Vector3{X: 19, Z: 3}) {
		t.Errorf("it is shown at %v", at)
	}
	if f := e.rare.filter.(*Raw); f.position != (property.Vector3{X: 1, Z: 3}) {
		t.Errorf("the filter was given %v", f.position)
	}
	r.say(protocol.AppendLeave(r.cell(8), cart))
	if at, _ := e.Shown(r.now); at != (property.Vector3{X: 19, Z: 3}) {
		t.Errorf("without its vehicle it is shown at %v", at)
	}
}

// A place from after the end of a ride may come before that is told. It counts, and the end does not undo it.
func TestRideEndIsOvertaken(t *testing.T) {
	r := riding(t)
	changed := 0
	r.c.cfg.Events.RideChanged = func(*Replica) { changed++ }
	r.whisper(packet(8, 1, place(foe, 40)))
	r.wantAt(foe, 40, 0)
	if r.c.Entity(foe).Vehicle() != 0 || changed != 1 {
		t.Errorf("it rides on %v, and the game was told %d times", r.c.Entity(foe).Vehicle(), changed)
	}
	r.say(rideOf(foe, 0, property.Vector3{X: 39}).Append(r.cell(8)))
	r.wantAt(foe, 40, 0)
	if r.c.Entity(foe).Vehicle() != 0 || changed != 1 {
		t.Errorf("after the word on it, it rides on %v, and the game was told %d times", r.c.Entity(foe).Vehicle(), changed)
	}
}

// A filter knows nothing of the way that a rider was taken: it begins anew where that gets off, also if a place
// tells of that, and does not draw a curve from where it got on.
func TestFilterAfterRide(t *testing.T) {
	r := riding(t)
	e := r.c.Entity(foe)
	e.SetFilter(&Hermite{})
	r.whisper(packet(7, 1, place(cart, 18)))
	r.now += time.Second
	r.whisper(packet(8, 2, place(foe, 18.5)))
	for n := range 10 {
		if at, _ := e.Shown(r.now + time.Duration(n)*50*time.Millisecond); at.X < 17.9 {
			t.Fatalf("it is shown at %v", at)
		}
	}
}

// A vehicle that goes out of sight leaves its riders where they were, and takes them along when it is back.
func TestVehicleLeaves(t *testing.T) {
	r := riding(t)
	r.say(protocol.AppendLeave(r.cell(8), cart))
	r.wantAt(foe, 10, 2)
	r.say(r.enter(cart, 30).Append(r.cell(9)))
	r.wantAt(foe, 30, 2)
	r.say(protocol.AppendLeave(r.cell(10), foe))
	if n := len(*r.c.riders); n != 0 {
		t.Errorf("%d riders are left", n)
	}
	r.say(protocol.AppendReset(r.cell(11)))
	if r.c.riders != nil {
		t.Error("riders are left after a Reset")
	}
}

// On a vehicle the player's own moves are seats.
func TestOwnRide(t *testing.T) {
	r := riding(t)
	p := r.c.Player()
	if err := p.SetSeat(property.Vector3{}, property.Vector3{}); !errors.Is(err, ErrNoControl) {
		t.Errorf("a seat on nothing: %v", err)
	}
	boarded := protocol.Forced{Number: 5, Control: true, Vehicle: cart, Position: property.Vector3{X: 1}}
	r.say(boarded.Append(r.cell(8)))
	r.wantAt(me, 11, 0)
	r.say(place(cart, 12).AppendRest(r.cell(9)))
	r.wantAt(me, 13, 0)
	r.tick()
	if m, _ := r.moves(); len(m) != 0 {
		t.Errorf("carried along it says %v", m)
	}
	if err := r.c.SetPosition(property.Vector3{X: 13, Z: 1}, property.Vector3{}); err != nil {
		t.Fatal(err)
	}
	if err := p.SetSeat(property.Vector3{X: float32(math.Inf(1))}, property.Vector3{}); !errors.Is(err, ErrPosition) {
		t.Errorf("a seat nowhere: %v", err)
	}
	r.tick()
	if m, _ := r.moves(); len(m) != 1 || m[0].Forced != 5 || m[0].Position != (property.Vector3{X: 1, Z: 1}) {
		t.Errorf("it says %v", m)
	}
	r.say(protocol.AppendLeave(r.cell(10), cart))
	if err := r.c.SetPosition(property.Vector3{X: 9}, property.Vector3{}); !errors.Is(err, ErrNoControl) {
		t.Errorf("without its vehicle in view: %v", err)
	}
	ashore := protocol.Forced{Number: 6, Control: true, Position: property.Vector3{X: 20}}
	r.say(ashore.Append(r.cell(11)))
	r.wantAt(me, 20, 0)
	if p.Vehicle() != 0 || r.c.SetPosition(property.Vector3{X: 21}, property.Vector3{}) != nil {
		t.Error("it cannot walk ashore")
	}
}

// The game is told of each end of its own ride, also of one that comes with the end of all that it has seen.
func TestOwnRideEnds(t *testing.T) {
	boarded := protocol.Forced{Number: 5, Control: true, Vehicle: cart, Position: property.Vector3{X: 1}}
	for what, end := range map[string]func(r *rig) []byte{
		"teleported":                     func(r *rig) []byte { return r.cellPlayer().Append(protocol.AppendLeaveSpace(r.cell(9))) },
		"through a transition":           func(r *rig) []byte { return r.cellPlayer().Append((&protocol.Transit{}).Append(r.cell(9))) },
		"its cell part is another one":   func(r *rig) []byte { return r.cellPlayer().Append(protocol.AppendReset(nil)) },
		"its cell part is gone":          func(r *rig) []byte { return protocol.AppendCellGone(nil) },
		"it is put ashore by the server": func(r *rig) []byte { return (&protocol.Forced{Number: 6}).Append(r.cell(9)) },
	} {
		r := riding(t)
		var told []entity.ID
		r.c.cfg.Events.RideChanged = func(e *Replica) {
			if e == r.c.Player() {
				told = append(told, e.Vehicle())
			}
		}
		r.say(boarded.Append(r.cell(8)))
		if r.say(end(r)); r.c.Player().Vehicle() != 0 || !slices.Equal(told, []entity.ID{cart, 0}) {
			t.Errorf("%s: it rides on %v, and was told %v", what, r.c.Player().Vehicle(), told)
		}
	}
}

// Riders of what this client drives, and of its own entity, go along.
func TestRideOnOwn(t *testing.T) {
	r := riding(t)
	m := protocol.Controlled{ID: cart, Control: true, Incarnation: 3, Number: 7, Position: property.Vector3{X: 11}}
	r.say(m.Append(r.cell(8)))
	r.wantAt(foe, 11, 2)
	if err := r.c.Entity(cart).SetPosition(property.Vector3{X: 14}, property.Vector3{}); err != nil {
		t.Fatal(err)
	}
	r.wantAt(foe, 14, 2)
	r.say(rideOf(foe, me, property.Vector3{Y: 1}).Append(r.cell(9)))
	if err := r.c.SetPosition(property.Vector3{X: 2}, property.Vector3{}); err != nil {
		t.Fatal(err)
	}
	r.wantAt(foe, 2, 0)
}

// Through a transition all who ride on a companion come along, also who rides on one of those.
func TestTransitOfVehicle(t *testing.T) {
	r := riding(t)
	const ship = cart + 1
	r.say(r.enter(ship, 10).Append(r.cell(8)))
	r.say(rideOf(cart, ship, property.Vector3{Z: 1}).Append(r.cell(9)))
	r.wantAt(foe, 10, 3)
	m := protocol.Transit{Offset: property.Vector3{X: 100}, Companions: []entity.ID{ship}}
	r.say(r.cellPlayer().Append(m.Append(r.cell(10))))
	r.wantAt(ship, 110, 0)
	r.wantAt(cart, 110, 1)
	r.wantAt(foe, 110, 3)
}

// fullShip is a vehicle with so many riders.
func fullShip(riders int) (c *Client, ship *Replica) {
	c = new(Client)
	ship = &Replica{ID: 1, client: c}
	c.entities.put(ship)
	for i := range riders {
		r := &Replica{ID: entity.ID(2 + i), client: c}
		c.entities.put(r)
		c.board(r, ship.ID, presence.Spot{})
	}
	return c, ship
}

// When a full vehicle moves, its riders are listed once, and not again for each of them.
func TestFullVehicle(t *testing.T) {
	const riders = 100
	c, ship := fullShip(riders)
	allocated := testing.AllocsPerRun(10, func() {
		ship.Position.X++
		c.carry(ship, 0)
	})
	if at := c.Entity(1 + riders).Position; at != ship.Position || allocated > 1 {
		t.Errorf("the last is at %v, with %g allocations", at, allocated)
	}
}

func BenchmarkCarry(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, ship := fullShip(n)
			b.ReportAllocs()
			for b.Loop() {
				ship.Position.X++
				c.carry(ship, 0)
			}
		})
	}
}

// Two that swap, the rider and its vehicle, are not moved away by each other until the client has been told
// of both.
func TestRidesAreSwapped(t *testing.T) {
	r := riding(t)
	var told []string
	r.c.cfg.Events.RideChanged = func(e *Replica) { told = append(told, fmt.Sprintf("%v on %v at %v", e.ID, e.Vehicle(), e.Position)) }
	r.say(rideOf(cart, foe, property.Vector3{Z: 1}).Append(r.cell(8)))
	r.wantAt(foe, 10, 2)
	r.wantAt(cart, 10, 3)
	off := rideOf(foe, 0, property.Vector3{X: 11, Z: 2})
	r.say(off.Append(r.cell(9)))
	r.wantAt(cart, 11, 3)
	if want := []string{"1.7 on 0.0 at {10 0 2}", "1.8 on 1.7 at {10 0 3}"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	told = nil
	r.say(rideOf(foe, me, property.Vector3{Z: 1}).Append(r.cell(10)))
	mounted := protocol.Forced{Number: 5, Control: true, Vehicle: cart, Position: property.Vector3{Y: 1}}
	at := r.c.Entity(cart).Position
	if r.say(mounted.Append(r.cell(11))); r.c.Entity(cart).Position != at || r.c.Player().Position != (property.Vector3{X: at.X, Y: 1, Z: at.Z}) {
		t.Errorf("the player is at %v on what was at %v and is at %v: %q", r.c.Player().Position, at, r.c.Entity(cart).Position, told)
	}
}

// What has not changed is not told as a change.
func TestRideIsToldAgain(t *testing.T) {
	r := riding(t)
	r.c.cfg.Events.RideChanged = func(e *Replica) { t.Errorf("told of %v", e.ID) }
	r.say(r.enter(cart, 12).Append(protocol.AppendLeave(r.cell(8), cart)))
	r.say(rideOf(foe, cart, property.Vector3{Z: 2}).Append(r.cell(9)))
	r.wantAt(foe, 12, 2)
}

// Who has got off is driven again. The word on that comes before the one that it is off, in one bundle.
func TestControlAfterRide(t *testing.T) {
	r := riding(t)
	changed := 0
	r.c.cfg.Events.RideChanged = func(*Replica) { changed++ }
	e := r.c.Entity(foe)
	m := protocol.Controlled{ID: foe, Control: true, Incarnation: 3, Number: 7, Position: property.Vector3{X: 10, Z: 2}}
	off := rideOf(foe, 0, property.Vector3{X: 10, Z: 2})
	r.say(off.Append(place(cart, 12).AppendRest(m.Append(r.cell(8)))))
	if !e.Controls() || e.Vehicle() != 0 || changed != 1 {
		t.Fatalf("controls %t, on %v, %d changes", e.Controls(), e.Vehicle(), changed)
	}
	r.wantAt(foe, 10, 2)
	if err := e.SetPosition(property.Vector3{X: 15}, property.Vector3{}); err != nil {
		t.Fatal(err)
	}
	r.say(rideOf(foe, cart, property.Vector3{Z: 1}).Append((&protocol.Controlled{ID: foe}).Append(r.cell(9))))
	r.wantAt(foe, 12, 1)
	if e.Controls() || e.Vehicle() != cart || changed != 2 {
		t.Errorf("controls %t, on %v, %d changes", e.Controls(), e.Vehicle(), changed)
	}
}

// Drawn between two places of the vehicle, its riders are on it.
func TestRiderIsShown(t *testing.T) {
	r := riding(t)
	f := &Raw{position: property.Vector3{X: 99}}
	r.c.Entity(cart).extend().filter = f
	if at, _ := r.c.Entity(foe).Shown(r.now); at != (property.Vector3{X: 99, Z: 2}) {
		t.Errorf("it is shown at %v", at)
	}
}

// What no server says ends the session, or at least does no harm: rides on oneself, and in a ring.
func TestImpossibleRides(t *testing.T) {
	r := riding(t)
	r.say(rideOf(cart, foe, property.Vector3{X: 1}).Append(r.cell(8)))
	r.whisper(packet(8, 1, place(cart, 12)))
	r.whisper(packet(8, 2, place(foe, 12)))
	if r.c.State() != Playing {
		t.Errorf("a ring ends the session: %v", r.c.Err())
	}
	r.say(rideOf(foe, foe, property.Vector3{X: 1}).Append(r.cell(9)))
	r.wantMalformed()
	r = riding(t)
	m := protocol.Forced{Number: 5, Vehicle: me}
	r.say(m.Append(r.cell(8)))
	r.wantMalformed()
}
