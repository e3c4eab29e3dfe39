package bots

import (
	"math"
	"testing"
	"time"

	"github.com/cellscape/cellscape/property"
)

const tick = 100 * time.Millisecond

func at(x float32) property.Vector3 { return property.Vector3{X: x} }

// A move is known in time or is late; one that was never told by itself becomes known with a later
// one.
func TestTrailCounts(t *testing.T) {
	tr := newTrail()
	for i := range 10 {
		tr.add(time.Duration(i)*tick, at(float32(i)))
	}
	var f Freshness
	number, ok := tr.find(at(4.004), -1, DefaultRounding)
	if !ok || number != 4 {
		t.Fatalf("found move %d, %v", number, ok)
	}
	if _, ok := tr.find(at(4), 4, DefaultRounding); ok {
		t.Error("a move is found among those after it")
	}
	// At 5.5 ticks: the moves at 0 to 3 ticks are more than two ticks old.
	if next := tr.count(0, number+1, 5*tick+tick/2, 2*tick, true, &f); next != 5 || f.Moves != 5 || f.InTime != 1 {
		t.Errorf("next is %d, %d of %d in time", next, f.InTime, f.Moves)
	}
	// At 8.5 ticks the moves at 5 and 6 are late, if nobody has heard of them; for those at 7 and 8
	// it is too early to say.
	if next := tr.count(5, 10, 8*tick+tick/2, 2*tick, false, &f); next != 7 || f.Moves != 7 || f.InTime != 1 {
		t.Errorf("next is %d, %d of %d in time", next, f.InTime, f.Moves)
	}
	for _, c := range []struct {
		number    int
		now, want time.Duration
	}{
		{4, 9 * tick, 4 * tick},
		{4, 4 * tick, 0}, // outdated by a move still to come
		{9, 20 * tick, 0},
		{-1, 9 * tick, 9 * tick},
	} {
		if age := tr.age(int32(c.number), c.now); age != c.want {
			t.Errorf("at %v the place after move %d is %v old, want %v", c.now, c.number, age, c.want)
		}
	}
}

// Moves that are set apart count by themselves as well.
func TestTrailApart(t *testing.T) {
	tr := newTrail()
	tr.apart.Store(uint32(5 * tick / trailUnit))
	for i := range 10 {
		tr.add(time.Duration(i)*tick, at(float32(i)))
	}
	var f Freshness
	tr.count(0, 10, 5*tick+tick/2, 2*tick, true, &f)
	if f.Moves != 10 || f.InTime != 6 || f.Apart.Moves != 5 || f.Apart.InTime != 1 {
		t.Errorf("%d of %d in time, apart %d of %d", f.InTime, f.Moves, f.Apart.InTime, f.Apart.Moves)
	}
	for i, apart := range []bool{true, true, false} {
		f.note(1, 4, time.Duration(i)*tick, apart)
	}
	if tr.isApart(5*tick) || !tr.isApart(4*tick) || f.Apart.Worst != tick || f.Apart.Age(.5) != 0 || f.Apart.Age(1) != tick || f.Age(1, 0, Bands) != 2*tick {
		t.Errorf("apart worst %v, half %v, all %v", f.Apart.Worst, f.Apart.Age(.5), f.Apart.Age(1))
	}
	var sum Freshness
	sum.add(&f)
	sum.add(&f)
	if sum.Apart.Moves != 10 || sum.Apart.Share() != .2 || sum.Apart.Age(1) != tick {
		t.Errorf("in sum %+v", sum.Apart.Moves)
	}
}

// The nearest whom a bot knows count by themselves as well.
func TestNearest(t *testing.T) {
	var near []sample
	for i := range 3 * Nearest { // each distance of 0 to 59 once, those of 0 to 19 with an age of one tick
		distance := i * 7 % (3 * Nearest)
		age := time.Minute
		if distance < Nearest {
			age = tick
		}
		near = nearer(near, sample{float32(distance), age})
	}
	for i, x := range near {
		if x.distance != float32(i) {
			t.Errorf("%d of the nearest is at %v", i, x.distance)
		}
	}
	var f, sum Freshness
	f.noteNear(near)
	f.noteNear([]sample{{1, 2 * tick}})
	sum.add(&f)
	sum.add(&f)
	if len(near) != Nearest || sum.AgeNear(.9) != tick || sum.AgeNear(1) != 2*tick || sum.WorstNear != 2*tick {
		t.Errorf("%d, most %v, all %v, worst %v", len(near), sum.AgeNear(.9), sum.AgeNear(1), sum.WorstNear)
	}
}

