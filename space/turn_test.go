package space

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/property"
)

// A turn goes the shorter way, over ±π too, with the speed that it has, and ends to the bit.
func TestTurnTo(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		from := property.Vector3{X: float32(rng.Float64()*20 - 10), Y: 0.25, Z: -0.5}
		yaw, speed := float32(rng.Float64()*20-10), float32(0.3+rng.Float64()*3)
		if i == 0 {
			from.X, yaw, speed = 3, -3, 1
		}
		if err := a.SetDirection(from); err != nil {
			t.Fatal(err)
		}
		a.Diary.Set("")
		if _, err := a.TurnTo(yaw, speed, "OnArrival", int64(i)); err != nil {
			t.Fatal(err)
		}
		arc := math.Remainder(float64(yaw)-float64(from.X), 2*math.Pi)
		ticks := int(math.Ceil(math.Abs(arc)/float64(speed)/tickPeriod.Seconds() - 1e-4))
		was := from.X
		for n := range ticks {
			r.tick(1)
			d := a.Direction()
			step := math.Remainder(float64(d.X)-float64(was), 2*math.Pi)
			if step*arc < 0 || math.Abs(step) > float64(speed)*tickPeriod.Seconds()+1e-5 || d.Y != from.Y || d.Z != from.Z {
				t.Fatalf("%d: from %v to %v it goes from %v to %v in tick %d", i, from, yaw, was, d, n)
			}
			was = d.X
		}
		if a.Direction().X != yaw {
			t.Fatalf("%d: from %v to %v at %v rad/s: %v after %d ticks", i, from, yaw, speed, a.Direction(), ticks)
		}
		if got := a.Diary.Get(); !strings.HasPrefix(got, "arrival ") || a.Position() != vec(-5) {
			t.Fatalf("%s, at %v", got, a.Position())
		}
	}
}

func TestOneTurnAtATime(t *testing.T) {
	r := newRig(t, 1)
	a := r.spawn(-5)
	first, _ := a.TurnTo(1, 0.1, "", 0)
	step, _ := a.MoveTo(vec(-9), 1, "", 0, Gait{KeepsFacing: true})
	second, err := a.TurnTo(-1, 1, "", 0)
	if err != nil || a.Cancel(first) {
		t.Errorf("two turns go on: %v", err)
	}
	r.tick(5)
	if d, p := a.Direction(), a.Position(); math.Abs(float64(d.X)+0.5) > 1e-3 || math.Abs(float64(p.X)+5.5) > 1e-3 {
		t.Errorf("beside a walk it looks %v, at %v", d, p)
	}
	if !a.Cancel(second) || !a.Cancel(step) {
		t.Error("turn and walk do not go on")
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range [][2]float32{{nan, 1}, {inf, 1}, {0, 0}, {0, -1}, {0, nan}, {0, inf}} {
		if _, err := a.TurnTo(c[0], c[1], "", 0); err == nil || !strings.Contains(err.Error(), "cannot turn") {
			t.Errorf("to %v at %v: %v", c[0], c[1], err)
		}
	}
	if _, err := a.TurnTo(1, 1, "Nothing", 0); err == nil {
		t.Error("a callback that is not there is taken")
	}
}

// A turn goes on after a handover and a restore as if nothing had been.
func TestTurnTravels(t *testing.T) {
	one, two := newRig(t, 1), newRig(t, 2)
	for _, r := range []*rig{one, two} {
		r.create(7, -2, 0)
		_, _ = r.avatar(7).MoveTo(vec(20), 4, "", 0, Gait{Acceleration: 1, KeepsFacing: true})
		if _, err := r.avatar(7).TurnTo(3, 0.4, "OnArrival", 1); err != nil {
			t.Fatal(err)
		}
	}
	was := two.real(7).cell.self
	for n := range 80 {
		if n == 60 {
			b := two.backUp(7)
			at := two.real(7).Position().X
			if two.real(7).cell.self == was {
				t.Error("it has not been handed over")
			}
			for _, a := range two.apps {
				if rec := a.population.find(7); rec != nil && rec.real != nil {
					a.cell.drop(rec.real)
				}
			}
			two.restore(7, at, b.Parts, b.Handled)
		}
		if a, b := one.log(1)[0], two.log(1)[0]; a != b {
			t.Fatalf("tick %d: on one cell %s, over two %s", n, a, b)
		}
	}
	one.diary(7, "created;arrival 1;")
}

// On a vehicle that turns, it turns to what it looks at in the world. A vehicle that is not here is waited for.
func TestTurnOfAPassenger(t *testing.T) {
	r := newRig(t, 1)
	cart, mule := r.spawn(-50), r.spawn(-50)
	r.board(mule.ID(), cart.ID(), property.Vector3{Z: 2})
	_, _ = cart.TurnTo(1.5, 0.5, "", 0)
	if _, err := mule.TurnTo(-1, 1, "OnArrival", 1); err != nil {
		t.Fatal(err)
	}
	r.tick(60)
	r.rides(mule.ID(), cart.ID())
	if got := mule.Diary.Get(); !strings.HasSuffix(got, "arrival 1;") || math.Abs(float64(cart.Direction().X)-1.5) > 0 {
		t.Errorf("%s, on a cart that looks %v", got, cart.Direction())
	}
}

// A player's client does not move it while it turns, and does again afterwards, and knows where it looks.
func TestTurnTakesTheControl(t *testing.T) {
	r := newRig(t, 1)
	p := r.newClient(7, -50)
	if _, err := r.real(7).TurnTo(1, 1, "", 0); err != nil {
		t.Fatal(err)
	}
	r.tick(5)
	if p.hear(); p.control {
		t.Error("the client believes to have the control")
	}
	r.tick(8)
	if p.hear(); !p.control || r.real(7).Direction().X != 1 {
		t.Errorf("control %t, it looks %v", p.control, r.real(7).Direction())
	}
}

// Who sees an entity turn on the spot is told its yaw on the way, as far as the type's Volatile says, and
// the last one.
func TestTurnIsSeen(t *testing.T) {
	schema := testSchema(t)
	schema.Type("Avatar").Volatile = property.Volatile{Position: property.Always(), Yaw: 50}
	r := newRigOf(t, schema, 1)
	r.create(7, -50, 1)
	r.create(8, -40, 0)
	m := flow.Session{Number: 1, Room: 900}
	r.say(7, m.Append(nil, flow.SetClientPayload))
	r.tick(20)
	if _, err := r.real(8).TurnTo(3, 1, "", 0); err != nil {
		t.Fatal(err)
	}
	held, told := property.Vector3{}, 0
	for range 40 {
		delete(r.places, 7)
		r.tick(1)
		for _, p := range r.places[7] {
			if err := protocol.Positions(p, func(_ *protocol.PacketHead, m *protocol.Moved) {
				_, held, _ = m.From(vec(-40), held)
				told++
			}); err != nil {
				t.Fatal(err)
			}
		}
		if off := math.Abs(float64(held.X) - float64(r.real(8).Direction().X)); off > math.Pi/256+0.001 {
			t.Fatalf("it looks %v, and the client believes %v", r.real(8).Direction(), held)
		}
	}
	if told < 30 {
		t.Errorf("told %d times in 30 ticks of a turn", told)
	}
}
