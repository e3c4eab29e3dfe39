package baseapp

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Lookout looks at the place of another process. The runner provides it.
type Lookout interface {
	// Probe looks once, and passes what it finds to Reached with the same token, on the BaseApp's
	// goroutine and never from within Probe.
	Probe(token uint64, at netip.AddrPort)
}

// Reached takes what Config.Lookout has found.
func (a *BaseApp) Reached(_ time.Duration, token uint64, found mercury.Reach) {
	if seen, ok := a.looks.Reached(token, found); ok && !a.dismissed {
		a.cellMgr.Send(&seen)
	}
}
