package dbapp

import (
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// show makes the values that the DBApp shows.
func (d *DBApp) show(level logs.Level) error {
	d.watches = app.NewWatches(d.log, level, &d.report)
	t := d.watches.Tree
	watch.Show(t, "store/state", "how the store does", d.storeState)
	watch.Show(t, "store/waiting", "calls that wait, those under way included", func() int { return d.Counts().Waiting })
	watch.Show(t, "store/bytes", "their size", func() int { return d.Counts().Bytes })
	watch.Show(t, "store/jobs", "calls that are under way", func() int { return d.Counts().Jobs })
	watch.Show(t, "store/start", "number of this start of the world, 0 while unknown", func() uint64 { return d.start })
	return d.watches.Finish(d.cfg.Watch)
}
