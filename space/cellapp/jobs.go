package cellapp

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Jobs performs what blocks. The runner provides it.
type Jobs interface {
	// Do runs a function elsewhere and hands its result to JobDone with the same token, on the goroutine that owns the
	// CellApp and not within Do. It does so once for every job, also when run panicked or ctx ended: then result is the
	// error.
	Do(token uint64, run func(ctx context.Context) any)
}

// MaxJobs bounds the jobs of one CellApp that are under way: a game that asks for path after path has as many of them
// waiting as the workers of a machine can do in some seconds.
const MaxJobs = 1024

// ErrTooManyJobs is returned by space.Cell.Do while MaxJobs are under way.
var ErrTooManyJobs = fmt.Errorf("cellapp: %d jobs are under way; that is the limit", MaxJobs)

var errNoSuchJob = errors.New("cellapp: the result of a job that nobody waits for")

// doJob gives the runner a job of a cell.
func (a *CellApp) doJob(run func(ctx context.Context) any, done func(result any)) error {
	if len(a.jobs) >= MaxJobs {
		return ErrTooManyJobs
	}
	if a.jobs == nil {
		a.jobs = make(map[uint64]func(any))
	}
	a.lastJob++
	a.jobs[a.lastJob] = done
	a.cfg.Jobs.Do(a.lastJob, run)
	return nil
}

// JobDone takes the result of a job that Config.Jobs was given. One of a cell that has gone is dropped.
func (a *CellApp) JobDone(_ time.Duration, token uint64, result any) {
	done, ok := a.jobs[token]
	if !ok {
		if !a.dismissed {
			a.counters.Errors++
			a.log.Error("job", "token", token, "error", errNoSuchJob)
		}
		return
	}
	delete(a.jobs, token)
	a.watch.Open(&a.own)
	defer a.watch.Leave()
	done(result)
	a.population.Settle()
}
