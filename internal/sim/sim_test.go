package sim

import (
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
