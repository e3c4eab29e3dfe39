package baseapp

import (
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
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
//	          |               EndPatience: AlreadyLoggedIn, or ServerBusy if it ends
//	the old client is told
//	Replaced, and dies
//
// An entity may have given its client away (GiveClientTo), and live on with the row of what the
// account plays, as accounts do whose characters play. When the character has ended, nobody knows
// the account, and a login finds its row taken:
//
//	BaseApp       Held, by that entity --> AlreadyLoggedIn and the entity
//	BaseAppMgr    Relogin with Holder, to where that is
//	its BaseApp   it has had a client, and it is what the account plays: it gets the account back, as above
//	              it is another, or ends: Destroyed. The BaseAppMgr has the row waited for
//
// An entity that was loaded, as by whoever delivers mail, and has never had a client does not get
// one: who loaded it is about to end it.
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
	if b == nil {
		b = a.formerlyOf(m)
	}
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
	case way == TakeOver && !b.ownAgain(m):
		a.answerLogin(from, m.Request, protocol.ServerBusy)
	case way == TakeOver:
		b.expectClient()
		a.answerMade(from, m.Request, b)
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

// formerlyOf is the entity that is what an account plays and has no client any more, nil if there
// is none.
func (a *BaseApp) formerlyOf(m *wire.Relogin) *base {
	b := a.byID[m.Holder]
	if b == nil || b.account != "" || b.session == 0 || !b.isPlayedBy(m) {
		return nil
	}
	return b
}

// isPlayedBy reports whether the base is what an account plays, by its row or its identifier.
func (b *base) isPlayedBy(m *wire.Relogin) bool {
	what := b.app.playedBy(m.Account, &m.Plays)
	t := b.app.keeps(b.props.Definition())
	switch {
	case t == nil || b.props.Definition().Name != what.Type:
		return false
	case what.Row != 0:
		return b.keep.row == what.Row
	}
	id := t.Identifier()
	if id == nil {
		return false
	}
	v, err := id.Fit(property.StringValue(m.Account))
	return err == nil && property.Equal(b.props.Get(b.props.Definition().Property(id.Name).Index), v)
}

// ownAgain makes an account the base's own that was its own before, and reports false if there is
// no room. It begins anew: what is left of those who had the account meanwhile is of another origin.
func (b *base) ownAgain(m *wire.Relogin) bool {
	a := b.app
	if b.account != "" {
		return true
	}
	if len(a.accounts)+len(a.loggingIn) >= MaxProxies || a.ids == nil {
		return false
	}
	origin, err := a.ids.Next()
	if err != nil {
		return false
	}
	b.loginData = slices.Clone(m.Data)
	b.own(m.Account, origin, 0)
	b.backupSoon()
	return true
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
		b.endWait(b.whyWaiting())
	}
	b.tickMade()
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

// whyWaiting says why a login has waited in vain. Nobody plays a base that ends, and it is gone once the
// store has it or its CellApp answers: so the client is to ask again by itself.
func (b *base) whyWaiting() protocol.Code {
	if b.destroying {
		return protocol.ServerBusy
	}
	return protocol.AlreadyLoggedIn
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
