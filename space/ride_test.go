package space

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// board puts an entity on another one.
func (r *rig) board(id, vehicle entity.ID, seat property.Vector3) {
	r.t.Helper()
	if err := r.real(id).Board(vehicle, seat, property.Vector3{}); err != nil {
		r.t.Fatal(err)
	}
}

// rides demands that one is where its seat is, as far as its own cell knows.
func (r *rig) rides(id, vehicle entity.ID) {
	r.t.Helper()
	p := r.real(id)
	v := p.cell.on(vehicle)
	if p.Vehicle() != vehicle || v == nil {
		r.t.Fatalf("%v rides on %v, want %v", id, p.Vehicle(), vehicle)
	}
	if want := p.e.Ride.Seat.On(v.e.Spot()); p.e.Spot() != want {
		r.t.Errorf("%v is at %v, want %v", id, p.e.Spot(), want)
	}
}

// Whoever rides goes where the vehicle goes, and turns with it.
func TestBoard(t *testing.T) {
	r := newRig(t, 1)
	cart, mule := r.spawn(-50), r.spawn(-45)
	if err := mule.Board(cart.ID(), property.Vector3{Z: 3}, property.Vector3{X: 1}); err != nil {
		t.Fatal(err)
	}
	if at := mule.Position(); at != (property.Vector3{X: -50, Z: 3}) || mule.Direction().X != 1 {
		t.Fatalf("it is at %v, %v as soon as it is aboard", at, mule.Direction())
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(cart.SetDirection(property.Vector3{X: math.Pi / 2}))
	r.put(cart, -20)
	r.tick(1)
	r.rides(mule.ID(), cart.ID())
	if at := mule.Position(); math.Abs(float64(at.X+17)) > 1e-4 || math.Abs(float64(at.Z)) > 1e-4 {
		t.Errorf("it is at %v", at)
	}
	must(mule.SetPosition(property.Vector3{X: -20, Z: 2})) // to the left of who looks east
	if seat, _ := mule.Seat(); math.Abs(float64(seat.X+2)) > 1e-4 || mule.Vehicle() != cart.ID() {
		t.Errorf("put on the left side, its seat is %v", seat)
	}
	stamp := mule.e.Ride.Stamp
	r.tick(5)
	if mule.e.Ride.Stamp != stamp {
		t.Error("its seat changes by itself")
	}
	mule.Alight()
	r.put(cart, 0)
	r.tick(1)
	if at := mule.Position(); at.X != -20 || mule.Vehicle() != 0 {
		t.Errorf("off it, it is at %v on %v", at, mule.Vehicle())
	}
	must(mule.Board(cart.ID(), property.Vector3{}, property.Vector3{}))
	r.put(mule, -90)
	if mule.Vehicle() != 0 || !strings.HasSuffix(mule.Diary.Get(), fmt.Sprintf("off %d;", cart.ID())) {
		t.Errorf("put far away, it is on %v: %s", mule.Vehicle(), mule.Diary.Get())
	}
	if _, err := mule.MoveTo(property.Vector3{X: 90}, 5, "", 0); err != nil {
		t.Fatal(err)
	}
	r.put(mule, 1)
	must(mule.Board(cart.ID(), property.Vector3{}, property.Vector3{}))
	if r.tick(5); mule.Position() != cart.Position() || len(mule.controllers.list) != 0 {
		t.Errorf("it walks off the cart, to %v", mule.Position())
	}
	mule.Alight()
	if list := r.apps[0].cell.Cell.riders; len(list) != 0 {
		t.Errorf("%d are still listed", len(list))
	}
}

func TestBoardIsRefused(t *testing.T) {
	r := newRig(t, 1)
	a, b := r.spawn(-50), r.spawn(-45)
	for what, err := range map[string]error{
		"itself": a.Board(a.ID(), property.Vector3{}, property.Vector3{}), "nobody": a.Board(999, property.Vector3{}, property.Vector3{}),
	} {
		if !errors.Is(err, ErrNoVehicle) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, seat := range []property.Vector3{{X: 66}, {Z: -66}, {Y: float32(math.NaN())}} {
		if err := a.Board(b.ID(), seat, property.Vector3{}); err == nil || errors.Is(err, ErrNoVehicle) {
			t.Errorf("seat %v: %v", seat, err)
		}
	}
	r.board(a.ID(), b.ID(), property.Vector3{})
	if err := b.Board(a.ID(), property.Vector3{}, property.Vector3{}); !errors.Is(err, ErrNoVehicle) {
		t.Errorf("on its own passenger: %v", err)
	}
	top := b
	for n := range 9 {
		under := r.spawn(-45)
		err := under.Board(top.ID(), property.Vector3{Y: 1}, property.Vector3{})
		if want := n >= presence.MaxStack; errors.Is(err, ErrNoVehicle) != want {
			t.Errorf("number %d of a tower: %v", n+2, err)
		}
		if err == nil {
			top = under
		}
	}
	r.put(b, -20)
	r.tick(1)
	if at := top.Position(); at.X != -20 || at.Y != presence.MaxStack {
		t.Errorf("who is on top is at %v", at)
	}
	a.Destroy()
	r.tick(1)
	if err := a.Board(b.ID(), property.Vector3{}, property.Vector3{}); !errors.Is(err, entity.ErrGone) {
		t.Errorf("after its end: %v", err)
	}
	a.Alight()
}

// A vehicle takes its passengers over a line: each goes when its own place is beyond it, and waits there for
// the vehicle if that is not known yet.
func TestRideOverLine(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -10, 0)
	r.create(8, -12, 1)
	r.tick(2)
	r.board(8, 7, property.Vector3{X: 4})
	for x := float32(-10); x < 60; x += 2 {
		r.move(7, x)
		r.tick(1)
		if v := r.real(8).Vehicle(); v != 7 {
			t.Fatalf("with the vehicle at %g it rides on %v", x, v)
		}
	}
	r.tick(30)
	r.rides(8, 7)
	if home := r.real(8).cell; home != r.apps[1].cell.Cell || r.real(7).cell != home {
		t.Error("they are not on the other cell")
	}
	r.calm()
	for x := float32(60); x > -60; x -= 5 {
		r.move(7, x)
		r.tick(1)
	}
	r.tick(30)
	r.rides(8, 7)
	r.calm()
	if diary := r.avatar(8).Diary.Get(); strings.Contains(diary, "off") {
		t.Errorf("it was thrown off: %s", diary)
	}
}

// Nobody drives who rides, also after it has gone to another cell.
func TestDrivenRidesOverLine(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -10, 0)
	r.create(8, -12, 0)
	r.create(9, -14, 0)
	r.tick(2)
	r.must(r.real(8).SetControlledBy(9))
	r.board(8, 7, property.Vector3{X: 4})
	for x := float32(-10); x < 60; x += 5 {
		r.move(7, x)
		r.tick(1)
	}
	r.tick(20)
	r.rides(8, 7)
	if p := r.real(8); p.cell != r.apps[1].cell.Cell || p.e.Control.By != 0 {
		t.Errorf("on the other cell: %t; driven by %v", p.cell == r.apps[1].cell.Cell, p.e.Control.By)
	}
	r.real(8).Alight()
	if by := r.real(8).e.Control.By; by != 9 {
		t.Errorf("off the vehicle it is driven by %v", by)
	}
	r.calm()
}

