package space

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/ghost"
	"github.com/cellscape/cellscape/property"
)

// lease is how many ticks it takes at most until a script hears that nobody sees it.
const lease = int(UnwitnessedAfter/tickPeriod) + 25

// words notes what the script of an entity is told of being seen.
func (r *rig) words(id entity.ID, said *[]bool) {
	r.avatar(id).seen = func(on bool) { *said = append(*said, on) }
}

// A script hears when a client begins to see its entity, as a real or as a ghost, and when none has for
// a while.
func TestWitnessed(t *testing.T) {
	for _, x := range []float32{-10, 20} { // on the watcher's cell, and on the next
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			r := newRig(t, 2)
			r.create(1, -50, 1)
			r.create(2, 300, 0)
			var said []bool
			r.words(2, &said)
			r.tick(30)
			if r.real(2).IsWitnessed() || r.real(1).IsWitnessed() || said != nil {
				t.Fatalf("far away it is seen: %v", said)
			}
			r.move(2, 110)
			r.move(2, x+1)
			r.tick(30) // it may be handed over
			r.words(2, &said)
			if !r.real(2).IsWitnessed() || r.real(1).IsWitnessed() {
				t.Fatal("the player sees it, and it does not know; or it sees the player")
			}
			r.move(2, 300)
			r.tick(30)
			r.words(2, &said)
			if !r.real(2).IsWitnessed() {
				t.Error("it was told at once that nobody sees it")
			}
			r.tick(lease)
			if r.real(2).IsWitnessed() || !slices.Contains(said, false) {
				t.Errorf("nobody sees it, and it heard %v", said)
			}
		})
	}
}

// A tower is seen from farther away than a rock beside it, also when it stands on the next cell.
func TestAppeal(t *testing.T) {
	for _, x := range []float32{-10, 40} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			r := newRig(t, 2)
			r.create(1, x-130, 1)
			at := 0
			if x > 0 {
				at = 1
			}
			var ids [2]entity.ID
			for i, name := range []string{"Rock", "Tower"} {
				id, err := r.apps[at].cell.Spawn(name, property.Vector3{X: x}, property.Vector3{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				ids[i] = id
			}
			sees := func() string { return fmt.Sprint(r.real(1).sees(ids[0]), r.real(1).sees(ids[1])) }
			r.tick(30)
			if got := sees(); got != "false true" {
				t.Errorf("from 130 m it sees rock and tower: %s", got)
			}
			r.move(1, x-166)
			r.tick(3)
			if got := sees(); got != "false false" {
				t.Errorf("from 166 m it sees rock and tower: %s", got)
			}
		})
	}
}

// Whoever is watched throughout, and who watches, may cross lines as they like: the script hears nothing.
func TestWitnessedAcrossLines(t *testing.T) {
	r := newRig(t, 3)
	r.create(1, -50, 1)
	r.create(2, -20, 0)
	r.tick(5)
	at := []float32{-20, -50} // of 2 and of 1
	for i := range 2000 {
		who := i / 100 % 2
		dx := float32(5)
		if i/400%2 == 1 {
			dx = -5
		}
		if i%100 < 20 { // 50 m each in turn, never more than 80 m apart
			at[who] += dx / 2
			r.move([]entity.ID{2, 1}[who], at[who])
		}
		r.tick(1)
		if !r.real(2).IsWitnessed() {
			t.Fatalf("step %d: the watcher at %v, the watched at %v: it is told that nobody sees it", i, at[1], at[0])
		}
	}
	crossed := 0
	for _, a := range r.apps {
		crossed += int(a.count.Migrations)
	}
	if crossed < 4 {
		t.Fatalf("%d crossings", crossed)
	}
}

// When the player's client goes, it sees nobody any more, on whatever cell.
func TestWitnessedUntilTheClientGoes(t *testing.T) {
	r := newRig(t, 2)
	r.create(1, -50, 1)
	r.create(2, 20, 0)
	r.tick(10)
	if !r.real(2).IsWitnessed() {
		t.Fatal("it is not seen")
	}
	r.real(1).setSession(flow.Session{})
	r.tick(lease)
	if r.real(2).IsWitnessed() {
		t.Error("it is still seen")
	}
}

// Whoever was seen as a ghost, and becomes the real before its word has come to where the real was, is found
// out by the next check: no range event tells of it.
func TestWitnessedThoughTheWordWasLate(t *testing.T) {
	r := newRig(t, 2)
	r.create(1, 30, 1)
	r.create(2, -300, 0)
	r.tick(3)
	r.hold = func(p packet) bool { _, is := p.m.(*ghost.Watched); return is }
	r.move(2, -5)
	r.tick(15)
	r.move(2, 15)
	r.tick(15)
	if r.apps[1].count.Migrations == 0 {
		t.Fatal("it was not handed over")
	}
	if !r.real(2).IsWitnessed() {
		t.Error("the player sees it, and it does not know")
	}
}
