package baseappmgr

import (
	"time"

	"github.com/cellscape/cellscape/internal/app"
	"github.com/cellscape/cellscape/internal/wire"
)

// MakeTimeout is how long a BaseApp may take to answer that it has made a base. The asker asks again
// each second anyway, and a BaseApp makes a base twice for nobody.
const MakeTimeout = 10 * time.Second

// onBaseLoad notes how many bases a BaseApp has, and their work.
func (m *BaseAppMgr) onBaseLoad(from sender, r *wire.BaseLoad) {
	if a := getApp(m.baseApps, from.at); a != nil {
		a.heard = from.now
		a.bases, a.placed, a.reported = int(r.Bases), 0, a.worked(from.now, r)
	}
}

// onPlaceBase names the least loaded BaseApp. There is one: that which asks.
func (m *BaseAppMgr) onPlaceBase(from sender, p *wire.PlaceBase) {
	on := m.fewest(from.now)
	on.placed++
	m.links.Reply(from.ch, &wire.BasePlaced{Request: p.Request, App: on.at})
}

// onCreateBase has a BaseApp make a base. Nobody answers for a BaseApp that is away: it may have made
// the base, and will be heard again or declared dead. Of one that is gone nobody will ever know.
func (m *BaseAppMgr) onCreateBase(from sender, c *wire.CreateBase) {
	on, asker, request := getApp(m.baseApps, c.On), from.ch, c.Request
	switch {
	case on == nil && m.isMember(c.On):
		return
	case on == nil:
		m.report.Refused++
		m.links.Reply(asker, &wire.BaseMade{Request: request, Gone: true})
		return
	case m.links.Asked() >= MaxPending:
		return // the asker asks again
	}
	question := wire.MakeBase{Asker: from.at, NewBase: c.NewBase}
	_, err := app.Ask(&m.links, on.ch, MakeTimeout, &question, func(now time.Duration, made *wire.BaseMade, err error) {
		if err != nil {
			if unlogged, ok := m.lines.Allow(now, "no base"); ok {
				m.log.Warn("a BaseApp does not answer for a base", "at", on.at, "error", err, "unlogged", unlogged)
			}
			return // the asker asks again, until the BaseApp answers or is dead
		}
		made.Request = request
		m.links.Reply(asker, made)
	})
	if err == nil {
		return
	}
	if unlogged, ok := m.lines.Allow(from.now, "no question"); ok {
		m.log.Warn("cannot ask a BaseApp for a base", "at", on.at, "error", err, "unlogged", unlogged)
	}
}
