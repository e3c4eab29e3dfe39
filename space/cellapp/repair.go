package cellapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// LastWords is how long a retired CellApp waits for bases to acknowledge the loss of reals here:
// longer than it takes to give up a channel and say it over a new one. The wait has to end, since a
// CellApp that has left the cluster is not told when a BaseApp dies.
const LastWords = 30 * time.Second

// channelBroke notes that the last messages to an app may be lost. The next tick says them again,
// over a new channel.
func (a *CellApp) channelBroke(now time.Duration, ch mercury.ChannelID, reason error) {
	app, ok := a.links.Closed(now, ch, reason)
	if ok && !a.links.Dead(app) && !slices.Contains(a.broken, app) {
		a.broken = append(a.broken, app)
	}
}

// tickCells runs a tick of the cells and their entities, and repeats what broken channels may have
// lost.
func (a *CellApp) tickCells(now time.Duration) {
	for _, app := range a.broken {
		a.population.ChannelBroke(app)
	}
	a.broken = a.broken[:0]
	a.population.Tick(now, a.clusterTime(now), a.cfg.Tick)
}

// lastWords is the tick of a retired CellApp.
func (a *CellApp) lastWords(now time.Duration) {
	if a.leaveBy == 0 {
		a.leaveBy = now + LastWords
	}
	if now < a.leaveBy {
		a.links.Tick(now)
		a.tickCells(now)
		return
	}
	if n := a.population.Unanswered(); n > 0 && !a.left {
		a.log.Warn("ending although bases have not answered", "words", n)
	}
	a.left = true
}
