package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/wire"
)

// work measures how busy a BaseApp is by the processor time in its Reports. A CellApp tells its load
// itself.
type work struct {
	load  balance.AppLoad
	at    time.Duration // of the last Report, and the processor time in it
	cpu   time.Duration
	known bool
}

// workSmoothing is the weight of a new Report: a mean over some five seconds, so that one busy second
// is not the load.
const workSmoothing = 0.2

// measure takes the processor time of a BaseApp's Report. Two that come at once, after a stall, are
// still ReportPeriod of work apart. The first says nothing: the app may have run for long.
func (a *member) measure(now, cpu time.Duration) {
	if a.role != wire.BaseApp {
		return
	}
	w := &a.work
	if w.known {
		over := max(now-w.at, wire.ReportPeriod)
		used := min(max(cpu-w.cpu, 0), over) // one thread
		w.load.Report(int64(float64(used)/float64(over)*float64(load.Core)), workSmoothing)
	}
	w.at, w.cpu, w.known = now, cpu, true
}
