package baseapp

import (
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
)

// An account that has a proxy may log in again: from another machine, or because its client has crashed,
// which nobody can tell from one that is only silent.
//
//	           Relogin: OnLogOnAttempt, else Config.Relogin
//	                 |
//	   +-------------+--------------+------------------+
//	   v             v              v                  v
//	TakeOver    no client       AwaitDestroy       RefuseLogin
//	   |             |              |                  |
//	   +--> token <--+        the client dies     AlreadyLoggedIn
//	          |                     |
//	        attach            the base is gone: Destroyed, and the manager has another made
//	          |               EndPatience: AlreadyLoggedIn
//	the old client is told
//	Replaced, and dies
//
// Invariants:
//
//   - Each Relogin is answered once. Of two that wait for the end of a base the older is answered at once.
//   - A base has one token at most, the newest; it admits one client, once.
//   - A base whose new client is on its way does not end with its old one.
//   - The old client plays until the new one is there: a login that comes to nothing harms nobody.

// Relogin says what becomes of a login to an account whose proxy has a client already, or keeps the place
// of one that was lost.
type Relogin uint8

// These are the ways.
const (
	// TakeOver gives the proxy to the new client, with all that it has and wherever it is. The old client
	// is told protocol.Replaced. It is the default: whoever logs in has proved whose the account is, and
	// after a crash of the client nobody need wait until the server has noticed.
	TakeOver Relogin = iota
	// RefuseLogin tells the new client protocol.AlreadyLoggedIn.
	RefuseLogin
	// AwaitDestroy ends the old client's session with protocol.Replaced. The new one waits until the proxy
	// is gone, up to EndPatience, and gets another.
	AwaitDestroy
	relogins
)

// EndPatience is how long a login waits for the end of the account's former proxy. It leaves a LoginApp,
// which waits for five seconds, time to have another made.
const EndPatience = 4 * time.Second

// newcomer is a login that waits for the end of a base.
type newcomer struct {
	ch      mercury.ChannelID
	request uint64
	until   time.Duration // 0: there is none
}

// relogin answers a login to an account that had a proxy here, now or when the base is gone.
func (a *BaseApp) relogin(from mercury.ChannelID, m *wire.Relogin) {
	b := a.accounts[m.Account]
	if b == nil && a.hasMoved(m.Account) || b != nil && b.gives() {
		a.answerLogin(from, m.Request, protocol.ServerBusy) // the manager hears where soon
		return
	}
	if b == nil {
		a.answerLogin(from, m.Request, protocol.Destroyed)
		return
	}
	switch way := b.decideLogin(); {
	case b.removed && b.stub == nil:
		a.answerLogin(from, m.Request, protocol.Destroyed)
	case b.destroying:
		b.letWait(from, m.Request)
	case way == TakeOver:
		b.expectClient()
		a.links.Reply(from, &wire.ProxyMade{Request: m.Request, ID: b.id, Token: b.token, Doors: a.cfg.Doors})
	case way == AwaitDestroy:
		b.letWait(from, m.Request)
		if b.seat != nil {
			b.seat.refuse(protocol.Replaced)
			b.clientDied(protocol.Replaced, protocol.Replaced.String())
		}
	default:
		a.answerLogin(from, m.Request, protocol.AlreadyLoggedIn)
	}
}

// decideLogin asks the script, or else the setting. The setting is about a client that is there.
func (b *base) decideLogin() Relogin {
	if b.destroying {
		return AwaitDestroy
	}
	way := b.app.cfg.Relogin
	if b.seat == nil {
		way = TakeOver
	}
	callHook(b, "OnLogOnAttempt", func(s LogOnDecider) { way = s.OnLogOnAttempt() })
	return way
}

func (a *BaseApp) answerLogin(to mercury.ChannelID, request uint64, code protocol.Code) {
	a.links.Reply(to, &wire.ProxyMade{Request: request, Code: uint8(code)})
}

// letWait has a login wait for the end of the base.
func (b *base) letWait(ch mercury.ChannelID, request uint64) {
	b.endWait(protocol.ServerBusy)
	b.newcomer = newcomer{ch, request, b.app.now + EndPatience}
}

// endWait answers the login that waits, if there is one.
func (b *base) endWait(code protocol.Code) {
	if n := b.newcomer; n.until != 0 {
		b.newcomer = newcomer{}
		b.app.answerLogin(n.ch, n.request, code)
	}
}

// tickLogin ends what waits too long for a client, or for the end of the base.
func (b *base) tickLogin() {
	now := b.app.now
	if b.newcomer.until != 0 && now >= b.newcomer.until {
		b.endWait(protocol.AlreadyLoggedIn)
	}
	if b.attachBy == 0 || now < b.attachBy {
		return
	}
	b.forgetToken()
	if b.seat != nil {
		return // the client that it has goes on
	}
	b.log.Info("no client came for the proxy", "account", b.account)
	if b.session == 0 || !b.keeps() {
		b.Destroy()
	}
}

// expectClient makes the token by which the next client claims the proxy. The one before is void.
func (b *base) expectClient() {
	b.forgetToken()
	b.app.cfg.Secrets(b.token[:])
	b.app.byToken[b.token] = b
	b.attachBy = b.app.now + AttachTimeout
}

// KickClient is part of entity.Base's host.
func (b *base) KickClient(reason string) error {
	switch {
	case b.seat == nil || b.destroying:
		return entity.ErrNoPart
	case len(reason) > protocol.MaxReason:
		return fmt.Errorf("%w: a reason of %d bytes, %d are possible", entity.ErrArguments, len(reason), protocol.MaxReason)
	}
	if c := b.seat.client; c != nil {
		c.refuse(protocol.Kicked, reason)
	}
	b.clientDied(protocol.Kicked, reason)
	return nil
}
