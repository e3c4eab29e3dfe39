package sim

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/invariant"
)

var (
	seeds    = flag.Int("seeds", seedsByDefault, "how many seeds TestSeeds runs")
	start    = flag.Uint64("start", 1, "the first seed of TestSeeds")
	verbose  = flag.Bool("v.log", false, "print the logs of the processes")
	managers = flag.Bool("managers", false, "let the CellAppMgr crash in every run of TestSeeds")
	retires  = flag.Bool("retires", false, "let cells retire in every run of TestSeeds")
	tame     = flag.Bool("tame", false, "leave out what makes the world wild in TestSeeds")
	further  = flag.Int("further", 0, "how many seeds, from -start on, the other tests of many seeds run beside their own")
	first    = flag.Bool("first", false, "end TestSeeds at the first seed that fails")
	traced   = flag.String("trace", "", "write the trace of the run to a file")
)

// optionsOf returns the options that a seed stands for: every third seed has no crashes, every
// fifth no pauses; half of them draw the size of the cluster and what else is bad.
func optionsOf(seed uint64) Options {
	o := plain(seed)
	if seed%2 == 0 {
		return o
	}
	r := rand.New(rand.NewPCG(seed, 0x0b71))
	o.CellApps, o.BaseApps = 2+r.IntN(5), 1+r.IntN(3)
	o.Players, o.Rovers = 1+r.IntN(12), r.IntN(13)-1
	if r.IntN(8) == 0 {
		o.Players = 30
	}
	o.Faults = time.Duration(5+r.IntN(25)) * time.Second
	o.Churn = r.IntN(2) == 0
	o.CrashBase = o.Crash && r.IntN(4) == 0
	o.CrashLogin = o.Crash && r.IntN(4) == 0
	o.Cut = r.IntN(2) == 0
	o.Noise = r.IntN(3) == 0
	if r.IntN(3) == 0 {
		o.Rogues = 1 + r.IntN(2)
	}
	if r.IntN(2) == 0 {
		o.Lodgers = 1 + r.IntN(6)
	}
	if r.IntN(3) == 0 {
		o.Overload = crowded(0.3)
	}
	return o
}

// withManager adds a CellAppMgr that crashes to a fifth of the seeds, cells that retire all the
// time to a fourth, and Lookouts to most, half of them with a short patience, so that wrong
// verdicts stay common. Its draws are of their own, so the kept seeds stay what they were.
func withManager(o Options) Options {
	o.CrashManager = *managers || rand.New(rand.NewPCG(o.Seed, 0x3a9a)).IntN(5) == 0
	o.Retire = *retires || rand.New(rand.NewPCG(o.Seed, 0x4e71)).IntN(4) == 0
	o.Lookout = rand.New(rand.NewPCG(o.Seed, 0x100c)).IntN(4) > 0
	if rand.New(rand.NewPCG(o.Seed, 0x4a46)).IntN(2) == 0 {
		o.HangTimeout = deadAfter
	}
	return withSlow(withLossy(withSevered(o)))
}

// withLossy makes what others see unreliable in half of the seeds.
func withLossy(o Options) Options {
	o.Lossy = rand.New(rand.NewPCG(o.Seed, 0x1055)).IntN(2) == 0
	return o
}

// wildOf says how wild the world of a seed is; its draws are its own, too.
func wildOf(seed uint64) Wild {
	r := rand.New(rand.NewPCG(seed, 0x317d))
	one := func(in int) bool { return r.IntN(in) == 0 }
	some := func(in, n int) int { return (1 - min(1, r.IntN(in))) * (1 + r.IntN(n)) } // in one seed of in
	w := Wild{
		Clocks: 1 + r.IntN(4), Heralds: some(2, 2), Stones: 1 + r.IntN(5), Brittle: some(3, 4), Twins: 2 * some(4, 2),
		Hold: one(2), Breaks: one(3), Dooms: one(2), Tight: one(4),
	}
	if w.Tight {
		w.Heralds = max(w.Heralds, 1) // heralds announce when it falls silent
	}
	w.Relogins = seed%2 == 1 // half of those with twins
	w.Namers = some(2, 4)
	w.Gossips = some(2, 6)
	return w
}

// wildly makes the world of a seed wild, as TestSeeds does.
func wildly(o Options) Options {
	o.Wild = wildOf(o.Seed)
	o.Wild.Travellers = travellersOf(o.Seed)
	o.Gateway = gatewayOf(o.Seed)
	o.Wild.Settlers = settlersOf(o.Seed)
	return o
}

// withHeirs lets BaseApps die where CellApps do, in three of four seeds with copies on others, so
// that bases live on. Its draws are its own.
func withHeirs(o Options) Options {
	r := rand.New(rand.NewPCG(o.Seed, 0x4e18))
	if r.IntN(4) == 0 {
		return o
	}
	o.Replicas, o.CrashBase = 1, o.Crash
	if r.IntN(4) == 0 {
		o.Replicas = 2
	}
	o.BaseApps = max(o.BaseApps, 3) // a default world has two
	return o
}

// travellersOf is how many entities are teleported all the time: some in a third of the seeds. It
// has a chance of its own, so that the other seeds stay the same runs.
func travellersOf(seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 0x7e1e))
	return max(0, r.IntN(9)-5) * 2
}

// settlersOf is how many entities are made near others: some in a fourth of the seeds, by a chance
// of its own.
func settlersOf(seed uint64) int {
	r := rand.New(rand.NewPCG(seed, 0x5e77))
	return max(0, r.IntN(8)-5) * 2
}