// A passenger that comes back from its backup waits for the vehicle, and is off it if that does not come.
func TestPassengerIsRestored(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.create(8, -55, 1)
	r.tick(1)
	r.board(8, 7, property.Vector3{Z: 4})
	parts := r.backUp(8).Parts
	r.restore(8, -55, parts, 0)
	r.tick(2)
	r.rides(8, 7)
	r.diary(8, "created;client true;restored;client true;")

	r.real(7).depart(lost, "as with its CellApp")
	r.tick(int(VehiclePatience/tickPeriod) - 5)
	if v := r.real(8).Vehicle(); v != 7 {
		t.Fatalf("it rides on %v while it waits", v)
	}
	r.tick(10)
	if v := r.real(8).Vehicle(); v != 0 {
		t.Fatalf("it rides on %v after its patience", v)
	}
	r.diary(8, "created;client true;restored;client true;off 7;")
}

// Who walks about on a vehicle stands still while it waits for that, and goes on when it is back.
func TestWalkerWaitsForVehicle(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.create(8, -55, 1)
	r.tick(1)
	r.board(8, 7, property.Vector3{Z: 4})
	if _, err := r.real(8).MoveTo(property.Vector3{X: -50, Z: 8}, 1, "", 0); err != nil {
		t.Fatal(err)
	}
	parts := r.backUp(7).Parts
	r.tick(5)
	at := r.real(8).Position()
	r.real(7).depart(lost, "as with its CellApp")
	r.tick(20)
	if p := r.real(8); p.Vehicle() != 7 || p.Position() != at {
		t.Fatalf("it rides on %v, and is at %v instead of %v", p.Vehicle(), p.Position(), at)
	}
	r.restore(7, -50, parts, 0)
	r.tick(50)
	if p := r.real(8); p.Vehicle() != 7 || p.Position() != (property.Vector3{X: -50, Z: 8}) {
		t.Errorf("it rides on %v, and is at %v", p.Vehicle(), p.Position())
	}
	r.rides(8, 7)
}

