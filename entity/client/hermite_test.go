package client

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cellscape/cellscape/property"
)

const walkSpeed = 5.0 // metres a second

// walker goes from place to place, and stands at the end.
type walker struct {
	corners []property.Vector3
	lengths []float64 // until each corner
}

func newWalker(chance *rand.Rand, corners int) *walker {
	w := &walker{corners: []property.Vector3{{}}, lengths: []float64{0}}
	for range corners {
		last := w.corners[len(w.corners)-1]
		next := property.Vector3{X: last.X + (chance.Float32()-.5)*20, Z: last.Z + (chance.Float32()-.5)*20}
		w.corners = append(w.corners, next)
		w.lengths = append(w.lengths, w.lengths[len(w.lengths)-1]+float64(property.Distance(last, next)))
	}
	return w
}

// at is where it really is, and done that it has come to the end.
func (w *walker) at(now time.Duration) (place property.Vector3, done bool) {
	gone := now.Seconds() * walkSpeed
	for i := 1; i < len(w.corners); i++ {
		if gone < w.lengths[i] {
			x := float32((gone - w.lengths[i-1]) / (w.lengths[i] - w.lengths[i-1]))
			return plus(w.corners[i-1], scale(minus(w.corners[i], w.corners[i-1]), x)), false
		}
	}
	return w.corners[len(w.corners)-1], true
}

// link is a bad one: what arrives, and when.
type link struct {
	latency, jitter time.Duration
	loss            float64
}

// arrival is a place on its way. The client takes none that is older than one it has.
type arrival struct {
	at     time.Duration
	number int
	place  property.Vector3
	says   Word
}

// send is what arrives of a walk told of ten times a second, the last reliably.
func (l link) send(chance *rand.Rand, w *walker) (all []arrival, end time.Duration) {
	for number := 1; ; number++ {
		now := time.Duration(number) * DefaultTick
		place, done := w.at(now)
		if done || chance.Float64() >= l.loss {
			late := l.latency
			if l.jitter > 0 {
				late += time.Duration(chance.Int64N(int64(l.jitter)))
			}
			says := Moves
			if done {
				says = Rests
			}
			all = append(all, arrival{now + late, number, place, says})
		}
		if done {
			return all, now
		}
	}
}

// play draws a walk at 60 frames a second and calls f for each frame.
func play(f Filter, all []arrival, until time.Duration, frame func(now time.Duration, shown property.Vector3)) {
	newest := 0
	f.Input(0, property.Vector3{}, property.Vector3{}, Appears)
	for now := time.Duration(0); now < until; now += time.Second / 60 {
		for before := now - time.Second/60; ; {
			next := -1
			for i, a := range all { // in the order of arrival
				if a.at > before && a.at <= now && a.number > newest && (next < 0 || a.at < all[next].at) {
					next = i
				}
			}
			if next < 0 {
				break
			}
			before, newest = all[next].at, all[next].number
			f.Input(all[next].at, all[next].place, property.Vector3{}, all[next].says)
		}
		shown, _ := f.Output(now)
		frame(now, shown)
	}
}

