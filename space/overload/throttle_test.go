package overload

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cellscape/cellscape/balance/load"
)

const core = load.Core

const tickPeriod = 100 * time.Millisecond

// steady feeds a throttle one load for a while, at 10 Hz, from a time on.
func steady(t *Throttle, from, d time.Duration, raw, smoothed float64) (steps []int) {
	for now := from; now < from+d; now += tickPeriod {
		if t.Tick(now, int64(raw*float64(core)), int64(smoothed*float64(core)), false) {
			steps = append(steps, t.Step())
		}
	}
	return steps
}

// Budgets go first, to their floor, then details, and only then the rate; the way back is the
// reverse, and slower.
func TestDegradationOrder(t *testing.T) {
	th := New(Config{}.WithDefaults())
	var down, up []Degradation
	downAt, upAt := map[int]time.Duration{}, map[int]time.Duration{}
	now := time.Duration(0)
	for ; th.Step() < th.Steps(); now += tickPeriod {
		if th.Tick(now, core*95/100, core*95/100, false) {
			down, downAt[th.Step()] = append(down, th.Degradation()), now
		}
	}
	for ; th.Step() > 0; now += tickPeriod {
		if th.Tick(now, core/10, core/10, false) {
			up, upAt[th.Step()] = append(up, th.Degradation()), now
		}
	}
	if len(down) != th.Steps() || len(up) != th.Steps() {
		t.Fatalf("%d steps down, %d up, of %d", len(down), len(up), th.Steps())
	}
	last := None()
	for i, x := range down {
		switch {
		case x.Budget < last.Budget && x.Detail == 1000 && x.Rate == 1000:
		case x.Detail < last.Detail && x.Budget == 250 && x.Rate == 1000:
		case x.Rate < last.Rate && x.Budget == 250 && x.Detail == 500:
		default:
			t.Errorf("step %d: %+v after %+v", i+1, x, last)
		}
		if i+1 < len(down) && up[len(up)-2-i] != x {
			t.Errorf("on the way back step %d is %+v, it was %+v", i+1, up[len(up)-2-i], x)
		}
		last = x
	}
	if last != (Degradation{250, 500, 200}) {
		t.Errorf("the floor is %+v", last)
	}
	if downAt[1] < DefaultPatience {
		t.Errorf("the first step came after %v", downAt[1])
	}
	for i := 2; i <= th.Steps(); i++ {
		fell, rose := downAt[i]-downAt[i-1], upAt[i-1]-upAt[i]
		if i == th.Steps() {
			rose = upAt[i-1] - downAt[i]
		}
		if fell < DefaultDwell || rose < DefaultRecovery || rose <= fell {
			t.Errorf("step %d took %v down and %v up", i, fell, rose)
		}
	}
}

func TestDegradationWaits(t *testing.T) {
	at := func(step int) *Throttle {
		th := New(Config{}.WithDefaults())
		th.step = step
		return th
	}
	for _, c := range []struct {
		name          string
		step          int
		d             time.Duration
		raw, smoothed float64
		want          string // steps that it comes to
	}{
		{"a peak shorter than the patience", 0, 5900 * time.Millisecond, 2, 0.95, "[]"},
		{"below the bound", 0, time.Minute, 0.9, 0.9, "[]"},
		{"ticks that were long, in a load that is not", 0, time.Minute, 2, 0.5, "[]"},
		{"a smoothed load that is behind: the ticks are short again", 3, time.Minute, 0.7, 1, "[]"},
		{"between the bounds", 3, time.Minute, 0.8, 0.8, "[]"},
		{"low, but a step back would be too much", 3, time.Minute, 0.65, 0.65, "[]"},
		{"low enough for a step back", 3, 8 * time.Second, 0.64, 0.64, "[2]"},
		{"low ticks, a smoothed load that is behind", 3, 8 * time.Second, 0.3, 0.8, "[]"},
		{"a little too much is one step", 3, 8100 * time.Millisecond, 0.95, 0.95, "[4 5]"},
		{"twice too much is three", 1, 6100 * time.Millisecond, 1.9, 0.95, "[4]"},
		{"a stall counts as two cores", 1, 6100 * time.Millisecond, 50, 1, "[4]"},
		{"at the floor", 22, time.Minute, 2, 1, "[]"},
	} {
		if got := fmt.Sprint(steady(at(c.step), time.Hour, c.d, c.raw, c.smoothed)); got != c.want {
			t.Errorf("%s: steps %v, want %v", c.name, got, c.want)
		}
	}
}

