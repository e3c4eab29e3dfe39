package cellappmgr

import (
	"time"

	"github.com/cellscape/cellscape/balance"
	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
)

// work measures how busy a BaseApp is by the processor time in its Reports. A CellApp tells its load
// itself.
type work struct {
	load balance.AppLoad
	busy app.Busy
}

// workSmoothing is the weight of a new Report: a mean over some five seconds, so that one busy second
// is not the load.
const workSmoothing = 0.2

// measure takes the processor time of a BaseApp's Report.
func (a *member) measure(now, cpu time.Duration) {
	if a.role != wire.BaseApp {
		return
	}
	if share, ok := a.work.busy.Report(now, cpu); ok {
		a.work.load.Report(int64(share*float64(load.Core)), workSmoothing)
	}
}
