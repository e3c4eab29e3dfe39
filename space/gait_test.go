package space

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// cart is a gait that needs 5 s for 10 m/s.

func cart() Gait { return Gait{Acceleration: 2} }

// sortie has an avatar, 7, go from -40 to 60 by a gait: there and then it is to be at rest after 15 s.
func (r *rig) sortie(g Gait) {
	r.t.Helper()
	r.create(7, -40, 0)
	a := r.avatar(7)
	a.Diary.Set("")
	if _, err := a.MoveTo(property.Vector3{X: 60, Z: 3}, 10, "OnArrival", 1, g); err != nil {
		r.t.Fatal(err)
	}
}

// log is where an avatar is in each of some ticks, which way it looks, and how fast it is.
func (r *rig) log(ticks int) (list []string) {
	r.t.Helper()
	for range ticks {
		r.tick(1)
		a := r.real(7)
		list = append(list, fmt.Sprint(a.Position(), a.Direction(), a.WalkingSpeed()))
	}
	return list
}

// A walk that gathers speed and brakes goes the same way in the same ticks over two cells as in one,
// with a handover in mid-acceleration, and also after it was restored.
func TestGaitTravels(t *testing.T) {
	plain := newRig(t, 1)
	plain.sortie(cart())
	want := plain.log(160)
	plain.diary(7, "arrival 1;")
	if at := plain.real(7).Position(); at != (property.Vector3{X: 60, Z: 3}) || plain.real(7).WalkingSpeed() != 0 {
		t.Errorf("it ends at %v with %v m/s", at, plain.real(7).WalkingSpeed())
	}
	for _, begin := range []float32{-40, -8} { // the line is crossed at full speed, and while it gathers it
		one, two := newRig(t, 1), newRig(t, 2)
		for _, r := range []*rig{one, two} {
			r.create(7, begin, 0)
			if _, err := r.avatar(7).MoveTo(property.Vector3{X: begin + 100, Z: 3}, 10, "OnArrival", 1, cart()); err != nil {
				t.Fatal(err)
			}
		}
		was := two.real(7).cell.self
		for tick := range 160 {
			a, b := one.log(1)[0], two.log(1)[0]
			if a != b {
				t.Fatalf("from %v, tick %d: on one cell %s, over two %s", begin, tick, a, b)
			}
		}
		if two.real(7).cell.self == was {
			t.Errorf("from %v it has not been handed over", begin)
		}
		two.diary(7, "created;leaving;entering;entered;arrival 1;")
	}
	for _, at := range []int{20, 70, 130} { // it gathers speed, has it, brakes
		r := newRig(t, 1)
		r.sortie(cart())
		r.log(at)
		b := r.backUp(7)
		r.apps[0].cell.drop(r.real(7))
		r.restore(7, -40, b.Parts, b.Handled)
		for i, got := range r.log(160 - at) {
			if got != want[at+i] {
				t.Fatalf("restored after %d ticks, %d later: %s, want %s", at, i, got, want[at+i])
			}
		}
	}
}

// In a slow space it goes the same way in more ticks.
func TestGaitInSlowTime(t *testing.T) {
	r := newRig(t, 1)
	r.sortie(cart())
	r.dilate(250, 1)
	r.tick(160)
	// 4 s of game time: 16 m, 8 m/s.
	if a := r.real(7); math.Abs(float64(a.Position().X)+24) > 0.1 || math.Abs(float64(a.WalkingSpeed())-8) > 0.01 {
		t.Errorf("at %v with %v m/s", a.Position(), a.WalkingSpeed())
	}
	r.tick(450)
	r.diary(7, "arrival 1;")
}

// In a frozen world it keeps its speed.
func TestGaitInAFrozenWorld(t *testing.T) {
	r := newRig(t, 1)
	r.sortie(cart())
	r.tick(20)
	at, pace := r.real(7).Position(), r.real(7).WalkingSpeed()
	r.apps[0].population.Freeze(true)
	r.tick(20)
	if r.real(7).Position() != at || r.real(7).WalkingSpeed() != pace || pace < 3.9 {
		t.Errorf("at %v with %v m/s, before at %v with %v", r.real(7).Position(), r.real(7).WalkingSpeed(), at, pace)
	}
}

// Who goes through is as fast at the end as it got, and goes on so from the callback. A new walk goes on
// with the speed of the one that it ends, as far as it may.
func TestPace(t *testing.T) {
	r := newRig(t, 1)
	r.sortie(Gait{Acceleration: 2, Through: true})
	a := r.avatar(7)
	if a.WalkingSpeed() != 0 {
		t.Errorf("%v m/s at the beginning", a.WalkingSpeed())
	}
	var paces []float32
	a.hook = func(a *Avatar, what string) {
		if what != "arrival 1" {
			return
		}
		paces = append(paces, a.WalkingSpeed())
		if _, err := a.MoveTo(property.Vector3{X: 60, Z: 60}, 12, "OnArrival", 2, cart()); err != nil {
			t.Error(err)
		}
		paces = append(paces, a.WalkingSpeed())
	}
	r.tick(126)
	if len(paces) != 2 || paces[0] != 10 || paces[1] != 10 {
		t.Errorf("at the end of one walk and the beginning of another: %v m/s", paces)
	}
	if _, err := a.MoveTo(property.Vector3{X: -60}, 4, "", 0, cart()); err != nil || a.WalkingSpeed() != 4 {
		t.Errorf("%v m/s, %v", a.WalkingSpeed(), err)
	}
	if _, err := a.MoveTo(property.Vector3{X: -60}, 9, "", 0); err != nil || a.WalkingSpeed() != 9 {
		t.Errorf("without a gait %v m/s, %v", a.WalkingSpeed(), err)
	}
	a.Cancel(a.controllers.list[0].id)
	if a.WalkingSpeed() != 0 {
		t.Errorf("%v m/s without a walk", a.WalkingSpeed())
	}
	if _, err := a.MoveTo(property.Vector3{X: -60}, 9, "", 0, Gait{Acceleration: 1, From: 5}); err != nil || a.WalkingSpeed() != 5 {
		t.Errorf("from 5 m/s: %v m/s, %v", a.WalkingSpeed(), err)
	}
}

