package space

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/property"
)

// bell notes what traps tell, and demands that each entity comes and goes by turns.
type bell struct {
	*rig
	inside map[laidBy]map[entity.ID]bool
	rang   strings.Builder
	then   func(a *Avatar, x Trapped)
}

// laidBy is a trap: the entity that has it, and the number that was given with it.
type laidBy struct {
	id   entity.ID
	user int64
}

func (r *rig) bell() *bell {
	b := &bell{rig: r, inside: map[laidBy]map[entity.ID]bool{}}
	r.trapped = func(a *Avatar, x Trapped) {
		at := laidBy{a.ID(), x.User}
		in := b.inside[at]
		if in == nil {
			in = map[entity.ID]bool{}
			b.inside[at] = in
		}
		if in[x.Entity] == x.Inside {
			r.t.Errorf("%v is told of %v twice: %t", a.ID(), x.Entity, x.Inside)
		}
		in[x.Entity] = x.Inside
		fmt.Fprintf(&b.rang, "%t %d;", x.Inside, x.User)
		if b.then != nil {
			b.then(a, x)
		}
	}
	return b
}

func (b *bell) heard(want string) {
	b.t.Helper()
	if got := b.rang.String(); got != want {
		b.t.Errorf("heard %q, want %q", got, want)
	}
	b.rang.Reset()
}

func (r *rig) trap(a *Avatar, radius float32, user int64) entity.CallbackID {
	r.t.Helper()
	id, err := a.AddTrap(radius, "OnTrap", user)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *rig) put(a *Avatar, x float32) {
	r.t.Helper()
	if err := a.SetPosition(property.Vector3{X: x}); err != nil {
		r.t.Fatal(err)
	}
}

