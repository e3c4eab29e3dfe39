package sim

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"testing"
	"time"
)

var (
	seeds   = flag.Int("seeds", 24, "how many seeds TestSeeds runs")
	start   = flag.Uint64("start", 1, "the first seed of TestSeeds")
	verbose = flag.Bool("v.log", false, "print the logs of the processes")
	traced  = flag.String("trace", "", "write the trace of the run to a file")
)

// optionsOf are the options that a seed stands for: every third seed has no
// crashes, every fifth no pauses.
func optionsOf(seed uint64) Options {
	return Options{Seed: seed, Crash: seed%3 != 0, Pause: seed%5 != 0}
}

func runSeed(t *testing.T, o Options) Result {
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
		t.Fatal(err)
	}
	begun := time.Now()
	if err := c.Run(); err != nil {
		t.Errorf("%v\nreplay: go test ./internal/sim -run 'TestSeeds$' -args -seeds=1 -start=%d -v.log", err, o.Seed)
	}
	r := c.Result()
	t.Logf("seed %d: %v simulated in %v, %+v", o.Seed, r.Elapsed.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond), r)
	return r
}

// TestSeeds runs whole clusters through faults and back. -seeds and -start choose
// which; a failing one is replayed by the command that it prints.
func TestSeeds(t *testing.T) {
	for i := range *seeds {
		seed := *start + uint64(i)
		runSeed(t, optionsOf(seed))
		if t.Failed() && i > 2 {
			t.FailNow()
		}
	}
}

// TestSameSeedSameTrace runs one seed twice, with everything that can go wrong,
// and compares the runs event by event.
func TestSameSeedSameTrace(t *testing.T) {
	run := func() (*bytes.Buffer, Result) {
		var text bytes.Buffer
		o := Options{Seed: 4, Crash: true, Pause: true, TraceTo: &text}
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