// Whatever the network does, an entity is shown to walk: never a jump, never far from where it has been
// half a second before, never beyond where it can be, and in the end exactly where it stands.
func TestHermiteOverBadLinks(t *testing.T) {
	for name, c := range map[string]struct {
		link
		behind time.Duration // from truth to screen at the most
		speed  float64       // shown, at the most
	}{
		"perfect":          {link{}, 350 * time.Millisecond, 1.5 * walkSpeed},
		"far":              {link{latency: 100 * time.Millisecond}, 450 * time.Millisecond, 1.5 * walkSpeed},
		"jitter":           {link{latency: 30 * time.Millisecond, jitter: 80 * time.Millisecond}, 500 * time.Millisecond, 3.5 * walkSpeed},
		"loss":             {link{latency: 30 * time.Millisecond, loss: .2}, 600 * time.Millisecond, 3 * walkSpeed},
		"jitter and loss":  {link{latency: 30 * time.Millisecond, jitter: 120 * time.Millisecond, loss: .3}, 900 * time.Millisecond, 4.5 * walkSpeed},
		"hardly anything":  {link{latency: 30 * time.Millisecond, jitter: 50 * time.Millisecond, loss: .7}, 2500 * time.Millisecond, 20 * walkSpeed}, // a second and more at once
		"nothing comes by": {link{loss: 1}, time.Hour, 6 * walkSpeed},
	} {
		var worst, fastest float64
		for seed := range uint64(20) {
			chance := rand.New(rand.NewPCG(seed, 1))
			w := newWalker(chance, 12)
			all, end := c.send(chance, w)
			f := new(Hermite)
			var last property.Vector3
			play(f, all, end+3*time.Second, func(now time.Duration, shown property.Vector3) {
				if !property.Finite(shown) {
					t.Fatalf("%s, seed %d: shown at %v", name, seed, shown)
				}
				step := float64(property.Distance(last, shown)) * 60
				last = shown
				truth, _ := w.at(now)
				worst, fastest = max(worst, float64(property.Distance(truth, shown))), max(fastest, step)
			})
			if place, _ := w.at(end); property.Distance(last, place) > .001 {
				t.Errorf("%s, seed %d: it stands at %v and is shown at %v", name, seed, place, last)
			}
		}
		t.Logf("%s: off by %.2f m at the most, shown at up to %.1f m/s", name, worst, fastest)
		if far := c.behind.Seconds() * walkSpeed; worst > far {
			t.Errorf("%s: shown %.2f m from where it is, more than %.2f", name, worst, far)
		}
		if c.loss < 1 && fastest > c.speed {
			t.Errorf("%s: shown to run at %.1f m/s, more than %.1f", name, fastest, c.speed)
		}
	}
}

// Where places come regularly, the delay is two intervals, and what is shown is what was true then.
func TestHermiteDelay(t *testing.T) {
	f := new(Hermite)
	for i := range 50 {
		f.Input(time.Duration(i)*DefaultTick, property.Vector3{X: float32(i)}, property.Vector3{}, Moves)
		f.Output(time.Duration(i)*DefaultTick + 50*time.Millisecond)
	}
	now := 50 * DefaultTick
	shown, _ := f.Output(now)
	if want := float32((now - 2*DefaultTick) / DefaultTick); f.delay != 2*DefaultTick || math.Abs(float64(shown.X-want)) > .01 {
		t.Errorf("delay %v, shown at %v, want %v", f.delay, shown.X, want)
	}
	// Silence: it goes on for half a delay, and stands.
	shown, _ = f.Output(now + time.Hour)
	if shown.X < 49 || shown.X > 50.01 {
		t.Errorf("after an hour of silence it is at %v", shown.X)
	}
}

// A jump is shown as one, whether it is said to be or is seen to be.
func TestHermiteJumps(t *testing.T) {
	for _, says := range []Word{Appears, Moves} {
		var f Hermite
		for i := range 10 {
			f.Input(time.Duration(i)*DefaultTick, property.Vector3{X: float32(i)}, property.Vector3{}, Moves)
		}
		there := property.Vector3{X: 500, Y: 3}
		f.Input(time.Second, there, property.Vector3{X: 1}, says)
		if shown, looks := f.Output(time.Second); shown != there || looks.X != 1 {
			t.Errorf("shown at %v, looks %v", shown, looks)
		}
	}
}

// Between two places it is shown within the box that they span, also if what comes after them is
// late, and however much shorter or longer the last step was than those before it.
func TestHermiteStaysBetweenPlaces(t *testing.T) {
	for _, step := range []float32{0, .01, .1, .5, 2, 10, -.1, -3} {
		f := new(Hermite)
		now, x := time.Duration(0), float32(0)
		f.Input(now, property.Vector3{}, property.Vector3{}, Appears)
		for range 20 {
			now, x = now+DefaultTick, x+3
			f.Input(now, property.Vector3{X: x}, property.Vector3{}, Moves)
		}
		now += DefaultTick
		f.Input(now, property.Vector3{X: x + step}, property.Vector3{}, Moves)
		low, high := min(x, x+step), max(x, x+step)
		for at := now - DefaultTick; at <= now; at += time.Millisecond {
			if shown, _ := f.curve(at); shown.X < low-1e-4 || shown.X > high+1e-4 {
				t.Errorf("a step of %v m after others of 3 m: shown at %v, not between %v and %v", step, shown.X, low, high)
				break
			}
		}
	}
}