// withBeacons has BaseApps ensure something in half of the seeds, by a chance of its own.
func withBeacons(o Options) Options {
	o.Wild.Beacons = max(0, rand.New(rand.NewPCG(o.Seed, 0xbeac)).IntN(6)-2)
	return o
}

// withViews lets players see in changing ways in a third of the seeds, by a chance of its own, but
// not where the budget is too small, since there ages are judged by what is in view. Kept seeds,
// which are older, are without.
func withViews(o Options) Options {
	o.Wild.Views = !o.Wild.Tight && rand.New(rand.NewPCG(o.Seed, 0x51e3)).IntN(3) == 0
	return o
}

// withBursts has brittle entities called with what they panic at each time, in half of the seeds
// that have some.
func withBursts(o Options) Options {
	o.Wild.Bursts = o.Wild.Brittle > 0 && rand.New(rand.NewPCG(o.Seed, 0xb057)).IntN(2) == 0
	return o
}

// withCracks has bases of every kind panic, in a third of the seeds.
func withCracks(o Options) Options {
	o.Wild.Cracks = rand.New(rand.NewPCG(o.Seed, 0xc7ac)).IntN(3) == 0
	return o
}

// withScripts lets scripts do what few do: in a third of the seeds each there are idols, which are
// shown by hand, towers, which are seen from afar, sentries, which have traps, carriages, which
// others ride on, kicks, walls, and questions who is near. Each is drawn by a chance of its own.
func withScripts(o Options) Options {
	some := func(stream uint64, n int) int { return max(0, rand.New(rand.NewPCG(o.Seed, stream)).IntN(3*n)-2*n+1) }
	o.Wild.Idols, o.Wild.Towers, o.Wild.Sentries = some(0x1d01, 6), some(0x70e5, 3), some(0x5e47, 4)
	o.Wild.Carriages = some(0xca41, 5)
	o.Wild.Leases = o.Wild.stores()
	o.Wild.Kicks, o.Wild.Walls, o.Wild.Ranges = some(0x41c5, 1) > 0, some(0x3a11, 1) > 0, some(0x4a9e, 1) > 0
	return o
}

// gatewayOf says whether there are gateways: in a sixth of the seeds, by a chance of its own.
func gatewayOf(seed uint64) bool { return rand.New(rand.NewPCG(seed, 0x6a7e)).IntN(6) == 0 }

// andFurther returns the seeds of a test, and those that -further adds.
func andFurther(own ...uint64) []uint64 {
	for i := range uint64(*further) {
		own = append(own, *start+i)
	}
	return own
}

// replay is the command that runs one test again, with the logs.
func replay(t *testing.T, args string) string {
	tags := ""
	if invariant.On {
		tags = "-tags invariants "
	}
	return fmt.Sprintf("replay: go test %s./internal/sim -run '^%s$' -args %s-v.log", tags, strings.ReplaceAll(t.Name(), "/", "$/^"), args)
}

// runSeed runs all phases, and reports what went wrong together with the command that replays it;
// args select the run within the test.
func runSeed(t *testing.T, o Options, args string) Result {
	t.Helper()
	if *verbose {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if *traced != "" {
		f, err := os.Create(*traced)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		o.TraceTo = f
	}
	c, err := New(o)
	if err != nil {
		t.Error(err)
		return Result{}
	}
	begun := time.Now()
	if err := c.Run(); err != nil {
		t.Errorf("%v\n%s", err, replay(t, args))
	}
	r := c.Result()
	t.Logf("seed %d: %v simulated in %v, %+v", o.Seed, r.Elapsed.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond), r)
	return r
}

// TestSeeds runs whole clusters through faults and back, on two cores. -seeds and -start choose
// which; a failing run prints the command that replays it.
func TestSeeds(t *testing.T) {
	t.Parallel()
	var next atomic.Int64
	run := func() {
		for i := next.Add(1) - 1; i < int64(*seeds) && !(*first && t.Failed()); i = next.Add(1) - 1 {
			seed := *start + uint64(i)
			o := withManager(optionsOf(seed))
			if !*tame {
				o = withScripts(withCracks(withBeacons(withBursts(withViews(withHeirs(wildly(o)))))))
			}
			runSeed(t, o, fmt.Sprintf("-seeds=1 -start=%d -managers=%v -retires=%v -tame=%v ", seed, *managers, *retires, *tame))
		}
	}
	var other sync.WaitGroup
	if *traced == "" { // a trace is of one run
		other.Go(run)
	}
	run()
	other.Wait()
}

// TestSameSeedSameTrace runs one seed twice, with everything that can go wrong, and compares the
// runs event by event.
func TestSameSeedSameTrace(t *testing.T) {
	t.Parallel()
	run := func() (*bytes.Buffer, Result) {
		var text bytes.Buffer
		o := Options{Seed: 4, Crash: true, CrashBase: true, Pause: true, Noise: true, Rogues: 2, Lodgers: 3, TraceTo: &text,
			Wild: Wild{Clocks: 2, Heralds: 1, Stones: 2, Brittle: 2, Twins: 2, Namers: 2, Gossips: 3, Hold: true, Breaks: true, Dooms: true, Tight: true}}
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		return &text, c.Result()
	}
	a, ra := run()
	b, rb := run()
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		la, lb := bytes.Split(a.Bytes(), []byte("\n")), bytes.Split(b.Bytes(), []byte("\n"))
		for i := range la {
			if i >= len(lb) || !bytes.Equal(la[i], lb[i]) {
				t.Fatalf("the runs part at event %d: %s", i+1, la[i])
			}
		}
		t.Fatal("the second run is longer")
	}
	if ra != rb || ra.Lines == 0 {
		t.Fatalf("results differ: %+v and %+v", ra, rb)
	}
}
