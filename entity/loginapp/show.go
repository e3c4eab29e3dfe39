package loginapp

import (
	"fmt"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// mostPending bounds what max_pending may be set to: so many logins ask Auth at once.
const mostPending = 1 << 20

// show makes the values that the LoginApp shows, and lets be set.
func (l *LoginApp) show(level logs.Level) error {
	l.watches = app.NewWatches(l.log, level, &l.report)
	t := l.watches.Tree
	watch.Show(t, "logins/channels", "clients that are connected", func() int { return l.Counts().Channels })
	watch.Show(t, "logins/pending", "logins under way", l.pending)
	watch.Show(t, "logins/jobs", "logins that Auth is checking", func() int { return len(l.logins.jobs) })
	watch.Show(t, "logins/waiting", "clients in the queue", func() int { return len(l.queue.places) })
	watch.Show(t, "logins/full", "whether the world is full", func() bool { return l.full })
	watch.Show(t, "logins/refused", "logins refused since the start", func() uint64 { return l.report.Refused })
	watch.Setting(t, "logins/max_pending", "logins that may be under way; others are told that the server is busy", func() int { return l.cfg.MaxPending },
		func(n int) error {
			if n < 0 || n > mostPending {
				return fmt.Errorf("%d: take 0 to %d; at 0 nobody is let in", n, mostPending)
			}
			l.cfg.MaxPending = n
			return nil
		})
	watch.Setting(t, "logins/queue", "clients that may wait here while the world is full", func() int { return max(0, l.cfg.Queue) },
		func(n int) error {
			if n < 0 || n > MaxQueue {
				return fmt.Errorf("%d: take 0 to %d; those who wait already stay", n, MaxQueue)
			}
			l.cfg.Queue = n
			return nil
		})
	return l.watches.Finish(l.cfg.Watch)
}