// The first step comes when the load has been high for Patience, and the first step back when it has been low
// for Recovery, as these are set.
func TestPatienceAndRecovery(t *testing.T) {
	for _, c := range []Config{
		{Patience: 3 * time.Second, Recovery: 4 * time.Second, Dwell: time.Second},
		{Patience: 10 * time.Second, Recovery: 20 * time.Second, Dwell: time.Second},
	} {
		th := New(c.WithDefaults())
		until := func(share, step int, from time.Duration) time.Duration {
			now := from
			for ; th.Step() != step && now < from+time.Minute; now += tickPeriod {
				th.Tick(now, core*int64(share)/100, core*int64(share)/100, false)
			}
			return now
		}
		down := until(95, 1, 0)
		back := until(50, 0, down) - down
		if down < c.Patience || down > c.Patience+c.Dwell+tickPeriod {
			t.Errorf("the first step came after %v, Patience is %v", down, c.Patience)
		}
		if back < c.Recovery || back > c.Recovery+2*c.Dwell {
			t.Errorf("the step back came after %v, Recovery is %v", back, c.Recovery)
		}
	}
}

// What the load was before a step took effect says nothing of the next.
func TestDegradationWaitsForItsEffect(t *testing.T) {
	th := New(Config{}.WithDefaults())
	now := time.Duration(0)
	for ; th.Step() == 0; now += tickPeriod {
		th.Tick(now, core, core, false)
	}
	first := th.Step()
	for end := now + DefaultDwell; now < end; now += tickPeriod {
		raw := core * 85 / 100
		if now < end-DefaultDwell*6/10 {
			raw = 2 * core
		}
		th.Tick(now, raw, core, false)
	}
	if th.Step() != first {
		t.Errorf("step %d after %d", th.Step(), first)
	}
}

// dense is a CellApp with a crowd whose load answers what it saves: base × (a + b × budget + c ×
// detail + d × rate), by its own chance a few hundredths more or less. The rate comes by the
// manager: late, and not at once.
type dense struct {
	base, a, b, c, d, noise float64

	th       *Throttle
	chance   *rand.Rand
	now      time.Duration
	smoothed float64
	rate     float64
	told     []float64
	steps    []int
}

func (x *dense) run(d time.Duration) {
	for end := x.now + d; x.now < end; x.now += tickPeriod {
		t := x.th.Degradation()
		x.told = append(x.told, float64(t.Rate)/1000)
		if n := len(x.told); n > 15 && n%10 == 0 {
			if want := x.told[n-15]; want < x.rate {
				x.rate = max(want, x.rate*0.75)
			} else {
				x.rate = min(want, x.rate*1.1)
			}
		}
		raw := x.base * (x.a + x.b*float64(t.Budget)/1000 + x.c*float64(t.Detail)/1000 + x.d*x.rate)
		raw *= 1 + x.noise*(2*x.chance.Float64()-1)
		x.smoothed += (min(raw, 1) - x.smoothed) / 20 // of what fits into a second
		if x.th.Tick(x.now, int64(raw*float64(core)), int64(x.smoothed*float64(core)), false) {
			x.steps = append(x.steps, x.th.Step())
		}
	}
}

// turns counts how often the steps changed direction.
func turns(steps []int) (n int) {
	for i := 2; i < len(steps); i++ {
		if (steps[i] > steps[i-1]) != (steps[i-1] > steps[i-2]) {
			n++
		}
	}
	return n
}

