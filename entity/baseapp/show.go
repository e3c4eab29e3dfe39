package baseapp

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// show makes the values that the BaseApp shows, and lets be set.
func (a *BaseApp) show(level logs.Level) error {
	a.watches = app.NewWatches(a.log, level, &a.report)
	t := a.watches.Tree
	watch.Show(t, "app/number", "number in the cluster", func() uint32 { return a.number })
	watch.Show(t, "app/errors", "faults since the start", func() uint64 { return a.report.Errors })
	watch.Show(t, "app/refused", "messages refused since the start", func() uint64 { return a.report.Counters.Refused })
	watch.Show(t, "app/leaving", "whether the app gives its bases to others", func() bool { return a.leave.state != leaveNone })
	watch.Show(t, "bases/count", "bases here", func() int { return len(a.list) })
	watch.Show(t, "bases/proxies", "of them those of accounts", func() int { return len(a.accounts) })
	watch.Show(t, "bases/clients", "clients that are connected, and those not yet told apart", func() int { return len(a.clients) })
	watch.Show(t, "bases/unprotected", "bases of which no other BaseApp holds a copy", a.unprotected)
	watch.Show(t, "bases/copies", "copies held for other BaseApps", func() int { return a.holding.copies })
	watch.Setting(t, "bases/backup_period", "time between two copies of a base to other BaseApps; give all BaseApps the same", func() time.Duration { return a.copying.period }, a.setBackupPeriod)
	watch.Setting(t, "bases/archive_period", "time in which each kept base is written once; below 0 never", func() time.Duration { return a.cfg.ArchivePeriod }, a.setArchivePeriod)
	watch.Setting(t, "bases/move_batch", "how many bases move together when the app gives many to others", func() int { return a.cfg.MoveBatch }, a.setMoveBatch)
	watch.Setting(t, "upload/messages", "most that one client may send, in messages a second; 0 is the default", func() int { return a.cfg.Upload.Messages },
		func(n int) error { return a.setUpload(func(l *UploadLimits) { l.Messages = n }) })
	watch.Setting(t, "upload/bytes", "most that one client may send, in bytes a second; 0 is the default", func() int { return a.cfg.Upload.Bytes },
		func(n int) error { return a.setUpload(func(l *UploadLimits) { l.Bytes = n }) })
	a.trace.Watch(t)
	return a.watches.Finish(a.cfg.Watch)
}

// setBackupPeriod changes how often bases are copied. Whether they are at all, other BaseApps have
// made their rules by, and it stays as it was at the start.
func (a *BaseApp) setBackupPeriod(d time.Duration) error {
	switch {
	case a.copying.period <= 0:
		return errors.New("bases have no copies since Config.BackupPeriod is below 0: start the BaseApps with another")
	case d < a.cfg.Tick:
		return fmt.Errorf("%v: take at least a tick (%v)", d, a.cfg.Tick)
	}
	a.copying.period, a.cfg.BackupPeriod = d, d
	return nil
}

func (a *BaseApp) setArchivePeriod(d time.Duration) error {
	if d > 0 && d < a.cfg.Tick {
		return fmt.Errorf("%v: take at least a tick (%v), 0 for %v, or less than 0 for never", d, a.cfg.Tick, DefaultArchivePeriod)
	}
	a.cfg.ArchivePeriod = cmp.Or(d, DefaultArchivePeriod)
	return nil
}

func (a *BaseApp) setMoveBatch(n int) error {
	if n < 0 {
		return fmt.Errorf("%d: take a number of bases, or 0 for %d", n, DefaultMoveBatch)
	}
	a.cfg.MoveBatch = cmp.Or(n, DefaultMoveBatch)
	return nil
}

func (a *BaseApp) setUpload(change func(*UploadLimits)) error {
	l := a.cfg.Upload
	change(&l)
	if err := l.Validate(); err != nil {
		return err
	}
	a.cfg.Upload = l.withDefaults()
	return nil
}
