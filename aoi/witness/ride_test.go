package witness

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/property"
)

// What the watcher rides on is told in each Update, however far away it is and however many compete; so is
// what carries that.
func TestVehiclesFirst(t *testing.T) {
	const n, ticks = 600, 50
	wd := crowd(t, Config{BytesPerTick: 250}, n, 0.2)
	ship, crane := wd.all[n-1], wd.all[n-2]
	if served, _ := wd.turns(ticks); served[n-1] > ticks/5 {
		t.Fatalf("who is far away is told %d times in %d Updates by itself", served[n-1], ticks)
	}
	wd.watcher.Ride = presence.Ride{Vehicle: crane.ID, Stamp: 1}
	crane.Ride = presence.Ride{Vehicle: ship.ID, Stamp: 1}
	wd.w.Update(wd.watcher, wd.tick, nil, false)
	wd.tick++
	served, _ := wd.turns(ticks)
	if served[n-1] != ticks {
		t.Errorf("the ship is told %d times in %d Updates", served[n-1], ticks)
	}
	if i, known := wd.w.find(crane.ID); !known || !wd.w.entries[i].aboard() {
		t.Error("the crane's seat is not told")
	}
}

// A ring of vehicles, which cells end, does not keep a witness busy.
func TestVehicleRing(t *testing.T) {
	wd := crowd(t, Config{BytesPerTick: 250}, 300, 0.2)
	a, b := wd.all[290], wd.all[291]
	a.Ride, b.Ride = presence.Ride{Vehicle: b.ID, Stamp: 1}, presence.Ride{Vehicle: a.ID, Stamp: 1}
	wd.watcher.Ride = presence.Ride{Vehicle: a.ID, Stamp: 1}
	wd.turns(5)
}

// Whoever rides on the next cell, too, is not told of again; and one whose copy there is behind is not told
// old news.
func TestRideGoesToNextCell(t *testing.T) {
	wd := crowd(t, Config{}, 3, 5)
	rider, cart := wd.all[0], wd.all[1]
	rider.Ride = presence.Ride{Vehicle: cart.ID, Stamp: 3, Seat: presence.Spot{Position: property.Vector3{X: 1}}}
	wd.w.Update(wd.watcher, wd.tick, nil, true)
	state := wd.w.Append(nil)
	for name, c := range map[string]struct {
		ride presence.Ride
		told bool
	}{
		"the same":   {rider.Ride, false},
		"older":      {presence.Ride{Vehicle: cart.ID, Stamp: 2}, false},
		"it is over": {presence.Ride{Stamp: 4}, true},
	} {
		next := New(Config{})
		r := codec.NewReader(state)
		if next.Read(&r); r.Close() != nil {
			t.Fatal(r.Err())
		}
		for _, e := range wd.all {
			copied := *e
			if e == rider {
				copied.Ride = c.ride
			}
			next.Enter(&Subject{Entity: &copied})
		}
		if bundle, _ := next.Update(wd.watcher, wd.tick+1, nil, true); (len(bundle) > 0) != c.told {
			t.Errorf("%s: the client is told %d bytes", name, len(bundle))
		}
		if i, _ := next.find(entity.ID(1)); next.entries[i].aboard() == c.told {
			t.Errorf("%s: aboard %t", name, !c.told)
		}
		if n := next.Pending(wd.watcher); n != 0 {
			t.Errorf("%s: %d are pending", name, n)
		}
	}
}

// ships are how many of a world carry others.
const ships = 2

// ride has others get on a ship, walk about there, jump, or get off, and the ships go with all who are on them.
func (wd *world) ride() {
	for _, e := range wd.all[ships:] {
		switch k := wd.rng.IntN(40); {
		case k == 0 && e.Ride.Vehicle != 0:
			wd.board(e, 0, presence.Spot{})
		case k == 1:
			wd.board(e, wd.all[wd.rng.IntN(ships)].ID, wd.bench())
		case k == 2 && e.Ride.Vehicle != 0:
			wd.sit(e, wd.bench())
		case k < 30 && e.Ride.Vehicle != 0:
			seat := e.Ride.Seat
			seat.Position.X += (wd.rng.Float32() - 0.5)
			if k < 5 {
				seat.Position.Y += wd.rng.Float32() / 4
				seat.Direction.X = wd.rng.Float32()
			}
			wd.sit(e, seat)
		}
	}
	for _, e := range wd.all[ships:] {
		if ship := wd.shipOf(e); ship != nil {
			at := e.Ride.Seat.On(ship.Spot())
			e.MoveTo(wd.tick, at.Position, at.Direction)
		}
	}
}

