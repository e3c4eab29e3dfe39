package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// switches is how often the threads of this process have gone to sleep so far.
func switches(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		_, after, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
		line, _, _ := strings.Cut(after, "\n")
		k, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %q", name, text)
		}
		n += k
	}
	return n
}

// ticking is an app that works for a millisecond of each five.
type ticking struct {
	idle
	work  func() time.Duration
	ticks int
}

func (a *ticking) Tick(now time.Duration) time.Duration {
	a.ticks++
	for began := a.work(); a.work() < began+time.Millisecond; {
	}
	return now + 5*time.Millisecond
}

// A turn wakes one thread, and not the runtime's monitor, which would then wake several times more.
func TestTurnWakesOneThread(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	app := &ticking{}
	p, err := h.Start("ticking", "127.0.0.1:0", func(env Env) (App, error) {
		app.work = env.Work
		return app, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := p.waiter.(*inKernel); !ok {
		t.Skip("this kernel has no such wait")
	}
	const tries, most = 10, 2.6 // a collection of garbage and other tests' leavings wake threads, too
	least := 1000.0
	for range tries {
		var before, after int
		if err := p.Do(func(App) { before = app.ticks }); err != nil {
			t.Fatal(err)
		}
		slept := switches(t)
		time.Sleep(200 * time.Millisecond)
		slept = switches(t) - slept
		if err := p.Do(func(App) { after = app.ticks }); err != nil {
			t.Fatal(err)
		}
		least = min(least, float64(slept)/float64(after-before))
		if least <= most {
			return
		}
	}
	t.Errorf("threads go to sleep %.1f times a turn", least)
}
