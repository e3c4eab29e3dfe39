package cellapp

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Jobs runs blocking work off the CellApp's goroutine. The runner provides it.
type Jobs interface {
	// Do calls run elsewhere and later passes its result to JobDone with the same token, on the
	// CellApp's goroutine and never from within Do. It does so exactly once for every job. If run
	// panicked or ctx ended, the result is the error.
	Do(token uint64, run func(ctx context.Context) any)
}

// MaxJobs bounds the jobs of one CellApp that are under way. A game that asks for many paths at
// once may have as many waiting as a machine's workers finish in a few seconds.
const MaxJobs = 1024

// ErrTooManyJobs is returned by space.Cell.Do while MaxJobs are under way.
var ErrTooManyJobs = fmt.Errorf("cellapp: %d jobs are under way, which is the limit", MaxJobs)

var errNoSuchJob = errors.New("cellapp: nobody waits for the result of this job")

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

// JobDone takes the result of a job from Config.Jobs. If the job's cell has gone, it drops the
// result.
func (a *CellApp) JobDone(_ time.Duration, token uint64, result any) {
	done, ok := a.jobs[token]
	if !ok {
		if !a.dismissed {
			a.counters.Errors++
			a.log.Error("job", "token", token, "error", errNoSuchJob)
		}
		return
	}
	if a.population.Held() {
		a.shelved = append(a.shelved, shelved{token, result})
		return
	}
	delete(a.jobs, token)
	a.watch.Open(&a.own)
	defer a.watch.Leave()
	done(result)
	a.population.Settle()
}
