package gait

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
)

const tick = 100 * time.Millisecond

// walker goes along a line whose places are float32, as those of entities.
type walker struct {
	t    *testing.T
	g    Gait
	top  float32
	at   float32
	goal float32
}

// step goes on for a tick, and checks what holds in each.
func (w *walker) step(dt time.Duration) (done bool) {
	w.t.Helper()
	was, from, left := float64(w.g.Speed), w.at, float64(w.goal)-float64(w.at)
	step, there := w.g.Step(w.top, left, dt)
	switch a, v := float64(w.g.Acceleration), float64(w.g.Speed); {
	case math.IsNaN(step) || math.IsNaN(v) || step < -mostOwed:
		w.t.Fatalf("from %v at %v to %v it goes %v, then %v", from, was, w.goal, step, v)
	case !there && step > left:
		w.t.Fatalf("it overshoots %v m by %v", left, step-left)
	case w.g.Speed > w.top:
		w.t.Fatalf("%v m/s of %v", v, w.top)
	case v-was > a*dt.Seconds()+1e-6*float64(w.top):
		w.t.Fatalf("it gathers %v m/s in a tick", v-was)
	case there && !w.g.Through && v != 0:
		w.t.Fatalf("it ends at %v m/s", v)
	}
	if there {
		w.at = w.goal
		return true
	}
	w.at = float32(float64(from) + step)
	w.g.Moved(step, float64(w.at)-float64(from))
	return false
}

// hop takes the gait through what travels.
func (w *walker) hop() {
	w.t.Helper()
	var g Gait
	rd := codec.NewReader(w.g.Append(nil))
	g.Read(&rd, w.top)
	if err := rd.Close(); err != nil || g != w.g {
		w.t.Fatalf("%+v travels as %+v: %v", w.g, g, err)
	}
	w.g = g
}

// From rest to rest over 100 m: 5 s to 10 m/s by 2 m/s², 5 s there, and 5 s to brake.
func TestFromRestToRest(t *testing.T) {
	for _, dt := range []time.Duration{20 * time.Millisecond, tick, 250 * time.Millisecond} {
		w := walker{t: t, g: Gait{Acceleration: 2}, top: 10, goal: 100}
		var took time.Duration
		for last := float32(0); !w.step(dt); took += dt {
			if took < 5*time.Second && math.Abs(float64(w.g.Speed)-2*(took+dt).Seconds()) > 1e-4 {
				t.Fatalf("after %v it is at %v m/s", took+dt, w.g.Speed)
			}
			if took > 10500*time.Millisecond && w.g.Speed > 0 && float64(last-w.g.Speed) > 2*dt.Seconds()*1.01 {
				t.Fatalf("after %v it brakes from %v to %v", took, last, w.g.Speed)
			}
			last = w.g.Speed
		}
		if took += dt; took < 14900*time.Millisecond || took > 15100*time.Millisecond+dt {
			t.Errorf("with ticks of %v: %v, want 15 s", dt, took)
		}
	}
}

// Whatever the numbers and the ticks are, it ends where it is to end, and soon, and one that travels in
// each tick goes as one that does not.
func TestAnyWay(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		size := func(low, high float64) float32 { return float32(low * math.Pow(high/low, rng.Float64())) }
		w := walker{t: t, top: size(0.1, 200), at: size(1, 1<<20)}
		w.g = Gait{Acceleration: size(0.05, 500), Through: seed%5 == 0}
		w.goal = min(w.at+size(0.01, 1000), 1<<20)
		if seed%3 == 0 {
			w.g.Speed = w.top * rng.Float32()
		}
		far, a, top := float64(w.goal-w.at), float64(w.g.Acceleration), float64(w.top)
		most := time.Duration((2*math.Sqrt(far/a) + far/top + 2*top/a + 5) * float64(time.Second))
		still := w
		for now := time.Duration(0); ; {
			dt := time.Duration(rng.Int64N(int64(2 * tick)))
			now += dt
			done := w.step(dt)
			if still.step(dt) != done || still != w {
				t.Fatalf("seed %d: %+v after travels, %+v without", seed, w, still)
			}
			if done {
				break
			}
			if w.hop(); now > 2*most {
				t.Fatalf("seed %d: it is still on its way after %v: %+v", seed, now, w)
			}
		}
	}
}

