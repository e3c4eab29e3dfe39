package cellapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// LastWords is how long a CellApp that has retired waits for bases to answer what they
// must hear of reals that were lost here: longer than it takes to give up a channel and
// to say it over another one. It is no member any more, so nobody tells it of a BaseApp
// that has died meanwhile.
const LastWords = 30 * time.Second

// tellLost tells a base that there is no real of an order here, until it answers.
func (a *CellApp) tellLost(now time.Duration, base mercury.Address, id entity.ID, order entity.Order, reason string) {
	a.population.TellLost(now, base, id, order, reason)
}

// channelBroke notes that what was sent to an app may be lost. It is acted on in the
// next tick: what is said then goes over a new channel.
func (a *CellApp) channelBroke(ch mercury.ChannelID) {
	app, ok := a.links.Closed(ch)
	if ok && !a.links.Dead(app) && !slices.Contains(a.broken, app) {
		a.broken = append(a.broken, app)
	}
}

// repair says again what broken channels took, and what was not answered.
func (a *CellApp) repair(now time.Duration) {
	for _, app := range a.broken {
		a.population.ChannelBroke(now, app)
		for _, c := range a.cells {
			c.ChannelBroke(app)
		}
	}
	a.broken = a.broken[:0]
	a.population.Repeat(now)
}

// lastWords is the tick of a CellApp that has retired.
func (a *CellApp) lastWords(now time.Duration) {
	if a.leaveBy == 0 {
		a.leaveBy = now + LastWords
	}
	if now < a.leaveBy {
		a.links.Tick(now)
		a.repair(now)
		return
	}
	if n := a.population.Unanswered(); n > 0 && !a.left {
		a.log.Warn("ended though bases have not answered", "words", n)
	}
	a.left = true
}

// probe answers a base that asks after its real. That there is nothing of it on any cell
// here is a word that its base needs, too.
func (a *CellApp) probe(from sender, m *migrate.Probe) error {
	if from.role == wire.BaseApp && m.Base != from.app {
		return errBase
	}
	if a.population.Probe(m) {
		return nil
	}
	if m.Hops == 0 && !a.population.Tells(m.ID, m.Order) {
		a.log.Warn("a base believes in a real that is not here", "entity", m.ID.String(), "order", m.Order.String())
		a.tellLost(from.now, m.Base, m.ID, m.Order, "nothing is known of it where its base believes it")
	}
	return nil
}