// The end of a vehicle throws its passengers off at once, also those on other cells.
func TestVehicleIsDestroyed(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -10, 0)
	r.create(8, -12, 0)
	r.create(9, 20, 0)
	r.tick(10)
	r.board(8, 7, property.Vector3{X: 1})
	r.board(9, 7, property.Vector3{X: 40})
	r.tick(2)
	r.rides(9, 7)
	if r.real(9).cell == r.real(7).cell {
		t.Fatal("all are on one cell")
	}
	r.real(7).Destroy()
	r.tick(2)
	for id := entity.ID(8); id <= 9; id++ {
		if v := r.real(id).Vehicle(); v != 0 || !strings.HasSuffix(r.avatar(id).Diary.Get(), "off 7;") {
			t.Errorf("%v rides on %v: %s", id, v, r.avatar(id).Diary.Get())
		}
	}
}

// A vehicle that has no base and whose script panics is not brought back: nobody waits for it.
func TestVehicleIsLost(t *testing.T) {
	r := newRig(t, 2)
	cart := r.spawn(-10).ID()
	r.create(8, -12, 0)
	r.create(9, 20, 0)
	r.tick(10)
	r.board(8, cart, property.Vector3{X: 1})
	r.board(9, cart, property.Vector3{X: 40})
	r.tick(2)
	r.rides(9, cart)
	r.real(cart).depart(lost, "its script panicked")
	r.tick(2)
	for id := entity.ID(8); id <= 9; id++ {
		if v := r.real(id).Vehicle(); v != 0 || !strings.HasSuffix(r.avatar(id).Diary.Get(), fmt.Sprintf("off %d;", cart)) {
			t.Errorf("%v rides on %v: %s", id, v, r.avatar(id).Diary.Get())
		}
	}
}

// Two that board each other at the same time, on two cells, get off again.
func TestBoardEachOther(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -10, 0)
	r.create(8, 10, 0)
	r.tick(10)
	r.board(7, 8, property.Vector3{X: -20})
	r.board(8, 7, property.Vector3{X: 20})
	r.tick(5)
	for id := entity.ID(7); id <= 8; id++ {
		if v := r.real(id).Vehicle(); v != 0 {
			t.Errorf("%v rides on %v", id, v)
		}
	}
	r.calm()
}

