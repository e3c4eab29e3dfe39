package witness

import (
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/property"
)

// This is promise 5 at the level of one witness: random worlds, small budgets, lost and late
// packets, and handoffs in the middle.
func TestConverges(t *testing.T) {
	for _, budget := range []int{60, 222, 2000} {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("budget %d seed %d", budget, seed), func(t *testing.T) {
				wd := newWorld(t, Config{BytesPerTick: budget, MaxRadius: aoiRadius}, seed, 30)
				for round := range 4 {
					for range 60 {
						wd.act()
						wd.interest()
						wd.update(wd.rng.IntN(50) == 0)
						if round > 0 && wd.rng.IntN(25) == 0 {
							wd.handoff()
						}
					}
					wd.interest()
					wd.settle(2000)
				}
			})
		}
	}
}

// handoff moves the witness to another cell. That cell has records of its own, which may be behind,
// and some of the entities in range arrive there a little later.
func (wd *world) handoff() {
	was := wd.w
	wd.travel()
	if !equalState(wd.w, was) {
		wd.t.Fatal("a witness differs after Append and Read")
	}
	wd.tick = uint64(wd.rng.IntN(1000)) // each app counts its own ticks
	var slow []*presence.Entity
	for _, e := range wd.all {
		e.MovedTick = 0
		switch {
		case !wd.within[e.ID]:
		case wd.rng.IntN(4) == 0:
			slow = append(slow, e)
		default:
			wd.w.Enter(wd.subject(e))
		}
	}
	for range wd.rng.IntN(RelinkGrace) {
		wd.update(false)
	}
	for _, e := range slow {
		wd.w.Enter(wd.subject(e))
	}
}

func TestUnlimitedSendsEverything(t *testing.T) {
	wd := newWorld(t, Config{BytesPerTick: 10}, 7, 80)
	for range 30 {
		wd.act()
		wd.interest()
		wd.update(false)
	}
	wd.act() // some are moving now
	wd.interest()
	wd.update(true)
	if n := wd.w.Pending(wd.watcher); n != 0 {
		t.Fatalf("%d pending after an unlimited update", n)
	}
	wd.client.check(wd.expected())
	if b, p := wd.w.Update(wd.watcher, wd.tick, nil, false); b != nil || p != nil {
		t.Fatalf("sent again: bundle %x, packet %x", b, p)
	}
}

// MovedTick counts the ticks of one app. After a handoff it belongs to another count, or lies in
// the future. Neither may hold a place back or send one again.
func TestHandoffWhileMoving(t *testing.T) {
	wd, e := scene(t)
	e.MoveTo(wd.tick, property.Vector3{X: 51}, property.Vector3{})
	wd.update(true)
	wd.travel()
	wd.w.Enter(wd.subject(e))
	if b, p := wd.w.Update(wd.watcher, wd.tick, nil, false); b != nil || p != nil {
		t.Fatalf("sent again: bundle %x, packet %x", b, p)
	}
	wd.tick++
	e.MoveTo(wd.tick+1000, property.Vector3{X: 52}, property.Vector3{})
	wd.tell("rest 7")
}

// The ghost at the new cell is behind what the old cell has told.
func TestHandoffToRecordBehind(t *testing.T) {
	wd := newWorld(t, Config{}, 1, 0)
	e := newEntity(wd.def, 1, 1, 50, 0) // weapon is visible, badge is not
	wd.all, wd.within[1] = append(wd.all, e), true
	wd.w.Enter(wd.subject(e))
	wd.update(false)
	behind := ghostOf(t, e)
	set(t, e, weapon, 1)
	set(t, e, badge, 1)
	call(e, jump, 9)
	e.MoveTo(wd.tick, e.Position, e.Position)
	wd.update(true)

	wd.travel()
	wd.w.Enter(wd.subject(behind))
	wd.watcher.Position.X = 45 // the badge comes into sight while the ghost is behind
	wd.update(false)
	if got := wd.client.log; fmt.Sprint(got) != "[change 1 set badge]" {
		t.Fatalf("the client was told %v", got)
	}
	if p := wd.client.has[1].place; p.Direction != e.Direction {
		t.Fatalf("the place went back to %v", p)
	}

	wd.w.Enter(wd.subject(ghostOf(t, e)))
	wd.tell("change 1", "set badge") // no weapon and no call: the client has had these
	wd.client.check(wd.expected())
	if calls := wd.client.has[1].calls; len(calls) != 1 {
		t.Fatalf("calls %v", calls)
	}
}

func TestNotRelinkedLeaves(t *testing.T) {
	wd := newWorld(t, Config{}, 1, 2)
	for _, e := range wd.all {
		wd.w.Enter(wd.subject(e))
	}
	wd.update(false)
	wd.w.Enter(wd.subject(newEntity(wd.def, 3, 1, 0, 0))) // the client is not told before the handoff
	wd.travel()
	wd.w.Enter(wd.subject(wd.all[0]))
	wd.within[1] = true
	for range RelinkGrace {
		if n := wd.update(false); n != 0 {
			t.Fatal("something was sent within the grace")
		}
		if wd.w.Pending(wd.watcher) != 2 {
			t.Fatal("an unlinked entry must be pending")
		}
	}
	wd.update(false)
	if fmt.Sprint(wd.client.log) != "[leave 2]" {
		t.Fatalf("the client was told %v", wd.client.log)
	}
	wd.settle(0)
}
