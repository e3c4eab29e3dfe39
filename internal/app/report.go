package app

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/space/cluster/status"
)

// Reports is the rhythm in which an app reports to the CellAppMgr.
type Reports struct{ at time.Duration }

// wakesLate is by how much a tick may run late and the report still go in it. (A report that was sent
// a moment after its tick was due missed the tick a second later, and was late by a whole tick: so
// channels were silent for longer than a second, and pinged.)
const wakesLate = 10 * time.Millisecond

// Due reports whether a report is to be sent now. If so, the next one is due a period later.
func (r *Reports) Due(now time.Duration) bool {
	if now < r.at {
		return false
	}
	r.at = now + wire.ReportPeriod - wakesLate
	return true
}

// Next is when the next one is due.
func (r *Reports) Next() time.Duration { return r.at }

// Report fills in how the app's messages fare, and what it uses of the processors: what meters
// tells.
func Report[S any](r *wire.Report, l *Links, routes *Routes[S], meters *status.Meters) {
	r.Measure(meters)
	routes.Describe(r)
	r.Backlog = l.worst
	r.Unsent = append(r.Unsent[:0], l.Errors...)
	if r.Counts == nil {
		r.Counts = make(status.Counts)
	}
	clear(r.Counts)
	r.Counts.Take("call", l.calls.Stats())
}

// Counted begins what an app reports under names with what has become of its calls.
func Counted(l *Links) status.Counts {
	counts := make(status.Counts)
	counts.Take("call", l.calls.Stats())
	return counts
}
