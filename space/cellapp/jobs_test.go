package cellapp

import (
	"context"
	"errors"
	"testing"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/internal/wire"
)

// worker keeps the jobs that it is given.
type worker struct{ tokens []uint64 }

func (w *worker) Do(token uint64, run func(context.Context) any) { w.tokens = append(w.tokens, token) }

// TestJobs checks that results go to the cell that asked, never to one that took its place, and
// that there is a limit.
func TestJobs(t *testing.T) {
	r := newRig(t)
	w := &worker{}
	r.app.cfg.Jobs = w
	r.app.population = r.app.newPopulation() // whose cells have the jobs
	r.join()
	r.room(5, true)
	c := r.app.cell(5).Cell
	var got []any
	ask := func() error {
		return c.Do(func(context.Context) any { return nil }, func(result any) { got = append(got, result) })
	}
	for range MaxJobs {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(); !errors.Is(err, ErrTooManyJobs) || len(w.tokens) != MaxJobs {
		t.Errorf("over the limit: %v, %d jobs", err, len(w.tokens))
	}
	r.app.JobDone(r.now, w.tokens[1], "second")
	r.app.JobDone(r.now, w.tokens[1], "again")
	if len(got) != 1 || got[0] != "second" {
		t.Errorf("results %v", got)
	}
	if n := r.app.Counters().Errors; n != 1 {
		t.Errorf("a result that nobody waits for: %d errors, want 1", n)
	}
	if err := ask(); err != nil {
		t.Errorf("there is room again: %v", err)
	}
	r.manage(&wire.RemoveCell{Space: 5, Cell: roomCell(5), Ended: true})
	r.tick(3)
	if r.app.cell(5) != nil {
		t.Fatal("the room is still there")
	}
	r.app.JobDone(r.now, w.tokens[2], "late")
	whole := bsp.New(bsp.Version{Term: 1, N: 9}, bsp.Leaf{Cell: roomCell(6), App: addr(1).At, Salt: addr(1).Salt})
	r.manage(&wire.AddCell{Space: 5, Cell: roomCell(6), Tree: whole.Append(nil)})
	r.app.JobDone(r.now, w.tokens[3], "for another cell of the space")
	if len(got) != 1 || r.app.Counters().Errors != 1 {
		t.Errorf("results for cells that have gone: %v", got)
	}
}
