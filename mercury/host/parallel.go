package host

import (
	"sync"
	"sync/atomic"
)

// share is how many calls a worker takes at a time: neighbours share what they read.
const share = 8

// Parallel returns a function that calls f for each i below n, on workers goroutines at once, of
// which the caller's is one, and returns when all have returned. Each worker calls with a number of
// its own, below workers. Which worker has which i is left to chance. A panic of f goes on in the
// caller, once all have ended. For fewer than two workers it returns nil.
func Parallel(workers int) func(n int, f func(worker, i int)) {
	if workers < 2 {
		return nil
	}
	return func(n int, f func(worker, i int)) {
		var next atomic.Int64
		var failed atomic.Pointer[any]
		work := func(worker int) {
			defer func() {
				if p := recover(); p != nil {
					failed.CompareAndSwap(nil, &p)
				}
			}()
			for failed.Load() == nil {
				from := int(next.Add(share)) - share
				if from >= n {
					return
				}
				for i := from; i < min(from+share, n); i++ {
					f(worker, i)
				}
			}
		}
		var all sync.WaitGroup
		for worker := 1; worker < workers && worker*share < n; worker++ {
			all.Go(func() { work(worker) })
		}
		work(0)
		all.Wait()
		if p := failed.Load(); p != nil {
			panic(*p)
		}
	}
}
