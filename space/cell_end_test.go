package space

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/property"
)

// A divided space ends while reals have ghosts across the line and one is being handed over: every
// base hears that its cell part is gone, and nothing is left on any cell.
func TestEnd(t *testing.T) {
	r := newRig(t, 2)
	r.create(1, -20, 0)
	r.create(2, 20, 0)
	r.create(3, -50, 7)
	r.tick(5)
	if r.ghost(2, 1) == nil || r.ghost(1, 2) == nil {
		t.Fatal("no ghosts to begin with")
	}
	var onLoad []packet
	r.hold = func(p packet) bool { _, ok := p.m.(*migrate.Onload); return ok }
	r.move(3, 60)
	r.tick(30)
	for _, p := range r.queue {
		if r.hold(p) {
			onLoad = append(onLoad, p)
		}
	}
	if len(onLoad) == 0 {
		t.Fatal("nothing is being handed over")
	}
	for _, a := range r.apps {
		a.cell.End()
	}
	r.tick(3)
	for _, a := range r.apps {
		if a.cell.Reals() != 0 {
			t.Errorf("%v has %d reals", a.self, a.cell.Reals())
		}
	}
	if r.apps[0].cell.Idle() {
		t.Error("a cell is done with an entity that it is handing over")
	}
	r.hold = nil
	r.tick(int((HandedOnLease + 10*time.Second) / tickPeriod))
	for id := range r.bases {
		b := r.bases[id]
		if n := len(b.got); n == 0 || flow.Payload(b.got[n-1][0]) != flow.GonePayload {
			t.Errorf("the base of %d was not told", id)
		}
	}
	for _, a := range r.apps {
		if !a.cell.Idle() || a.count.Errors != 0 {
			t.Errorf("%v: idle %v, %d errors", a.self, a.cell.Idle(), a.count.Errors)
		}
		if !a.cell.HadBased() {
			t.Errorf("%v says that it has had no real with a base", a.self)
		}
	}
}

// Who leaves a space that has ended hears of the end once, and goes from the cell where it heard, although it
// steps beyond the line meanwhile: the other cell would tell it again.
func TestNobodyIsHandedOverAfterTheEnd(t *testing.T) {
	for name, arrives := range map[string]bool{"arrives": true, "finds no cell": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 2)
			r.create(7, -50, 0)
			r.tick(3)
			answer := false
			r.locate = func(a *testApp, id entity.ID, in entity.SpaceID, _ property.Vector3) {
				if answer {
					a.population.Located(id, in, a.self, false)
				}
			}
			v := r.avatar(7)
			v.leave = func() { r.teleport(7, entity.Destination{Space: 2, Position: at(9)}, 3) }
			for _, a := range r.apps {
				a.cell.End()
			}
			r.tick(1)
			r.move(7, 50)
			r.tick(10)
			r.stands(7, 1, 1, 50)
			r.diary(7, "created;space ends;teleport 3;")
			if answer = arrives; arrives {
				r.room(1, 2)
				r.tick(12)
				r.stands(7, 1, 2, 9)
				r.diary(7, "created;space ends;teleport 3;leaving;entering;entered;teleported 3;")
				return
			}
			r.tick(int(TeleportPatience / tickPeriod))
			if r.real(7) != nil {
				t.Error("who did not get away in time is still there")
			}
		})
	}
}

// Who is refused elsewhere after the end of its space comes back to a cell that has ended. It was told of that,
// and is destroyed; told again, it could try for ever.
func TestRefusedAfterTheEnd(t *testing.T) {
	r := newRig(t, 2)
	full := r.room(2, 2)
	full.SetMaxEntities(1)
	if _, err := full.Spawn("Rock", property.Vector3{}, property.Vector3{}, nil); err != nil {
		t.Fatal(err)
	}
	r.create(7, -50, 0)
	r.tick(3)
	var told, asked int
	leave := func() {
		told++
		r.teleport(7, entity.Destination{Space: 2}, 3)
	}
	r.avatar(7).leave = leave
	r.arrive = func(p packet) {
		if m, is := p.m.(*migrate.Onload); is && m.Arrival.Teleports() {
			asked++
		}
	}
	r.apps[0].cell.End()
	for range int(2 * TeleportPatience / tickPeriod) {
		r.tick(1)
		if r.real(7) == nil {
			break
		}
		r.avatar(7).leave = leave // a script that came back is a new one
	}
	if r.real(7) != nil || told != 1 || asked == 0 {
		t.Errorf("it was told %d times of the end, and asked %d times to be taken", told, asked)
	}
}

// A script that makes new entities when it is destroyed does not keep its space alive.
func TestNothingIsMadeAfterTheEnd(t *testing.T) {
	r := newRig(t, 1)
	r.create(1, 0, 0)
	v := r.avatar(1)
	c := r.apps[0].cell
	r.tick(1)
	c.End()
	if _, err := v.Spawn("Rock", property.Vector3{}, property.Vector3{}, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("spawned: %v", err)
	}
	r.bases[2] = &testBase{order: entity.Order{Incarnation: 1}}
	r.queue = append(r.queue, packet{r.base, r.apps[0].self, &migrate.Create{ID: 2, Space: 1, Order: entity.Order{Incarnation: 1}, Base: r.base}})
	r.pump()
	if lost := r.bases[2].lost; len(lost) != 1 || lost[0].Reason != ErrEnded.Error() {
		t.Errorf("a late create is answered by %+v", lost)
	}
	r.tick(3)
	if c.Reals() != 0 || !c.Idle() {
		t.Errorf("%d reals, idle %v", c.Reals(), c.Idle())
	}
}

// A cell and a real ask for the end of their own space; one that is no more does not.
func TestDestroySpaceAsksTheManager(t *testing.T) {
	r := newRig(t, 1)
	r.create(1, 0, 0)
	v := r.avatar(1)
	a := r.apps[0]
	v.DestroySpace()
	a.cell.DestroySpace()
	v.Destroy()
	v.DestroySpace()
	if !slices.Equal(a.ended, []entity.SpaceID{1, 1}) {
		t.Errorf("asked for %v", a.ended)
	}
}

// What happens on a cell before its first tick happens at the right time: timers of an entity that
// is made there run neither at once nor never.
func TestTimesBeforeTheFirstTick(t *testing.T) {
	r := newRig(t, 1)
	a := r.apps[0]
	now, game := 100*tickPeriod, 500*tickPeriod
	a.population = NewPopulation(*a.cell.cfg, r.scripts, a.population.env)
	a.cell = a.population.NewCell(now, game, 1, cellID(1), a.cell.tree, nil)
	r.create(1, 0, 0)
	if _, err := r.real(1).AddTimer(2*tickPeriod, 0, "OnTimer", 5); err != nil {
		t.Fatal(err)
	}
	a.cell.runTick(now+tickPeriod, game+tickPeriod, tickPeriod)
	r.diary(1, "created;")
	a.cell.runTick(now+2*tickPeriod, game+2*tickPeriod, tickPeriod)
	r.diary(1, "created;timer 5;")
}