// It turns the short way round.
func TestHermiteTurns(t *testing.T) {
	var f Hermite
	for i := range 40 {
		f.Input(time.Duration(i)*DefaultTick, property.Vector3{}, property.Vector3{X: short(float32(i) * .3)}, Moves)
		for k := range 6 {
			_, a := f.Output(time.Duration(i)*DefaultTick + time.Duration(k)*16*time.Millisecond)
			_, b := f.Output(time.Duration(i)*DefaultTick + time.Duration(k+1)*16*time.Millisecond)
			if turn := math.Abs(float64(short(b.X - a.X))); turn > .15 || math.Abs(float64(b.X)) > math.Pi+1e-5 {
				t.Errorf("from %v to %v in a frame", a.X, b.X)
			}
		}
	}
}

// Times that stand still, many places in one moment, and a clock that seems to run back do no harm.
func TestHermiteOddTimes(t *testing.T) {
	var f Hermite
	if p, d := f.Output(time.Second); p != (property.Vector3{}) || d != (property.Vector3{}) {
		t.Errorf("shown at %v before any place", p)
	}
	chance := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		now := time.Duration(chance.Int64N(int64(20 * time.Second)))
		f.Input(now, property.Vector3{X: chance.Float32() * 10}, property.Vector3{}, Word(chance.IntN(3)))
		p, _ := f.Output(now - time.Duration(chance.Int64N(int64(time.Second))))
		if !property.Finite(p) || p.X < -60 || p.X > 70 {
			t.Fatalf("shown at %v", p)
		}
	}
}

// Each entity has the filter that the game gives it, is shown by it, and still holds what the server said.
func TestShown(t *testing.T) {
	r := newRig(t)
	r.c.cfg.Filter = func(e *Replica) Filter {
		if e.ID == foe {
			return new(Hermite)
		}
		return nil
	}
	r.play()
	r.say(r.enter(foe+1, 1).Append(r.enter(foe, 1).Append(r.cell(2))))
	r.now = time.Second
	bundle := place(foe, 2).AppendRest(r.cell(3))
	r.say(place(foe+1, 2).AppendRest(bundle))
	smooth, plain := r.c.Entity(foe), r.c.Entity(foe+1)
	if shown, _ := smooth.Shown(r.now); shown.X != 1 || smooth.Position.X != 2 {
		t.Errorf("shown at %v, held at %v", shown, smooth.Position)
	}
	if shown, _ := plain.Shown(r.now); shown.X != 2 {
		t.Errorf("without a filter it is shown at %v", shown)
	}
	if shown, _ := smooth.Shown(r.now + time.Second); shown.X != 2 {
		t.Errorf("a second later it is shown at %v", shown)
	}
	plain.SetFilter(new(Raw))
	if shown, _ := plain.Shown(r.now); shown.X != 2 {
		t.Errorf("raw: shown at %v", shown)
	}
	smooth.SetFilter(nil)
	if shown, _ := smooth.Shown(r.now); shown.X != 2 {
		t.Errorf("without its filter it is shown at %v", shown)
	}
}

func BenchmarkHermite(b *testing.B) {
	var f Hermite
	b.ReportAllocs()
	now := time.Duration(0)
	for b.Loop() {
		now += DefaultTick
		f.Input(now, property.Vector3{X: float32(now.Seconds())}, property.Vector3{}, Moves)
		for k := range time.Duration(6) {
			f.Output(now + k*16*time.Millisecond)
		}
	}
}