// A goal that jumps about is not overshot either.
func TestAnyGoal(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	w := walker{t: t, g: Gait{Acceleration: 3}, top: 20}
	for range 20000 {
		w.goal = w.at + float32(rng.Float64()*40)
		w.step(tick)
		w.at = 0
	}
}

// In a world that stands still, so does it, and its speed is what it was.
func TestPause(t *testing.T) {
	w := walker{t: t, g: Gait{Acceleration: 2}, top: 10, goal: 100}
	for range 20 {
		w.step(tick)
	}
	was := w
	for range 20 {
		if w.step(0) || w != was {
			t.Fatalf("%+v, before the pause %+v", w, was)
		}
	}
}

// Who goes through is at speed at the end, and the next one goes on with it.
func TestThrough(t *testing.T) {
	w := walker{t: t, g: Gait{Acceleration: 2, Through: true}, top: 10, goal: 50}
	for !w.step(tick) {
	}
	if w.g.Pace(w.top) != 10 {
		t.Errorf("through at %v m/s", w.g.Pace(w.top))
	}
	for _, c := range []struct {
		g         Gait
		top, want float32
	}{{Gait{Acceleration: 1}, 20, 10}, {Gait{Acceleration: 1}, 4, 4}, {Gait{Acceleration: 1, Speed: 12}, 20, 12}, {Gait{}, 7, 7}} {
		if c.g.goOn(10, c.top); c.g.Pace(c.top) != c.want || !c.g.Valid(c.top) {
			t.Errorf("%+v goes on at %v m/s, want %v", c.g, c.g.Pace(c.top), c.want)
		}
	}
}

// Steps that are too short for the places of a large world are owed.
func TestShortSteps(t *testing.T) {
	for _, g := range []Gait{{}, {Acceleration: 0.01}} {
		w := walker{t: t, g: g, top: 0.05, at: 1 << 19, goal: 1<<19 + 1}
		n := 0
		for ; !w.step(tick); n++ {
			if w.hop(); n > 400 {
				t.Fatalf("%+v is still on its way at %v", w, w.at)
			}
		}
		if g.Acceleration > 0 && (n < 200 || n > 260) {
			t.Errorf("%+v: a metre at 0.05 m/s took %d ticks", g, n)
		}
	}
}

func TestNonsense(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, g := range []Gait{
		{Acceleration: nan}, {Acceleration: inf}, {Acceleration: -1}, {Acceleration: 1, Speed: nan}, {Acceleration: 1, Speed: -1},
		{Acceleration: 1, Speed: 11}, {Speed: 1}, {owed: nan}, {owed: -2}, {owed: 2},
	} {
		rd := codec.NewReader(g.Append(nil))
		var got Gait
		if got.Read(&rd, 10); rd.Err() == nil || g.Valid(10) {
			t.Errorf("%+v is taken", g)
		}
	}
	for _, b := range [][]byte{make([]byte, 13), make([]byte, 5), append(make([]byte, 12), 4)} {
		rd := codec.NewReader(b)
		var g Gait
		if g.Read(&rd, 10); rd.Err() == nil {
			t.Errorf("%v is taken", b)
		}
	}
}

// FuzzRead takes any bytes, and walks by what is taken.
func FuzzRead(f *testing.F) {
	f.Add([]byte{}, float32(1), 3.0)
	f.Add((&Gait{Acceleration: 2, Speed: 1, KeepsFacing: true}).Append(nil), float32(5), 100.0)
	f.Add((&Gait{Acceleration: 1e-30, Speed: 1, owed: 3}).Append(nil), float32(5), 1e-9)
	f.Fuzz(func(t *testing.T, b []byte, top float32, left float64) {
		rd := codec.NewReader(b)
		var g Gait
		g.Read(&rd, top)
		if rd.Close() != nil {
			return
		}
		if got := g.Append(nil); !bytes.Equal(got, b) {
			t.Fatalf("%x is read as %+v and written as %x", b, g, got)
		}
		if !(top > 0 && top < math.MaxFloat32) || !(left >= 0 && left < 1e7) {
			return
		}
		for range 5 {
			step, there := g.Step(top, left, tick)
			if math.IsNaN(step) || g.Speed > top || !there && step > left {
				t.Fatalf("%+v goes %v of %v", g, step, left)
			}
			if left -= step; there {
				break
			}
			g.Moved(step, step)
		}
	})
}
