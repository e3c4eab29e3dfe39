package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellappmgr"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// shutdownPoll is how often the stop is looked at, and an order that was not answered is given again.
const shutdownPoll = 50 * time.Millisecond

// endPatience is how long processes have to end by themselves when all is saved; then they are stopped.
const endPatience = 5 * time.Second

// ErrNotLeading is returned by Shutdown in an OS process whose managers do not lead: an Observer can give the
// order from anywhere.
var ErrNotLeading = errors.New("cluster: the managers that lead run elsewhere, or have yet to hear the world: give the order by an Observer")

// Shutdown stops the whole world, wherever its processes run, and says what was saved. Logins are
// closed; players are told the reason and their sessions end; timers, controllers and movement
// stand still; calls under way are handled; cell parts are backed up to their bases; all bases that
// a store keeps, and the spaces, are written; then all processes end. Package cellappmgr draws the
// steps and their bounds: about twenty seconds in all if everything hangs, and one or two if
// nothing does.
//
// It returns when the processes here have ended. The error is ErrUnsaved if the store does not have all with
// its last state: the report says what it lacks. If ctx ends before, the order stands, and the world goes on
// to end. A later Stop finds nothing left to do.
func (c *Cluster) Shutdown(ctx context.Context, reason string) (report status.Stop, err error) {
	if c.cellAppMgr == nil {
		return report, ErrNoManager
	}
	ordered := false
	var seat *cellappmgr.Seat
	if err := c.cellAppMgr.Do(func(a host.App) {
		seat = a.(*cellappmgr.Seat)
		ordered = seat.Shutdown(c.host.Clock(), reason)
	}); err != nil {
		return report, err
	}
	if !ordered {
		return report, ErrNotLeading
	}
	c.stopping.Store(true)
	poll := time.NewTicker(shutdownPoll)
	defer poll.Stop()
	for !report.Done {
		if err := c.cellAppMgr.Do(func(a host.App) { report = a.(*cellappmgr.Seat).Stop() }); err != nil {
			<-c.cellAppMgr.Done()
			if report = seat.Stop(); !report.Done { // else it has ended since it was last asked
				return report, err
			}
			break
		}
		select {
		case <-ctx.Done():
			return report, fmt.Errorf("cluster: the world has not stopped yet, and goes on to: %s: %w", report.Step, context.Cause(ctx))
		case <-poll.C:
		}
	}
	limit, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	for _, p := range c.all() {
		select {
		case <-limit.Done(): // such as one that was declared dead meanwhile, and that nobody lets in any more
		case <-p.Done():
		}
	}
	err = c.Stop()
	if !errors.Is(err, ErrUnsaved) { // which the managers end with, too
		err = errors.Join(err, report.Err())
	}
	return report, err
}

// Shutdown orders the world to stop, as Cluster.Shutdown does, and returns its report when all is saved; the
// processes end then. In a sealed world it takes an operator's key. If the managers are lost meanwhile, the
// next ones are given the order again. If ctx ends before, an order that has reached them stands.
func (o *Observer) Shutdown(ctx context.Context, reason string) (status.Stop, error) {
	if o.reads {
		return status.Stop{}, ErrNotOperator
	}
	poll := time.NewTicker(shutdownPoll)
	defer poll.Stop()
	for {
		var report status.Stop
		err := o.process.Do(func(a host.App) { report = a.(*watcher).shutdown(reason) })
		switch {
		case err != nil:
			return report, err
		case report.Done:
			return report, report.Err()
		}
		if err := o.refused(); err != nil {
			return report, fmt.Errorf("cluster: the managers take no order: %w", err)
		}
		select {
		case <-ctx.Done():
			return report, fmt.Errorf("cluster: the world has not stopped yet: %s: %w", cmp.Or(report.Step, "the managers have not answered the order"), errors.Join(context.Cause(ctx), o.Trouble()))
		case <-o.process.Done():
			return report, errors.Join(ErrNotConnected, o.process.Err())
		case <-poll.C:
		}
	}
}

// shutdown gives the order to a manager that has not answered it, and says how far the stop is.
func (w *watcher) shutdown(reason string) status.Stop {
	if w.manager.Open() && !w.heardEnd {
		w.manager.Send(&wire.EndWorld{Reason: reason})
	}
	return w.ending
}
