package space

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrNoJobs is returned by Cell.Do on a CellApp without Jobs.
var ErrNoJobs = errors.New("space: nobody runs jobs here; give the CellApp the runner's Jobs")

// Do runs blocking work, such as loading, path finding or a request to a service. It calls run on
// another goroutine, and later done with the result on the goroutine of the CellApp, never from
// within Do. run must not touch the cell, its entities, or anything else that is not its own; its
// context ends with the CellApp. result is what run returned, or an error of the runner if run
// panicked or too many jobs wait. done is not called if the cell is gone by then. A panic of done
// is contained and logged.
func (c *Cell) Do(run func(ctx context.Context) any, done func(result any)) error {
	if c.population.env.Do == nil {
		return ErrNoJobs
	}
	return c.population.env.Do(run, func(result any) { c.jobDone(done, result) })
}

// jobDone passes a job's result to the game if the cell is still here.
func (c *Cell) jobDone(done func(result any), result any) {
	c.watch.Claim(&c.work.rest)
	if c.population.cell(c.space) == c && !c.ended {
		c.hook("a job's done", func() { done(result) })
	}
}

// hook runs game code that belongs to the cell, not to one of its entities. A panic is contained.
func (c *Cell) hook(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.count.Errors++
			c.log.Error("a hook of the game panicked", "in", what, "space", c.space, "cell", c.id.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
}
