package cellapp

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// Lookout looks at the place of another process. The runner provides it.
type Lookout interface {
	// Probe looks once, and passes what it finds to Reached with the same token, on the CellApp's
	// goroutine and never from within Probe.
	Probe(token uint64, at netip.AddrPort)
}

// Reached takes what Config.Lookout has found.
func (a *CellApp) Reached(_ time.Duration, token uint64, found mercury.Reach) {
	if seen, ok := a.looks.Reached(token, found); ok && !a.dismissed {
		a.manager.Send(&seen)
	}
}

// mourn tells the BaseApps that all has been said about the reals of a dead CellApp.
func (a *CellApp) mourn(app mercury.Address) {
	for base := range a.roster.Of(wire.BaseApp) {
		a.links.Send(base, &wire.Mourned{App: app})
	}
}
