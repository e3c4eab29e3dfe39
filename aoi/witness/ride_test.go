package witness

import (
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
