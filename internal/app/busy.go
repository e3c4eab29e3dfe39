package app

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

// Busy measures how busy an app is by the processor time that it tells every ReportPeriod. The zero value has
// heard nothing.
type Busy struct {
	at, cpu time.Duration // of the last report
	known   bool
}

// Report takes a report, and returns the share of a core that was used since the last one. Two that
// come at once, after a stall, are still ReportPeriod of work apart. The first says nothing: the
// app may have run for long.
func (b *Busy) Report(now, cpu time.Duration) (share float64, known bool) {
	over := max(now-b.at, wire.ReportPeriod)
	used := min(max(cpu-b.cpu, 0), over) // one thread
	known = b.known
	b.at, b.cpu, b.known = now, cpu, true
	return float64(used) / float64(over), known
}
