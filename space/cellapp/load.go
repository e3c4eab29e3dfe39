package cellapp

import (
	"cmp"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// measure ends the tick's measurement of work done for no cell: links, reports, the manager's
// messages.
func (a *CellApp) measure(now time.Duration) {
	if a.ticks.Number == 1 {
		a.measuredAt = now - a.cfg.Tick // the first sample is taken whole
	}
	a.own.Tick(now-a.measuredAt, 0)
	a.measuredAt = now
}

// ownLoad is the load of work for no cell; 0 where loads are artificial.
func (a *CellApp) ownLoad() int64 {
	if a.cfg.Space.ArtificialLoad > 0 {
		return 0
	}
	return a.own.Load()
}

// dearest appends the entity types whose reals cost most, for a report.
func (a *CellApp) dearest(list []wire.TypeLoad) []wire.TypeLoad {
	for _, t := range a.population.TypeLoads() {
		list = append(list, wire.TypeLoad{Type: a.cfg.Scripts.Schema().ByID(t.Type).Name, Reals: uint32(t.Reals), Load: t.Load})
	}
	slices.SortStableFunc(list, func(x, y wire.TypeLoad) int { return cmp.Compare(y.Load, x.Load) })
	return list[:min(len(list), wire.MaxTypeLoads)]
}