// Teleported alone, a passenger leaves its vehicle; together with it, it stays aboard.
func TestPassengerIsTeleported(t *testing.T) {
	r := newRig(t, 2)
	r.create(7, -50, 0)
	r.create(8, -55, 1)
	r.tick(1)
	for _, to := range []float32{-90, 80, -30} { // on its cell, on another one, and back
		r.board(8, 7, property.Vector3{Z: 4})
		if err := r.real(7).TeleportTogether(entity.Destination{Space: 1, Position: property.Vector3{X: to}}, 0, 8); err != nil {
			t.Fatal(err)
		}
		r.tick(40)
		r.rides(8, 7)
		if at := r.real(8).Position(); at != (property.Vector3{X: to, Z: 4}) {
			t.Errorf("it is at %v", at)
		}
	}
	if err := r.real(8).Teleport(entity.Destination{Space: 1, Position: property.Vector3{X: -31}}, 0); err != nil {
		t.Fatal(err)
	}
	r.tick(10)
	if v := r.real(8).Vehicle(); v != 0 {
		t.Errorf("teleported alone, it is on %v", v)
	}
	if diary := r.avatar(8).Diary.Get(); strings.Contains(diary, "off") {
		t.Errorf("it was thrown off: %s", diary)
	}
	r.calm()
}

// A player's client knows its entity from the vehicle once it has been shown that, and moves on it then.
func TestClientAboard(t *testing.T) {
	r := newRig(t, 1)
	p := r.newClient(8, -50)
	r.create(7, -45, 0)
	r.tick(3)
	boat := func(x float32) { r.move(7, x); r.tick(1) }
	if err := r.real(8).SetTopSpeed(10, 0); err != nil {
		t.Fatal(err)
	}
	r.board(8, 7, property.Vector3{Z: 1})
	if p.say(x(-49)) {
		t.Error("a move in the world counts on the vehicle")
	}
	r.tick(2)
	p.hear()
	if p.vehicle != 7 || p.at != (property.Vector3{Z: 1}) || !p.control {
		t.Fatalf("the client is told %+v", p)
	}
	boat(-40)
	p.say(property.Vector3{Z: 1.5})
	r.rides(8, 7)
	if at := r.real(8).Position(); at != (property.Vector3{X: -40, Z: 1.5}) {
		t.Errorf("it is at %v", at)
	}
	if got := r.real(8).steering.untold; got {
		t.Error("an honest step is corrected")
	}
	told := p.told
	for x := float32(-40); x < -20; x += 2 {
		boat(x)
	}
	p.hear()
	if p.told != told {
		t.Errorf("the client was told %d times where the vehicle took it", p.told-told)
	}
	p.say(property.Vector3{Z: 60})
	r.tick(1)
	p.hear()
	if p.at != (property.Vector3{Z: 1.5}) || p.vehicle != 7 {
		t.Errorf("a jump along the deck brings the client to %v", p.at)
	}
	r.tick(50)
	r.avatar(8).moving = func(from, to property.Vector3) (property.Vector3, bool) {
		if from != (property.Vector3{X: -22, Z: 1.5}) || to != (property.Vector3{X: -22, Z: 2}) {
			t.Errorf("the game is asked about %v to %v", from, to)
		}
		return property.Vector3{X: -22, Z: 1.75}, true
	}
	p.say(property.Vector3{Z: 2})
	r.tick(1)
	p.hear()
	if p.at != (property.Vector3{Z: 1.75}) {
		t.Errorf("where the game wants it, the client is at %v", p.at)
	}
	r.real(8).Alight()
	r.tick(1)
	p.hear()
	if p.vehicle != 0 || p.at != (property.Vector3{X: -22, Z: 1.75}) || !p.control {
		t.Errorf("off the vehicle, the client is told %+v", p)
	}
	r.avatar(8).moving = nil
	if !p.say(property.Vector3{X: -22, Z: 2}) {
		t.Error("it cannot walk ashore")
	}
	r.calm()
}