func TestTrap(t *testing.T) {
	r := newRig(t, 1)
	b := r.bell()
	guard, thief := r.spawn(-50), r.spawn(-80)
	near, far := r.trap(guard, 10, 1), r.trap(guard, 40, 2)
	r.tick(2)
	b.heard("true 2;")
	r.put(thief, -60)
	r.tick(1)
	b.heard("true 1;")
	r.put(guard, -20) // a trap goes with its entity
	r.tick(1)
	b.heard("false 1;")
	r.tick(1)
	b.heard("")
	thief.Destroy()
	r.tick(1)
	b.heard("false 2;")

	// What one callback does the others see.
	other := r.spawn(-25)
	b.then = func(a *Avatar, x Trapped) {
		if x.ID == near && (!a.Cancel(near) || !a.Cancel(far) || a.Cancel(near)) {
			t.Error("Cancel does not say whether there was one")
		}
	}
	r.tick(2)
	b.heard("true 1;")
	if v, ok := guard.Find(other.ID()); !ok || v.ID() != other.ID() {
		t.Error("who is there is not found")
	}
	if _, ok := guard.Find(thief.ID()); ok {
		t.Error("who has gone is found")
	}
	r.put(other, -500)
	r.tick(2)
	b.heard("")
	if c := r.apps[0].cell.Cell; len(c.traps.laid) > 0 {
		t.Errorf("%d traps are left", len(c.traps.laid))
	}
	for what, radius := range map[string]float32{"none": 0, "negative": -1, "beyond the ghosts": 131} {
		if _, err := guard.AddTrap(radius, "OnTrap", 0); err == nil || !strings.Contains(err.Error(), "a trap of") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := guard.AddTrap(1, "OnArrival", 0); !errors.Is(err, entity.ErrNoCallback) {
		t.Errorf("with the callback of a walk: %v", err)
	}
	guard.Destroy()
	if _, err := guard.AddTrap(1, "OnTrap", 0); !errors.Is(err, entity.ErrGone) {
		t.Errorf("of a destroyed real: %v", err)
	}
}

// settledTraps demands that the scripts have been told of those who are there.
func (b *bell) settledTraps(ids []entity.ID, radius float32) {
	b.t.Helper()
	for _, id := range ids {
		want := map[entity.ID]bool{}
		p := b.real(id).Position()
		for _, other := range ids {
			q := b.real(other).Position()
			if dx, dz := p.X-q.X, p.Z-q.Z; other != id && max(dx, -dx) <= radius && max(dz, -dz) <= radius {
				want[other] = true
			}
		}
		got := maps.Clone(b.inside[laidBy{id, 0}])
		maps.DeleteFunc(got, func(_ entity.ID, in bool) bool { return !in })
		if !maps.Equal(got, want) {
			b.t.Errorf("%v at %v was told of %v, and %v are there", id, p, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// TestTrapsTravel: while all who have traps walk over lines, and some die with all that is not in their
// backup, each is told of each other by turns, and at rest of all who are there.
func TestTrapsTravel(t *testing.T) {
	const radius = 40
	for seed := range uint64(8) {
		r := newRig(t, 3)
		b := r.bell()
		chance := rand.New(rand.NewPCG(seed, 7))
		place := func() property.Vector3 {
			return property.Vector3{X: chance.Float32()*160 - 80, Z: chance.Float32() * 60}
		}
		var ids []entity.ID
		for id := entity.ID(1<<32 | 1); len(ids) < 14; id++ {
			r.create(id, place().X, 0)
			ids = append(ids, id)
			r.trap(r.avatar(id), radius, 0)
		}
		crossed := 0
		for range 150 {
			for _, id := range ids {
				a, was := r.avatar(id), r.real(id).cell
				switch chance.IntN(12) {
				case 0:
					_, _ = a.MoveTo(place(), 8, "", 0)
				case 1:
					_ = a.SetPosition(place())
				case 2:
					_, _ = a.MoveToEntity(ids[chance.IntN(len(ids))], 3, 10, "", 0)
				}
				r.tick(1)
				if r.real(id).cell != was {
					crossed++
				}
			}
		}
		for _, id := range ids {
			r.real(id).stopWalking()
		}
		r.tick(20)
		b.settledTraps(ids, radius)
		if crossed < 30 {
			t.Errorf("only %d times somebody crossed a line", crossed)
		}
	}
}

// TestTrapOfARestored: after a restore the script is told what has changed since the backup.
func TestTrapOfARestored(t *testing.T) {
	r := newRig(t, 1)
	b := r.bell()
	r.create(1<<32|7, -50, 0)
	stays, goes := r.spawn(-60), r.spawn(-62)
	r.trap(r.avatar(1<<32|7), 20, 0)
	r.tick(2)
	b.heard("true 0;true 0;")
	backup := r.backUp(1<<32 | 7)
	goes.Destroy()
	comes := r.spawn(-40)
	r.apps[0].cell.drop(r.real(1<<32 | 7))
	r.restore(1<<32|7, -50, backup.Parts, backup.Handled)
	r.tick(2)
	b.heard("false 0;true 0;")
	if in := b.inside[laidBy{1<<32 | 7, 0}]; !in[stays.ID()] || in[goes.ID()] || !in[comes.ID()] {
		t.Errorf("inside are %v", in)
	}
}

// TestTrapIsFull: whoever finds no room on the list is told of when there is some.
func TestTrapIsFull(t *testing.T) {
	r := newRig(t, 1)
	b := r.bell()
	guard := r.spawn(-50)
	var crowd []*Avatar
	for range maxTrapped + 50 {
		crowd = append(crowd, r.spawn(-51))
	}
	r.trap(guard, 20, 0)
	count := func() (n int) {
		for _, in := range b.inside[laidBy{guard.ID(), 0}] {
			if in {
				n++
			}
		}
		return n
	}
	r.tick(2)
	if n := count(); n != maxTrapped {
		t.Fatalf("told of %d", n)
	}
	if n := len(guard.controllers.list[0].AppendState(nil)); n > MaxControllerState {
		t.Errorf("the state has %d bytes", n)
	}
	for i, a := range crowd[:100] {
		r.put(a, -500)
		r.tick(1)
		if want := min(maxTrapped, len(crowd)-i-1); count() != want {
			t.Fatalf("after %d have gone it is told of %d, want %d", i+1, count(), want)
		}
	}
}

// TestTrapState: any bytes make a trap or an error, and a trap comes back as it was.
func TestTrapState(t *testing.T) {
	full := &trap{radius: 3}
	for i := range entity.ID(maxTrapped) {
		full.inside = append(full.inside, (i+1)<<40|1)
	}
	for _, x := range []*trap{{radius: 1}, {radius: 2, inside: []entity.ID{1<<32 | 1, 1<<32 | 2, 9<<32 | 1}}, full} {
		b := x.AppendState(nil)
		if len(b) > MaxControllerState {
			t.Errorf("%d bytes", len(b))
		}
		var y trap
		if err := y.ReadState(b); err != nil || y.radius != x.radius || !slices.Equal(y.inside, x.inside) {
			t.Errorf("%v: %+v comes back as %+v", err, x, y)
		}
	}
	for what, b := range map[string][]byte{
		"nothing": nil, "no radius": {0, 0, 0, 0}, "negative": {0, 0, 0x80, 0xbf}, "not a number": {0, 0, 0xc0, 0x7f},
		"no id": {0, 0, 0x80, 0x3f, 0}, "twice the same": {0, 0, 0x80, 0x3f, 5, 0},
	} {
		if err := new(trap).ReadState(b); err == nil {
			t.Errorf("%s makes a trap", what)
		}
	}
}

// FuzzController reads the state of the library's own controllers.
func FuzzController(f *testing.F) {
	f.Add((&trap{radius: 2, inside: []entity.ID{1<<32 | 1, 9<<32 | 1}}).AppendState(nil))
	f.Add((&chase{id: 1<<32 | 1, within: 1, speed: 2}).AppendState(nil))
	f.Add((&walk{speed: 2}).AppendState(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range []Controller{new(trap), new(chase), new(walk)} {
			if c.ReadState(b) != nil {
				continue
			}
			again := c.AppendState(nil)
			if err := c.ReadState(again); err != nil {
				t.Errorf("%T wrote %x, and cannot read it: %v", c, again, err)
			}
		}
	})
}

func TestMoveToEntity(t *testing.T) {
	r := newRig(t, 2)
	dog, fox := r.spawn(-50), r.spawn(-20)
	r.tick(2)
	dog.Diary.Set("")
	if _, err := dog.MoveToEntity(fox.ID(), 2, 10, "OnArrival", 3); err != nil {
		t.Fatal(err)
	}
	_, _ = fox.MoveTo(property.Vector3{X: 30}, 8, "", 0)
	r.tick(40) // the fox is over the line, and the dog behind it
	if d := fox.ID(); r.real(d).Position().X < 5 || r.real(dog.ID()).Position().X > r.real(d).Position().X-2 {
		t.Errorf("the fox is at %v, the dog at %v", r.real(d).Position(), r.real(dog.ID()).Position())
	}
	r.tick(100)
	r.diary(dog.ID(), "leaving;entering;entered;arrival 3;")
	if p := r.real(dog.ID()).Position(); p.X < 27.9 || p.X > 28.1 {
		t.Errorf("the dog is at %v", p)
	}

	hound := r.avatar(dog.ID())
	hound.Diary.Set("")
	if _, err := hound.MoveToEntity(fox.ID(), 0, 1, "OnFailed", 4); err != nil {
		t.Fatal(err)
	}
	if n := len(hound.controllers.list); n != 1 {
		t.Errorf("%d walks and chases", n)
	}
	r.avatar(fox.ID()).Destroy()
	r.tick(2)
	r.diary(dog.ID(), "failed 4: true;")
	for what, err := range map[string]error{
		"who has gone": second(hound.MoveToEntity(fox.ID(), 1, 1, "", 0)), "itself": second(hound.MoveToEntity(dog.ID(), 1, 1, "", 0)),
	} {
		if !errors.Is(err, ErrNotHere) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := hound.MoveToEntity(fox.ID(), 1, 0, "", 0); err == nil || !strings.Contains(err.Error(), "0 m/s") {
		t.Errorf("without a speed: %v", err)
	}
}
