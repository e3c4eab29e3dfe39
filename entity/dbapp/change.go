package dbapp

import (
	"context"
	"time"
)

// Definitions that change the store change it late. Managers may have been started by mistake with new
// definitions while a world with the old ones lives: its processes do not join them, and go on when managers
// with the old ones are back. Those would be refused by a store that has been changed.
//
//	(Config.Change) --a start is about to begin, or one that lives is gone on with--> job --> fits
//	                                                                      ^            |
//	                                                                      +-- bringAgain, after an error
type changing struct {
	done, working bool
	at            time.Duration // not before
	err           error
}

// fits reports whether the store has the definitions, and else sees to it that it gets them.
func (d *DBApp) fits() bool {
	c := &d.change
	if d.cfg.Change == nil || c.done {
		return true
	}
	if c.working || d.now < c.at {
		return false
	}
	c.working = true
	// It has no limit: to fill a new column of a large table may take minutes.
	d.cfg.Jobs.Do(changeToken, func(ctx context.Context) any { return d.cfg.Change(ctx) })
	return false
}

// changed takes what became of the change. No result is no error.
func (d *DBApp) changed(result any) {
	c := &d.change
	c.working, c.at = false, d.now+bringAgain
	was := c.err
	c.err, _ = result.(error)
	c.done = c.err == nil
	if c.err != nil && was == nil {
		d.report.Errors++
		d.log.Error("the store does not take the definitions, and nothing begins; it is tried again", "error", c.err)
	}
}
