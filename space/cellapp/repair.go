package cellapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// LastWords is how long a CellApp that has retired waits for bases to answer what they
// must hear of reals that were lost here: longer than it takes to give up a channel and
// to say it over another one. It is no member any more, so nobody tells it of a BaseApp
// that has died meanwhile.
const LastWords = 30 * time.Second

// channelBroke notes that what was sent to an app may be lost. It is acted on in the
// next tick: what is said then goes over a new channel.
func (a *CellApp) channelBroke(ch mercury.ChannelID) {
	app, ok := a.links.Closed(ch)
	if ok && !a.links.Dead(app) && !slices.Contains(a.broken, app) {
		a.broken = append(a.broken, app)
	}
}

// tickCells runs a tick of all that is of entities, and says again what broken channels took.
func (a *CellApp) tickCells(now time.Duration) {
	for _, app := range a.broken {
		a.population.ChannelBroke(app)
	}
	a.broken = a.broken[:0]
	a.population.Tick(now, a.clusterTime(now), a.cfg.Tick)
}

// lastWords is the tick of a CellApp that has retired.
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
		a.log.Warn("ended though bases have not answered", "words", n)
	}
	a.left = true
}