func (wd *world) bench() presence.Spot {
	return presence.Spot{Position: property.Vector3{X: wd.rng.Float32()*40 - 20, Z: wd.rng.Float32()*200 - 100}}
}

func (wd *world) board(e *presence.Entity, ship entity.ID, seat presence.Spot) {
	e.Ride = presence.Ride{Vehicle: ship, Stamp: e.Ride.Stamp + 1, Since: e.Ride.Stamp + 1, Seat: seat}
}

func (wd *world) sit(e *presence.Entity, seat presence.Spot) {
	e.Ride.Seat = seat
	e.Ride.Stamp++
}

func (wd *world) shipOf(e *presence.Entity) *presence.Entity {
	if e.Ride.Vehicle == 0 {
		return nil
	}
	return wd.all[e.Ride.Vehicle-1]
}

// Promise 5 for those who ride: whatever is lost, late or out of order, whoever gets on and off, walks about
// there, comes and goes, and whatever cell the watcher is on.
func TestRidersConverge(t *testing.T) {
	shifts := 0
	for _, budget := range []int{60, 300, 2000} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("budget %d seed %d", budget, seed), func(t *testing.T) {
				wd := newWorld(t, Config{BytesPerTick: budget, MaxRadius: aoiRadius}, seed, 30)
				for round := range 4 {
					wd.behind = round%2 == 1
					for range 60 {
						wd.actAbout()
						wd.ride()
						wd.interest()
						wd.update(wd.rng.IntN(50) == 0)
						if round > 0 && wd.rng.IntN(25) == 0 {
							wd.handoff()
						}
					}
					wd.interest()
					wd.settle(2000)
				}
				shifts += wd.client.shifts
			})
		}
	}
	if shifts < 2000 {
		t.Errorf("%d seats were told in packets", shifts)
	}
}

// Who walks about on a ship under way takes a few bytes for each step, as on land, and all steps arrive.
func TestSeatsAreSmall(t *testing.T) {
	const riders, ticks = 60, 100
	wd := newWorld(t, Config{}, 1, ships+riders)
	for i, e := range wd.all {
		e.MoveTo(wd.tick, property.Vector3{X: float32(i % 8), Z: float32(i)}, property.Vector3{})
	}
	for _, e := range wd.all[ships:] {
		wd.board(e, 1, wd.bench())
		wd.sit(e, presence.Spot{Position: property.Vector3{X: float32(e.ID % 8), Z: float32(e.ID)}})
	}
	wd.interestIn(1000)
	step := func() (bytes int) {
		ship := wd.all[0]
		ship.MoveTo(wd.tick, property.Vector3{X: ship.Position.X + 1, Z: 3}, property.Vector3{X: ship.Direction.X + 0.01})
		for _, e := range wd.all[ships:] {
			seat := e.Ride.Seat
			seat.Position.X += float32(wd.tick%2) - 0.4
			wd.sit(e, seat)
			at := seat.On(ship.Spot())
			e.MoveTo(wd.tick, at.Position, at.Direction)
		}
		wd.watcher.Position = ship.Position
		if bytes = wd.deliver(); wd.tick > 120 && len(wd.client.log) > 0 {
			t.Fatalf("tick %d: the client is told %q reliably", wd.tick, wd.client.log)
		}
		for _, e := range wd.all[ships:] {
			if wd.tick <= 120 {
				break
			}
			if far := property.Distance(wd.client.has[e.ID].ride.Seat.Position, e.Ride.Seat.Position); far > 0.03 {
				t.Fatalf("tick %d: %v is %v m off its seat", wd.tick, e.ID, far)
			}
		}
		return bytes
	}
	for range 22 {
		step()
	}
	bytes := 0
	for range ticks {
		bytes += step()
	}
	if each := float64(bytes) / ticks / riders; each > 5.5 {
		t.Errorf("a step on a ship takes %.1f bytes", each)
	} else {
		t.Logf("a step on a ship takes %.1f bytes", each)
	}
}