// However many bots there are, their looks are spread over the time between two.
func TestPhases(t *testing.T) {
	for _, n := range []int{10, 100, 2000} {
		var tenths [10]int
		for i := range n {
			b := Bot{Number: i}
			tenths[b.phase(slowLook)*10/slowLook]++
		}
		for k, bots := range tenths {
			if bots > n/10+n/50+2 {
				t.Errorf("%d of %d bots look in tenth %d of the time", bots, n, k)
			}
		}
	}
}

// What a trail does not remember any more is late, and old to within a few ticks, up to a minute.
func TestTrailForgets(t *testing.T) {
	const made = 3000
	tr := newTrail()
	for i := range made {
		tr.add(time.Duration(i)*tick, at(float32(i)))
	}
	if _, ok := tr.find(at(made-kept-1), -1, DefaultRounding); ok {
		t.Error("a forgotten move is found")
	}
	var f Freshness
	if next := tr.count(100, math.MaxInt32, made*tick, 2*tick, false, &f); next != made-2 || f.Moves != made-102 || f.InTime != 0 {
		t.Errorf("next is %d, %d of %d in time", next, f.InTime, f.Moves)
	}
	f = Freshness{}
	if next := tr.count(100, 200, made*tick, 2*tick, false, &f); next != 200 || f.Moves != 100 {
		t.Errorf("next is %d, %d moves", next, f.Moves)
	}
	for back := 1; back < 500; back++ {
		got, want := tr.age(int32(made-1-back), (made-1)*tick), time.Duration(back-1)*tick
		if got > want || got < want-keptEvery*tick || back <= kept && got != want {
			t.Errorf("a place of %v ago is told as %v old", want, got)
		}
	}
	if age := tr.age(10, (made-1)*tick); age < 49*time.Second {
		t.Errorf("a place of minutes ago is told as %v old", age)
	}
}

func TestAges(t *testing.T) {
	var a, f Freshness
	for i := range 100 {
		a.note(10, 100, time.Duration(i)*10*time.Millisecond, false)
	}
	a.note(90, 100, time.Minute, false)
	f.add(&a)
	if p50, p99 := f.Age(.5, 0, 1), f.Age(.99, 0, 1); p50 != 490*time.Millisecond || p99 != 980*time.Millisecond {
		t.Errorf("p50 %v, p99 %v", p50, p99)
	}
	if f.Worst[Bands-1] != time.Minute || f.Worst[0] != 990*time.Millisecond {
		t.Errorf("%+v", f.Worst)
	}
}

// Ages are told to the step up to ten seconds, and to the second up to a minute.
func TestLongAges(t *testing.T) {
	for _, c := range []struct{ age, want time.Duration }{
		{9999 * time.Millisecond, 9990 * time.Millisecond}, {10 * time.Second, 10 * time.Second},
		{27900 * time.Millisecond, 27 * time.Second}, {time.Minute, time.Minute}, {time.Hour, time.Minute},
	} {
		var f Freshness
		f.note(10, 100, c.age, false)
		if got := f.Age(1, 0, Bands); got != c.want {
			t.Errorf("%v is told as %v", c.age, got)
		}
	}
}

// Another is where it went last, not where it was when it was heard of.
func TestTrailPlace(t *testing.T) {
	tr, held := newTrail(), property.Vector3{X: 90, Y: 3}
	if got := tr.place(held); got != held {
		t.Errorf("before a move it is at %v", got)
	}
	for i := range 10 {
		tr.add(time.Duration(i)*tick, at(float32(90-i)))
	}
	if got := tr.place(held); got != (property.Vector3{X: 81, Y: 3}) {
		t.Errorf("it is at %v", got)
	}
}

// The address of a server in the clothes of a socket tells both again.
func TestDisguise(t *testing.T) {
	seen := map[string]bool{}
	for _, socket := range []int{0, 1, 255, 65535} {
		for _, place := range []int{0, 1, 77} {
			a := disguise(socket, place, 20013)
			s, p := undisguise(a)
			if s != socket || p != place || a.Port() != 20013 || seen[a.String()] {
				t.Errorf("socket %d, server %d: %v is socket %d, server %d", socket, place, a, s, p)
			}
			seen[a.String()] = true
		}
	}
}

func TestTowards(t *testing.T) {
	to := property.Vector3{X: 3, Z: 4}
	if at, _ := Towards(property.Vector3{}, to, 5.1); at != to {
		t.Errorf("at %v", at)
	}
	if at, yaw := Towards(property.Vector3{}, property.Vector3{X: 10}, 1); at != (property.Vector3{X: 1}) || math.Abs(float64(yaw)-math.Pi/2) > 1e-6 {
		t.Errorf("at %v, yaw %v", at, yaw)
	}
}
