package baseapp

import (
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// A login is answered when others hold a copy of the proxy that knows its token. So from its first moment
// on a session outlives this app: the client is told with the answer where it goes on, and is known there.
//
//	MakeProxy, Relogin --> a copy is sent at once --> held: ProxyMade, with the doors and the fallback
//	                                  |
//	                                  +--> copyGrace, nobody is there, it is refused: ProxyMade

// copyGrace is how long a login waits for that. A holder that is silent for longer may be dead, and the
// player can play all the same.
const copyGrace = time.Second

// unanswered is a login that waits for a copy of its proxy.
type unanswered struct {
	to      mercury.ChannelID
	request uint64
	copy    uint64        // the number of the copy
	until   time.Duration // 0: there is none
}

// answerMade answers a login that has got a proxy, when that is safe.
func (a *BaseApp) answerMade(to mercury.ChannelID, request uint64, b *base) {
	if x := b.made; x.until != 0 { // its token is void by now
		a.answerLogin(x.to, x.request, protocol.ServerBusy)
	}
	b.made = unanswered{to: to, request: request, copy: b.copied.number + 1, until: a.now + copyGrace}
	b.backupSoon()
	if b.protected() {
		a.copyAtOnce(b)
	}
	if !b.protected() {
		b.tellMade()
	}
}

// copyAtOnce sends the copy of a base that waits for the end of the tick.
func (a *BaseApp) copyAtOnce(b *base) {
	if c := &b.copied; c.queued && a.copyNow(b) {
		c.queued = false
		a.copying.soon = slices.DeleteFunc(a.copying.soon, func(x *base) bool { return x == b })
	}
}

// madeCopied is called when the last answer to a copy has come, whatever it is.
func (b *base) madeCopied() {
	if b.made.until != 0 && b.copied.number >= b.made.copy {
		b.tellMade()
	}
}

// tickMade ends the wait.
func (b *base) tickMade() {
	if b.made.until != 0 && (b.app.now >= b.made.until || !b.protected()) {
		b.tellMade()
	}
}

// endMade has a login wait for the end of the base that it was to get.
func (b *base) endMade() {
	if x := b.made; x.until != 0 {
		b.made = unanswered{}
		b.letWait(x.to, x.request)
	}
}

// tellMade answers the login that waits, if there is one.
func (b *base) tellMade() {
	a, x := b.app, b.made
	if x.until == 0 {
		return
	}
	b.made = unanswered{}
	if b.attachBy == 0 { // another base has the account now
		a.answerLogin(x.to, x.request, protocol.ServerBusy)
		return
	}
	a.links.Reply(x.to, &wire.ProxyMade{Request: x.request, ID: b.id, Token: b.token, Doors: a.cfg.Doors, Fallback: a.fallback(b)})
}