// The game is asked about the way on the vehicle alone, also if that has moved since the last tick, and who is
// told to stay keeps its seat.
func TestWayAboard(t *testing.T) {
	r := newRig(t, 1)
	p := r.newClient(8, -50)
	r.create(7, -45, 0)
	r.tick(3)
	r.board(8, 7, property.Vector3{Z: 1})
	r.tick(2)
	p.hear()
	r.avatar(8).moving = func(from, to property.Vector3) (property.Vector3, bool) {
		if from != (property.Vector3{X: -40, Z: 1}) || to != (property.Vector3{X: -40, Z: 2}) {
			t.Errorf("the game is asked about %v to %v", from, to)
		}
		return from, true
	}
	r.move(7, -40)
	p.say(property.Vector3{Z: 2})
	if seat, _ := r.real(8).Seat(); seat != (property.Vector3{Z: 1}) {
		t.Errorf("told to stay, it sits at %v", seat)
	}
	r.tick(1)
	r.rides(8, 7)
	r.calm()
}

// Who walks about on a vehicle that moves goes along with it, whichever of the two was made first.
func TestWalkAboard(t *testing.T) {
	r := newRig(t, 1)
	for _, ids := range [][2]entity.ID{{7, 8}, {10, 9}} {
		boat, cook := ids[0], ids[1]
		r.create(boat, -80, 0)
		r.create(cook, -80, 0)
		r.must(r.real(boat).SetDirection(property.Vector3{X: math.Pi / 2}))
		r.board(cook, boat, property.Vector3{Z: -20})
		r.tick(1)
		if _, err := r.real(boat).MoveTo(property.Vector3{X: 80}, 20, "", 0); err != nil {
			t.Fatal(err)
		}
		if _, err := r.real(cook).MoveToEntity(boat, 5, 10, "", 0); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			r.tick(1)
			if seat, _ := r.real(cook).Seat(); seat.Z < -20 {
				t.Fatalf("%v falls back to the seat %v on %v", cook, seat, boat)
			}
		}
		if seat, _ := r.real(cook).Seat(); math.Abs(float64(seat.Z+5)) > 2.01 {
			t.Errorf("%v has come to the seat %v on %v", cook, seat, boat)
		}
	}
}

// Two who ride on one vehicle are as far from each other for a chase as their seats are, however fast it goes.
func TestChaseAboard(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -80, 0)
	r.create(8, -80, 0)
	r.create(9, -80, 0)
	r.board(8, 7, property.Vector3{Z: -9})
	r.board(9, 7, property.Vector3{Z: 9})
	r.must(r.real(7).SetDirection(property.Vector3{X: math.Pi / 2}))
	if _, err := r.real(7).MoveTo(property.Vector3{X: 80}, 20, "", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.real(8).MoveToEntity(9, 5, 10, "", 0); err != nil {
		t.Fatal(err)
	}
	r.tick(25)
	if off := property.Distance(r.real(8).Position(), r.real(9).Position()); math.Abs(float64(off-5)) > 0.01 {
		t.Errorf("it has come to within %g m", off)
	}
}

// Turned by its script between two ticks, a passenger keeps its seat on a vehicle that moves meanwhile.
func TestTurnAboard(t *testing.T) {
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.create(8, -55, 0)
	r.create(9, -55, 0)
	r.tick(1)
	r.board(8, 7, property.Vector3{Z: 4})
	r.board(9, 8, property.Vector3{Z: 1})
	r.tick(1)
	r.move(7, -40)
	r.must(r.real(9).SetDirection(property.Vector3{X: 1}))
	r.must(r.real(8).SetDirection(property.Vector3{}))
	for id, want := range map[entity.ID]property.Vector3{8: {Z: 4}, 9: {Z: 1}} {
		if seat, _ := r.real(id).Seat(); seat != want {
			t.Errorf("%v sits at %v, want %v", id, seat, want)
		}
	}
}

