package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/examples/arena/defs"
	"github.com/cellscape/cellscape/space/cluster"
)

// TestTerminated: SIGTERM to the arena stops it in order, and the guards are back at the next start.
func TestTerminated(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two processes and runs for some seconds")
	}
	guards, patience := 20, 3*time.Second
	file := filepath.Join(t.TempDir(), "arena.db")
	for round, bots := range []int{5, 0} {
		cmd, out := process(t, "-bots %d -guards %d -store %s -http 127.0.0.1:0", bots, guards, file)
		time.Sleep(patience)
		began := time.Now()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		took := time.Since(began)
		t.Logf("round %d: %d guards; ended %v after SIGTERM\n%s", round, guards, took.Round(time.Millisecond), lastLine(out.String()))
		if !strings.Contains(out.String(), fmt.Sprintf(": %d entities written, 0 without their last place, 0 not", guards+1)) {
			t.Errorf("not all guards are kept, with the garrison:\n%s", out)
		}
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// TestStopMany measures, with ARENA_STOP=10000, how long the stop of an arena with so many guards
// takes once the store has a row of each, and how long they take to come back. Five seconds are the
// aim for the stop, on a machine that does little else.
func TestStopMany(t *testing.T) {
	guards, err := strconv.Atoi(os.Getenv("ARENA_STOP"))
	if err != nil {
		t.Skip("set ARENA_STOP to a number of guards")
	}
	file := filepath.Join(t.TempDir(), "arena.db")
	for round := range 2 {
		f, err := parseFlags([]string{"-bots", "0", "-guards", strconv.Itoa(guards), "-store", file})
		if err != nil {
			t.Fatal(err)
		}
		schema, err := defs.Load()
		if err != nil {
			t.Fatal(err)
		}
		cfg := world(schema, f, slog.New(slog.DiscardHandler))
		cfg.AppTimeout = 30 * time.Second // a busy machine
		release, err := keep(&cfg, f)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		w, err := cluster.Start(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for rows, reals := 0, 0; rows < guards || reals < guards; time.Sleep(time.Second) {
			if time.Since(began) > 4*time.Minute {
				t.Fatalf("%d rows and %d cell parts after %v", rows, reals, time.Since(began))
			}
			st, err := w.Status()
			if err != nil {
				t.Fatal(err)
			}
			rows, reals = countRows(t, cfg.Store), st.Reals
		}
		t.Logf("round %d: %d guards live after %v", round, guards, time.Since(began).Round(100*time.Millisecond))
		limit, cancel := context.WithTimeout(context.Background(), time.Minute)
		began = time.Now()
		r, err := w.Shutdown(limit, "measured")
		cancel()
		t.Logf("round %d: Shutdown took %v, %v of it to settle and %v to write: %+v", round, time.Since(began).Round(time.Millisecond), r.Settling.Round(time.Millisecond), r.Writing.Round(time.Millisecond), r.Sum())
		if err := errors.Join(err, w.Stop(), release()); err != nil || int(r.Sum().Written) != guards+1 { // and the garrison
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func countRows(t *testing.T, kept store.Store) (n int) {
	q := store.Query{Type: "Guard", Limit: store.MaxPage}
	for {
		p, err := kept.Query(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		n += len(p.Rows)
		if q.After = p.Next; p.Next == nil {
			return n
		}
	}
}
