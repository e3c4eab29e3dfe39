package witness

import (
	"math"
	"testing"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// volatileScene is a watcher who has met one entity of a type with volatile distances, which stands at x.
func volatileScene(t *testing.T, v property.Volatile, detailed bool, x float32) (*world, *presence.Entity) {
	d := testDefinition(t)
	d.Volatile, d.DetailedVolatile = v, detailed
	wd := newWorldOf(t, d, Config{}, 1, 0)
	e := newEntity(d, 7, 1, x, 0)
	wd.all, wd.within[7] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	wd.deliver()
	return wd, e
}

// deliver makes the messages of a tick, all of which the client gets and tells of, and returns how many
// bytes of places there were.
func (wd *world) deliver() int {
	b, packets := wd.w.Update(wd.watcher, wd.tick, nil, false)
	wd.tick++
	wd.client.made(packets, wd.all)
	wd.client.bundle(b)
	for _, p := range packets {
		wd.client.packet(p)
	}
	wd.client.seen.Bundle = wd.client.number
	wd.w.Saw(&wd.client.seen)
	return total(packets)
}

// On the way an entity is told of up to its volatile distance. Where it comes to rest is told at any.
func TestPlacesOnTheWayReachAsFarAsDefined(t *testing.T) {
	for _, c := range []struct {
		v    property.Volatile
		x    float32
		want bool
	}{
		{property.Volatile{}, 100, true},
		{property.Volatile{Position: property.Always()}, 100, true},
		{property.Volatile{Position: 50}, 45, true},
		{property.Volatile{Position: 50}, 60, false},
		{property.Volatile{Yaw: 50}, 10, false},
	} {
		wd, e := volatileScene(t, c.v, false, c.x)
		for i := range 5 {
			e.MoveTo(wd.tick, property.Vector3{X: c.x, Z: float32(i) / 2}, property.Vector3{})
			if told := wd.deliver() > 0; told != c.want && i > 0 {
				t.Errorf("%+v at %v m: told of on the way: %v", c.v, c.x, told)
			}
		}
		wd.settle(RestTicks + 2)
	}
}

// Far away the direction is left out, and who comes nearer is told it although the entity did not turn
// again.
func TestDirectionReachesAsFarAsDefined(t *testing.T) {
	wd, e := volatileScene(t, property.Volatile{Position: property.Always(), Yaw: 50, Pitch: 20}, false, 100)
	step := func(i int, d property.Vector3) int {
		e.MoveTo(wd.tick, property.Vector3{X: 100, Z: float32(i%2) / 2}, d)
		return wd.deliver()
	}
	for i := range 5 {
		step(i, property.Vector3{})
	}
	still := step(5, property.Vector3{})
	turned := property.Vector3{X: 1, Y: 1}
	for i := range 5 {
		if n := step(i, turned); n != still {
			t.Errorf("a place takes %d bytes when the entity turns far away, %d before", n, still)
		}
	}
	held := wd.client.has[7].place
	if held.Direction != (property.Vector3{}) {
		t.Errorf("far away the client was told of a turn: %v", held.Direction)
	}
	wd.watcher.Position.X = 90
	for i := range 3 {
		step(i, turned)
	}
	held = wd.client.has[7].place
	if math.Abs(float64(held.Direction.X-1)) > 0.02 || math.Abs(float64(held.Direction.Y-1)) > 0.02 {
		t.Errorf("near by the client has %v, want %v", held.Direction, turned)
	}
}

// A type that asks for it is told of exactly while it moves.
func TestDetailedPlacesAreExact(t *testing.T) {
	wd, e := volatileScene(t, property.Volatile{}, true, 30)
	for i := range 5 {
		at := property.Vector3{X: 30.0123, Y: 0.0077, Z: float32(i) / 3}
		e.MoveTo(wd.tick, at, property.Vector3{X: 0.123, Y: 0.2, Z: 0.3})
		if wd.deliver(); wd.client.has[7].place.Position != at || wd.client.has[7].place.Direction != e.Direction {
			t.Fatalf("the client has %v facing %v, the entity is at %v facing %v", wd.client.has[7].place.Position, wd.client.has[7].place.Direction, at, e.Direction)
		}
	}
}
