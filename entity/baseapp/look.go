package baseapp

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Reached takes what Config.Lookout has found.
func (a *BaseApp) Reached(_ time.Duration, token uint64, found mercury.Reach) {
	if seen, ok := a.looks.Reached(token, found); ok && !a.dismissed {
		a.cellMgr.Send(&seen)
	}
}
