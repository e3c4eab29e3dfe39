package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// A client whose seat was given to a base on another app is sent after it: over its channel if it
// has one, and else when it comes back with the token that it has, to this app or to the heir of
// the giver. So is one that comes here since this app had a copy of its base, which has gone on
// elsewhere.

// maxSentOn bounds the seats that an app remembers to have been given away; the oldest is forgotten
// first. It is as many as it can have had twice.
const maxSentOn = 2 * MaxProxies

// sentOn is a seat that went to another base.
type sentOn struct {
	tokens [2]protocol.Token
	to     entity.ID
	until  time.Duration
}

// sendings are the seats that went to other apps, the oldest first.
type sendings struct {
	byToken map[protocol.Token]entity.ID
	order   []sentOn
}

// awayTime is for how long a client may come back that does not know yet that its channel has
// nobody at the other end.
func (a *BaseApp) awayTime() time.Duration {
	return mercury.DefaultInactivity + max(0, a.cfg.ResumeTime)
}

// sendOn sends the client of a seat after it, now or when it is back.
func (a *BaseApp) sendOn(s *seat, to entity.ID) {
	a.noteSentOn([2]protocol.Token{s.token, s.former}, to)
	if c := s.client; c != nil {
		s.client, c.base = nil, nil
		a.downloads.AbortAll(a.now, c.ch, errGiven)
		c.sendTo(a.doorsTo(to))
	}
}

// sendAfter has the client sent to the heir of its base, if it comes here. The copy here was made
// by a rule which another was just taking the place of, so the client may have heard only of this
// one.
func (a *BaseApp) sendAfter(c *heldCopy) {
	b := &base{app: a}
	err := migrate.EachBasePart(c.parts, func(tag migrate.Tag, body []byte) error {
		if tag != migrate.BaseClientPart {
			return nil
		}
		r := codec.NewReader(body)
		b.readClient(&r)
		return r.Close()
	})
	if s := b.seat; err == nil && s != nil {
		a.noteSentOn([2]protocol.Token{s.token, s.former}, c.id)
	}
}

func (a *BaseApp) noteSentOn(tokens [2]protocol.Token, to entity.ID) {
	x := &a.sendings
	if x.byToken == nil {
		x.byToken = make(map[protocol.Token]entity.ID)
	}
	if len(x.order) >= maxSentOn {
		a.forgetSentOn(1)
	}
	for _, t := range tokens {
		if t != (protocol.Token{}) {
			x.byToken[t] = to
		}
	}
	x.order = append(x.order, sentOn{tokens, to, a.now + a.awayTime()})
}

func (a *BaseApp) forgetSentOn(n int) {
	x := &a.sendings
	for _, s := range x.order[:n] {
		for _, t := range s.tokens {
			if x.byToken[t] == s.to {
				delete(x.byToken, t)
			}
		}
	}
	x.order = slices.Delete(x.order, 0, n)
}

// tickSentOn forgets whom nobody asks for any more.
func (a *BaseApp) tickSentOn() {
	n := 0
	for n < len(a.sendings.order) && a.now >= a.sendings.order[n].until {
		n++
	}
	if n > 0 {
		a.forgetSentOn(n)
	}
}

// sentElsewhere sends on a client that has come back, if its seat went to another app.
func (c *client) sentElsewhere(t protocol.Token) bool {
	a := c.app
	to, found := a.sendings.byToken[t]
	if !found || !a.elsewhere(to) {
		return false
	}
	c.sendTo(a.doorsTo(to))
	return true
}

// sendTo tells a client where its session goes on, and where else if that is gone as well. Without
// room for that its channel is lost, and it comes back to be told.
func (c *client) sendTo(doors, fallback []protocol.Door) {
	m := protocol.Switch{Doors: doors, Fallback: fallback}
	if c.control(m.Append(c.app.buf[:0])) {
		c.close()
		return
	}
	c.abort()
}

// doorsTo are the doors to the app that a base is on, and to that which would go on with it.
func (a *BaseApp) doorsTo(id entity.ID) (doors, fallback []protocol.Door) {
	home := a.homeOf(id).App
	doors = a.doorsOf(home)
	i := slices.IndexFunc(a.holding.wards, func(w *ward) bool { return w.owner == home })
	if i < 0 {
		return doors, nil
	}
	var buf [migrate.MaxReplicas]mercury.Address
	for _, h := range a.holding.wards[i].rule.Holders(buf[:0], home, id) {
		if !a.links.Dead(h) {
			return doors, a.doorsOf(h)
		}
	}
	return doors, nil
}

// doorsOf are the doors of a BaseApp, as far as it has told them.
func (a *BaseApp) doorsOf(app mercury.Address) []protocol.Door {
	if app == a.net.Self() {
		return a.cfg.Doors
	}
	if i := slices.IndexFunc(a.neighbours, func(n neighbour) bool { return n.app == app }); i >= 0 {
		return a.neighbours[i].doors
	}
	return nil
}