// A client that is not shown the vehicle is moved by the server.
func TestUnseenVehicle(t *testing.T) {
	r := newRig(t, 1)
	p := r.newClient(8, -50)
	r.create(7, -45, 0)
	r.real(7).SetWithheld(true)
	r.tick(3)
	r.board(8, 7, property.Vector3{Z: 1})
	for x := float32(-45); x < -20; x++ {
		r.move(7, x)
		r.tick(1)
	}
	r.tick(5)
	p.hear()
	if p.vehicle != 0 || p.control || p.at != (property.Vector3{X: -21, Z: 1}) || p.told < 5 {
		t.Errorf("the client is told %+v", p)
	}
	r.real(7).SetWithheld(false)
	r.tick(5)
	if p.hear(); p.vehicle != 7 || !p.control {
		t.Errorf("shown the vehicle, the client is told %+v", p)
	}
	r.calm()
}

// Other clients are told of a ride once, and of no place as long as it lasts and they have the vehicle.
func TestRideIsSeen(t *testing.T) {
	r := newRig(t, 1)
	r.create(6, -40, 1)
	r.create(7, -45, 0)
	r.create(8, -50, 0)
	r.tick(20)
	told := func() (rides []protocol.Ride, places int) {
		list, bodies := r.bundles(6)
		for i, id := range list {
			var m protocol.Ride
			if id == protocol.RideID {
				r.must(m.Parse(bodies[i]))
				rides = append(rides, m)
			}
		}
		for _, p := range r.places[6] {
			r.must(protocol.Positions(p, func(*protocol.PacketHead, *protocol.Moved) { places++ }))
		}
		r.bases[6].got = nil
		delete(r.places, 6)
		return rides, places
	}
	told()
	r.board(8, 7, property.Vector3{Z: 2})
	r.tick(1)
	rides, _ := told()
	if want := (protocol.Ride{Vehicle: 7, Place: protocol.Place{ID: 8, Position: property.Vector3{Z: 2}}}); len(rides) != 1 || rides[0] != want {
		t.Fatalf("it is told %+v", rides)
	}
	const steps = 20
	for x := range steps {
		r.move(7, -45+float32(x))
		r.tick(1)
	}
	if rides, places := told(); len(rides) != 0 || places != steps-1 {
		t.Errorf("told of %d rides and %d places of the vehicle's %d", len(rides), places, steps-1)
	}
	r.tick(20)
	r.calm()
	told()
	r.real(7).SetWithheld(true) // the client loses sight of it, and the passenger's places are told again
	r.tick(2)
	if rides, _ := told(); len(rides) != 1 || rides[0].Vehicle != 0 || rides[0].Position != r.real(8).Position() {
		t.Errorf("without the vehicle it is told %+v", rides)
	}
	r.move(7, -60)
	r.tick(3)
	if _, places := told(); places == 0 {
		t.Error("its places are not told")
	}
	r.real(7).SetWithheld(false)
	r.tick(3)
	if rides, _ := told(); len(rides) != 1 || rides[0].Vehicle != 7 {
		t.Errorf("with the vehicle again it is told %+v", rides)
	}
	r.real(8).Alight()
	r.tick(1)
	if rides, _ := told(); len(rides) != 1 || rides[0].Vehicle != 0 || rides[0].Position != r.real(8).Position() {
		t.Errorf("of its end it is told %+v", rides)
	}
	r.calm()
}

// What a ride is survives its encodings; a ride on nobody does not.
func TestRideTravels(t *testing.T) {
	seat := presence.Spot{Position: property.Vector3{X: 1, Y: 2, Z: 3}, Direction: property.Vector3{X: 1}}
	r := newRig(t, 1)
	r.create(7, -50, 0)
	r.create(8, -50, 0)
	if err := r.real(8).Board(7, seat.Position, seat.Direction); err != nil {
		t.Fatal(err)
	}
	parts := r.real(8).packed(false)
	if err := r.real(7).readParts(parts, true); err == nil || !strings.Contains(err.Error(), "ride") {
		t.Errorf("a vehicle that rides on itself: %v", err)
	}
	if got := r.real(8).e.Ride; got != (presence.Ride{Vehicle: 7, Stamp: 1, Since: 1, Seat: seat}) {
		t.Errorf("the ride is %+v", got)
	}
}
