package cluster

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury/host"
	"github.com/cellscape/cellscape/space/cellappmgr"
)

// leadAgain is when the processes that belong to a leader are tried again, if one could not be started.
const leadAgain = time.Second

// leading starts what belongs to the managers that lead, when they begin to in this OS process, and
// ends it when they have ended: the BaseAppMgr, of which a cluster has one.
type leading struct {
	mu    sync.Mutex
	term  uint32        // in which the managers here lead, 0 while they do not
	news  chan struct{} // there is another term
	quit  chan struct{}
	ended chan struct{}
}

func newLeading() *leading {
	return &leading{news: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{})}
}

// set is told by the Seat, and does not wait.
func (l *leading) set(term uint32) {
	l.mu.Lock()
	l.term = term
	l.mu.Unlock()
	select {
	case l.news <- struct{}{}:
	default: // it has not been looked at yet
	}
}

func (l *leading) now() uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.term
}

// follow does what set says, until stop.
func (l *leading) follow(c *Cluster) {
	go func() {
		defer close(l.ended)
		led := uint32(0)
		var lines logs.Limit
		again := time.NewTimer(0)
		defer again.Stop()
		for {
			select {
			case <-l.quit:
				return
			case <-l.news:
			case <-again.C:
			}
			term := l.now()
			if led != 0 && term != led {
				c.endLeading()
				led = 0
			}
			if term == 0 || led == term {
				continue
			}
			if err := c.beginLeading(); err != nil {
				if unlogged, ok := lines.Allow(c.host.Clock(), "lead"); ok {
					c.cfg.Log.Error("the managers lead, and what belongs to them cannot be started; trying again", "error", err, "unlogged", unlogged)
				}
				again.Reset(leadAgain)
				continue
			}
			led = term
		}
	}()
}

// stop ends follow, and waits for it.
func (l *leading) stop() {
	close(l.quit)
	<-l.ended
}

// beginLeading starts what runs only where the managers lead. What was started before one of them failed
// ends again.
func (c *Cluster) beginLeading() error {
	err := c.startDBApp(context.Background(), false)
	if err == nil {
		err = c.startBaseAppMgr()
	}
	if err != nil {
		c.endLeading()
	}
	return err
}

// endLeading ends it.
func (c *Cluster) endLeading() {
	c.mu.Lock()
	processes := [...]*host.Process{c.baseAppMgr, c.dbApp}
	c.baseAppMgr, c.dbApp = nil, nil
	c.mu.Unlock()
	for _, p := range processes {
		if p == nil {
			continue
		}
		if err := p.Stop(); err != nil {
			c.cfg.Log.Warn("a process of the leader had ended by itself", "error", err)
		}
	}
}

// leaderWord is how long managers that stand by and are stopped wait to hear that the leader is being
// stopped, too: whoever stops all processes of a world reaches them within that.
const leaderWord = time.Second

// leave says that the managers here are being stopped.
func (c *Cluster) leave() {
	if c.cellAppMgr != nil {
		_ = c.cellAppMgr.Do(func(a host.App) { a.(*cellappmgr.Seat).Leave(c.host.Clock()) }) // one that has ended leads nobody
	}
}

// awaitLeader keeps managers that stand by until the leader has ended, if that is being stopped, too, but not
// for longer than until. When all of them were stopped at once the standbys used to end first. The leader
// lost its majority, the store with it, and BaseApps could not write what they had.
func (c *Cluster) awaitLeader(until time.Time) {
	if c.cellAppMgr == nil || !c.several() {
		return
	}
	standsBy := func() (yes, awaited bool) {
		err := c.cellAppMgr.Do(func(a host.App) {
			s := a.(*cellappmgr.Seat)
			yes, awaited = s.Term() == 0, s.Awaited(c.host.Clock())
		})
		return yes && err == nil, awaited
	}
	for hear := time.Now().Add(leaderWord); time.Now().Before(until); time.Sleep(pollPeriod) {
		yes, awaited := standsBy()
		if !yes || !awaited && time.Now().After(hear) {
			return
		}
	}
}

func (c *Config) validateManagers() error {
	all := faults.In("cluster: Config.Managers ")
	fault := all.If
	n := len(c.Managers)
	fault(n > wire.MaxManagers, "are %d: give at most %d", n, wire.MaxManagers)
	fault(n > 0 && n%2 == 0, "are %d, of which more than half must vote: give %d, which bear the loss of as many", n, n-1)
	for i, m := range c.Managers {
		fault(slices.Contains(c.Managers[:i], m), "[%d] is %q again: give each its own place", i, m)
		if c.Resolve != nil {
			fault(m == "", "[%d] is empty: give what Resolve looks up", i)
			continue
		}
		name, port, err := net.SplitHostPort(m)
		fault(err != nil || name == "", "[%d] is %q: give it as host:port", i, m)
		if err == nil {
			p, err := net.LookupPort(UDP, port)
			fault(err != nil || p == 0, "[%d] is %q: give its port", i, m)
		}
	}
	return all.Err()
}
