package host

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// ErrTooManyJobs is the result of a job for which there was no room.
var ErrTooManyJobs = errors.New("host: too many jobs are waiting")

// Jobs performs what blocks. It is for the goroutine of its app.
type Jobs struct{ p *Process }

// Do runs a function on another goroutine and hands its result, with the token, to
// the app's JobDone. The context ends when the process ends. A job that cannot be
// taken has the result ErrTooManyJobs, one that panics a *PanicError.
func (j Jobs) Do(token uint64, run func(ctx context.Context) any) {
	p := j.p
	start := p.net // results are for the start of the app that asked
	done := func(result any) {
		p.post(func() {
			if app, ok := p.app.(JobTaker); ok && p.net == start {
				app.JobDone(p.now, token, result)
			}
		})
	}
	if !p.host.workers.take(func() { done(perform(p.ctx, run)) }) {
		done(ErrTooManyJobs)
	}
}

func perform(ctx context.Context, run func(ctx context.Context) any) (result any) {
	defer func() {
		if v := recover(); v != nil {
			result = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return run(ctx)
}

// PanicError is a panic of an app or of a job.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// workers is a pool of goroutines that starts them as they are needed.
type workers struct {
	mu      sync.Mutex
	queue   []func()
	max     int // workers
	room    int // queue
	started int
	idle    int
	closed  bool
	wake    *sync.Cond
	running sync.WaitGroup
}

func newWorkers(max, room int) *workers {
	w := &workers{max: max, room: room}
	w.wake = sync.NewCond(&w.mu)
	return w
}

// take takes a job, or reports that there is no room.
func (w *workers) take(job func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.queue) >= w.room {
		return false
	}
	w.queue = append(w.queue, job)
	switch {
	case w.idle >= len(w.queue):
		w.wake.Signal()
	case w.started < w.max:
		w.started++
		w.running.Add(1)
		go w.work()
	}
	return true
}

func (w *workers) work() {
	defer w.running.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 {
			if w.closed {
				return
			}
			w.idle++
			w.wake.Wait()
			w.idle--
		}
		job := w.queue[0]
		w.queue = append(w.queue[:0], w.queue[1:]...)
		w.mu.Unlock()
		job()
		w.mu.Lock()
	}
}

// close lets the workers end once the queue is empty, and waits for them.
func (w *workers) close() {
	w.mu.Lock()
	w.closed = true
	w.wake.Broadcast()
	w.mu.Unlock()
	w.running.Wait()
}
