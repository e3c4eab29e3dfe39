package host

import (
	"sync/atomic"
	"testing"
)

func TestParallel(t *testing.T) {
	if Parallel(0) != nil || Parallel(1) != nil {
		t.Error("one worker is none")
	}
	for _, workers := range []int{2, 3, 9} {
		run := Parallel(workers)
		for _, n := range []int{0, 1, share, 1000} {
			called := make([]atomic.Int32, n)
			busy := make([]atomic.Bool, workers)
			run(n, func(worker, i int) {
				if busy[worker].Swap(true) {
					t.Errorf("worker %d is two", worker)
				}
				called[i].Add(1)
				busy[worker].Store(false)
			})
			for i := range called {
				if got := called[i].Load(); got != 1 {
					t.Errorf("%d workers: %d of %d was called %d times", workers, i, n, got)
				}
			}
		}
	}
}

// A panic reaches whoever asked, when nobody works any more.
func TestParallelPanics(t *testing.T) {
	var working atomic.Int32
	defer func() {
		if p := recover(); p != "seventy" || working.Load() != 0 {
			t.Errorf("recovered %v, and %d are at work", p, working.Load())
		}
	}()
	Parallel(4)(1000, func(_, i int) {
		working.Add(1)
		defer working.Add(-1)
		if i == 70 {
			panic("seventy")
		}
	})
	t.Error("it was swallowed")
}
