package game

import (
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/property"
)

// postsAtOnce bounds the guards that are asked for at a time.
const postsAtOnce = 256

// Garrison is an entity of which the world has one: it posts the guards on the BaseApps that have least to
// do. One that comes back from a store, or on another BaseApp, knows how many it has posted.
type Garrison struct {
	*entity.Base
	Posted property.Int32
	guards int `cellscape:"local"` // that there are to be
	open   int `cellscape:"local"` // that were asked for
}

// muster is called on each BaseApp when it has joined. One of them makes the garrison.
func muster(s *baseapp.Starter) {
	if err := s.Ensure("Garrison", "garrison", nil, nil); err != nil {
		s.Log().Error("no guards", "error", err)
	}
}

// OnCreated begins to post guards.
func (g *Garrison) OnCreated() { g.post() }

// OnRestored goes on with those that the former BaseApp had not posted.
func (g *Garrison) OnRestored() { g.post() }

// OnAgain goes on after something has failed.
func (g *Garrison) OnAgain(entity.Callback) { g.post() }

func (g *Garrison) post() {
	for g.open < postsAtOnce && int(g.Posted.Get())+g.open < g.guards {
		if err := g.CreateBase(entity.BaseInfo{Type: "Guard"}, "OnPosted", 0); err != nil {
			g.again(err)
			return
		}
		g.open++
	}
}

func (g *Garrison) again(err error) {
	g.Log().Warn("no guard", "error", err)
	_, _ = g.AddTimer(time.Second, 0, "OnAgain", 0)
}

// OnPosted counts a guard, and has the store know when all are there.
func (g *Garrison) OnPosted(r entity.BaseReply) {
	g.open = max(0, g.open-1) // one that a former BaseApp had asked for is answered here
	if r.Err != nil {
		g.again(r.Err)
		return
	}
	g.Posted.Set(g.Posted.Get() + 1)
	if g.post(); g.open > 0 {
		return
	}
	if err := g.Write("OnKept", 0); err != nil && !errors.Is(err, stored.ErrNotKept) {
		g.Log().Error("the garrison is not kept", "error", err)
	}
}

// OnKept is told that the store knows that the guards are posted.
func (g *Garrison) OnKept(r stored.Reply) {
	if r.Err != nil {
		g.Log().Error("the garrison is not kept", "error", r.Err)
	}
}
