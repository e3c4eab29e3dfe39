package cellapp

import (
	"time"

	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

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