// Under any load that answers, the throttle settles: it goes down, perhaps back a little, and
// stays. When the crowd has gone it goes all the way back.
func TestDegradationSettles(t *testing.T) {
	cases, deepest := 0, 0
	for base := 0.7; base < 6; base *= 1.13 {
		for _, m := range [][4]float64{
			{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {.25, .25, .25, .25}, {.1, .6, .2, .1}, {.1, .1, .2, .6}, {.4, .1, .1, .4}, {.5, .5, 0, 0}, {.3, 0, .7, 0},
		} {
			for _, noise := range []float64{0, .1, .4} {
				cases++
				x := &dense{base: base, a: m[0], b: m[1], c: m[2], d: m[3], noise: noise, rate: 1,
					th: New(Config{}.WithDefaults()), chance: rand.New(rand.NewPCG(1, uint64(cases)))}
				x.run(5 * time.Minute)
				settled := len(x.steps)
				x.run(5 * time.Minute)
				name := fmt.Sprintf("base %.2f, model %v, noise %v", base, m, noise)
				// A load that is a hair below the bound may yet go one step down by its noise; one
				// that is very uneven a few, until it has the room it needs.
				if n := len(x.steps) - settled; n > 0 && noise == 0 || n > 1 && noise <= .1 {
					t.Errorf("%s: does not settle: %v", name, x.steps)
				}
				if n := turns(x.steps); n > 1 {
					t.Errorf("%s: turns %d times: %v", name, n, x.steps)
				}
				deepest = max(deepest, x.th.Step())
				x.base, x.steps = 0.2, nil
				x.run(5 * time.Minute)
				if x.th.Step() != 0 || turns(x.steps) != 0 {
					t.Errorf("%s: the crowd is gone, and it came back by %v", name, x.steps)
				}
			}
		}
	}
	if deepest != 22 {
		t.Errorf("no load came to the floor: %d", deepest)
	}
}

// A crowd that slowly comes and goes turns the throttle once.
func TestDegradationFollowsASlowCrowd(t *testing.T) {
	x := &dense{a: .2, b: .3, c: .2, d: .3, noise: .1, rate: 1, th: New(Config{}.WithDefaults()), chance: rand.New(rand.NewPCG(1, 2))}
	for i := range 120 {
		x.base = 0.5 + 2*float64(min(i, 120-i))/60
		x.run(10 * time.Second)
	}
	x.base = 0.3
	x.run(5 * time.Minute)
	if n := turns(x.steps); n > 1 || x.th.Step() != 0 {
		t.Errorf("%d turns: %v", n, x.steps)
	}
}

func TestConfigFaults(t *testing.T) {
	err := Config{Start: -1, Patience: -1, Dwell: 2 * time.Second, Recovery: time.Second, MinBudget: 2, MinDetail: -1, MinRate: 0.01}.Validate()
	for _, field := range []string{"Start", "Patience", "Recovery", "MinBudget", "MinDetail", "MinRate"} {
		if err == nil || !strings.Contains(err.Error(), "overload: "+field) {
			t.Errorf("no word on %s in %v", field, err)
		}
	}
	th := New(Config{MinBudget: 1, MinDetail: 1, MinRate: 1}.WithDefaults())
	if steady(th, 0, time.Minute, 2, 2); th.Steps() != 0 || th.Degradation() != None() {
		t.Errorf("with nothing to save at there are %d steps", th.Steps())
	}
}

// What a throttle costs in each tick of a CellApp.
func BenchmarkThrottleTick(b *testing.B) {
	th := New(Config{}.WithDefaults())
	b.ReportAllocs()
	now := time.Duration(0)
	for b.Loop() {
		now += tickPeriod
		th.Tick(now, core/2, core/2, false)
	}
}

// Late ticks alone never slow time, and work on top of them does.
func TestStrainLeavesTimeAlone(t *testing.T) {
	th := New(Config{}.WithDefaults())
	now := time.Duration(0)
	run := func(d time.Duration, strained bool) {
		for end := now + d; now < end; now += 100 * time.Millisecond {
			th.Tick(now, 2*core, 2*core, strained)
		}
	}
	run(2*time.Minute, true)
	if got := th.Degradation(); got.Rate != 1000 || got.Detail != 500 {
		t.Errorf("after two minutes of late ticks: %+v", got)
	}
	run(2*time.Minute, false)
	if got := th.Degradation(); got.Rate != 200 || th.Step() != th.Steps() {
		t.Errorf("after two minutes of too much work: %+v", got)
	}
	at := th.Step()
	if run(time.Minute, true); th.Step() != at {
		t.Errorf("late ticks lead from step %d to %d", at, th.Step())
	}
}
