package space

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrNoJobs is returned where nobody performs jobs.
var ErrNoJobs = errors.New("space: nobody performs jobs here; give the CellApp the runner's Jobs")

// Do performs what blocks (loading, path finding, a question to a service): run on another goroutine, then done with its
// result on the goroutine of the CellApp, not within Do. run must not touch the cell, its entities, or anything else
// that is not its own; its context ends when the CellApp does. result is what run returned, or an error of the runner
// that says why there is none: run panicked, or too many jobs wait. done is not called if the cell is gone by then. A
// panic of done is contained and logged.
func (c *Cell) Do(run func(ctx context.Context) any, done func(result any)) error {
	if c.population.env.Do == nil {
		return ErrNoJobs
	}
	return c.population.env.Do(run, func(result any) { c.jobDone(done, result) })
}

// jobDone hands a job's result to the game, if the cell is still here.
func (c *Cell) jobDone(done func(result any), result any) {
	c.watch.Claim(&c.work.rest)
	if c.population.cell(c.space) == c && !c.ended {
		c.hook("a job's done", func() { done(result) })
	}
}

// hook runs code of the game that belongs to the cell and to none of its entities. Its panic is contained.
func (c *Cell) hook(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.count.Errors++
			c.log.Error("a hook of the game panicked", "in", what, "space", c.space, "cell", c.id.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
}