// A chase gathers speed after one who runs away, and comes to rest at its distance, not nearer.
func TestGaitOfAChase(t *testing.T) {
	r := newRig(t, 2)
	dog, fox := r.spawn(-60), r.spawn(-40)
	r.tick(2)
	if _, err := dog.MoveToEntity(fox.ID(), 2, 12, "OnArrival", 3, Gait{Acceleration: 4}); err != nil {
		t.Fatal(err)
	}
	_, _ = fox.MoveTo(property.Vector3{X: 40}, 8, "", 0, cart())
	last := float32(0)
	for range 200 {
		r.tick(1)
		d, f := r.real(dog.ID()), r.real(fox.ID())
		if gap := f.Position().X - d.Position().X; gap < 1.999 {
			t.Fatalf("%v m apart", gap)
		}
		if d.WalkingSpeed() > 12 || d.WalkingSpeed()-last > 0.4001 {
			t.Fatalf("from %v to %v m/s in a tick", last, d.WalkingSpeed())
		}
		last = d.WalkingSpeed()
	}
	if d := r.real(dog.ID()); len(d.controllers.list) != 0 || d.cell.self != addr(2) || math.Abs(float64(d.Position().X)-38) > 0.01 {
		t.Errorf("it is at %v, with %d controllers", d.Position(), len(d.controllers.list))
	}
}

// A passenger's walk is one over ground, and brakes for it, whatever its vehicle does.
func TestGaitOfAPassenger(t *testing.T) {
	r := newRig(t, 2)
	cart, mule := r.spawn(-50), r.spawn(-50)
	r.board(mule.ID(), cart.ID(), property.Vector3{})
	r.tick(2)
	if _, err := cart.MoveTo(property.Vector3{X: 30}, 10, "", 0, Gait{Acceleration: 2, KeepsFacing: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := mule.MoveTo(property.Vector3{X: 30, Z: 20}, 12, "OnArrival", 1, Gait{Acceleration: 3}); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if r.tick(1); r.real(mule.ID()).Position().Z > 20 {
			t.Fatalf("it overshoots to %v", r.real(mule.ID()).Position())
		}
	}
	r.rides(mule.ID(), cart.ID())
	if m := r.real(mule.ID()); math.Abs(float64(m.Position().X)-30) > 1e-3 || math.Abs(float64(m.Position().Z)-20) > 1e-3 || m.cell.self != addr(2) {
		t.Errorf("it is at %v", m.Position())
	}
}

func TestGaitFaults(t *testing.T) {
	r := newRig(t, 1)
	a, b := r.spawn(-5), r.spawn(-9)
	first, err := a.MoveTo(property.Vector3{X: 9}, 3, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for _, list := range [][]Gait{
		{{Acceleration: -1}}, {{Acceleration: nan}}, {{Acceleration: 1, From: 6}}, {{From: 1}}, {{Acceleration: 1, From: -1}}, {cart(), cart()},
	} {
		for what, err := range map[string]error{
			"walk": second(a.MoveTo(property.Vector3{}, 5, "", 0, list...)), "chase": second(a.MoveToEntity(b.ID(), 1, 5, "", 0, list...)),
		} {
			if err == nil || !strings.Contains(err.Error(), "give one Gait or none") {
				t.Errorf("a %s of %+v: %v", what, list, err)
			}
		}
	}
	if !a.Cancel(first) {
		t.Error("what was refused has ended the walk")
	}
}

// No steady tick of a controller of the library allocates.
func TestGaitsDoNotAllocate(t *testing.T) {
	r := newRig(t, 1)
	a, b := r.spawn(-5), r.spawn(-50)
	if _, err := a.MoveTo(property.Vector3{X: -5000}, 1, "OnArrival", 0, Gait{Acceleration: 0.01, KeepsFacing: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.TurnTo(3, 0.001, "OnArrival", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.MoveToEntity(a.ID(), 1, 0.001, "OnArrival", 0, Gait{Acceleration: 0.01}); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		a.runControllers(tickPeriod)
		b.runControllers(tickPeriod)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What travels beside a plain walk does so for a gait only.
func TestPlainWalksAreShort(t *testing.T) {
	for want, c := range map[int]Controller{16: &walk{speed: 1}, 9: &chase{id: 1, speed: 1}, 8: &turn{speed: 1}} {
		if n := len(c.AppendState(nil)); n != want {
			t.Errorf("%T: %d bytes, want %d", c, n, want)
		}
	}
}
