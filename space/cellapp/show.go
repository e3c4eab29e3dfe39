package cellapp

import (
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/logs"
	"github.com/cellscape/cellscape/space/cluster/watch"
)

// show makes the values that the CellApp shows, and lets be set.
func (a *CellApp) show(level logs.Level) error {
	a.watches = app.NewWatches(a.log, level, &a.report)
	t := a.watches.Tree
	watch.Show(t, "app/number", "number in the cluster", func() uint32 { return a.number })
	watch.Show(t, "app/load", "load as last told to the manager, as a fraction of a core", func() float64 { return float64(a.cellsReport.Load) / float64(load.Core) })
	watch.Show(t, "app/saving_step", "steps taken to save work", a.throttle.Step)
	watch.Show(t, "app/pending", "what others still have to be told of the entities here", a.Pending)
	watch.Show(t, "app/jobs", "jobs of the game that are under way", func() int { return len(a.jobs) })
	watch.Show(t, "app/retiring", "whether the CellApp is to retire", func() bool { return a.retire })
	watch.Show(t, "app/backlog", "the app that is furthest behind in receiving; empty if all keep up", func() string {
		if b := a.links.Worst(); b.Bytes > 0 {
			return b.To.String()
		}
		return ""
	})
	watch.Show(t, "app/errors", "faults since the start", func() uint64 { return a.counters.Errors })
	watch.Show(t, "app/refused", "messages refused since the start", func() uint64 { return a.counters.Refused })
	watch.Show(t, "app/migrations", "entities handed to other cells since the start", func() uint64 { return a.counters.Migrations })
	a.trace.Watch(t)
	a.population.Watch(t)
	return a.watches.Finish(a.cfg.Watch)
}
