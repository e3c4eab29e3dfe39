package baseapp

import (
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/script"
	"github.com/cellscape/cellscape/internal/wire"
	"github.com/cellscape/cellscape/property"
)

// A proxy gives its client to another one with its seat: the tokens, the counts and the tail go on, so that
// a channel may be lost at any point.
//
//	giver                taker                          client
//	shown ---- seat ---> given, not enabled -- NewToken, ResetEntities -> forgets all
//	OnClientDeath        |                                              |
//	                     enabled <----------- EnableEntities -----------+
//	                     OnEntitiesEnabled -- BasePlayer -------------->
//
// What the client said to the giver may come until its EnableEntities. It is for nobody, and counted.
//
// To a base of the same app the seat goes at once. To another app it goes by the flow between the two bases,
// which brings each message once, in order, wherever both ends go and whichever app dies:
//
//	giver                                              taker
//	wanted   its seat stands still
//	  |  all copies that can come back know that
//	sent     ---- Give: account, turn + 1, the seat --> can it? the seat is kept there, as after a lost channel
//	  |  <--- Taken, that turn ------------------------  the account is its own, which the BaseAppMgr is told
//	gone     ---- Switch, to the client --------------> it resumes there, with the token that it has
//
//	wanted, sent --- refused; the taker has ended; giveTime; its session has ended ---> over: ClientGiven says why
//
// The turn counts how often the account was handed on. Of two bases that claim an account of one
// origin, which is the base that the login made or a new id if it came back to one that was there
// (ownAgain), the one of the later turn has it. A giver that ends a Give without a Taken takes two
// turns at once: so it is ahead of the taker, should that take the client yet.
//
// Invariants:
//
//   - While a client is given, its seat stands still: nothing that it says is handled, confirmed or
//     counted, and its tokens stay as they are. Whoever comes with such a token waits until it is
//     known who has the seat.
//   - A Give is sent when each copy from which the giver may come back knows of it, and has handled
//     what the seat counts as handled. So no life of the giver plays on with a client that the
//     taker has, and what the client has said is not lost with the giver's app. Without copies
//     nobody comes back.
//   - A Give that comes again, from another life of the giver, is answered and not taken again.
//   - A Taken whose turn is not ahead of that of its receiver is answered with that, and so the one
//     that it came from knows that it lost. A later turn always wins, and so nobody answers for
//     ever.
//   - The app that had the seat sends on whoever comes with one of its tokens, as long as a client
//     may come back; so does the heir of the giver. So the client finds its seat however its
//     channels and the apps go.
//   - Each GiveClientTo that returned nil is answered by one ClientGiven, unless the giver ends before.

// GiveClientTo is part of entity.Base's host.
func (b *base) GiveClientTo(to property.Mailbox, method string) error {
	if method != "" {
		if err := script.CheckCallback[entity.ClientGiven](b.kind, method); err != nil {
			return err
		}
	}
	id := entity.ID(to.Entity)
	if b.destroying || !b.shown() {
		return fmt.Errorf("%w: no client that is ready", entity.ErrNoPart)
	}
	if why := b.whyNotGive(id); why != "" {
		return notGiven(id, why)
	}
	t := b.app.byID[id]
	if t == nil {
		b.beginGiving(id, method)
		return nil
	}
	if why := t.whyNotTake(); why != "" {
		return notGiven(id, why)
	}
	b.give(t)
	b.tellGiven(method, entity.ClientGiven{To: id})
	return nil
}

func notGiven(to entity.ID, why string) error {
	return fmt.Errorf("%w to %v: %s", entity.ErrNotGiven, to, why)
}

// whyNotGive says why the client cannot be given to a base; empty if it can, for all that is known here.
func (b *base) whyNotGive(to entity.ID) string {
	a := b.app
	home := a.homeOf(to)
	switch {
	case to == b.id:
		return "it has it"
	case b.giving != nil:
		return "the client is being given away already"
	case a.byID[to] != nil:
		return ""
	case a.mine(to), home.Role != wire.BaseApp, home.App.IsZero(), a.links.Dead(home.App):
		return "there is no such base"
	case !a.resumable():
		return "it is on another BaseApp, and sessions end with their channels (Config.ResumeTime)"
	case b.account == "":
		return "it is on another BaseApp, and the client has no account"
	case b.seat.tail.Size() > maxGivenTail:
		return "it is on another BaseApp, and too much waits for the client"
	}
	return ""
}

// whyNotTake says why a base cannot have another one's client; empty if it can.
func (b *base) whyNotTake() string {
	switch {
	case b.destroying || b.ended():
		return "it is being destroyed"
	case !b.props.Definition().HasClient:
		return "clients do not know its type"
	case b.seat != nil || b.attachBy != 0 || b.account != "":
		return "it has a client, or awaits one"
	}
	return ""
}

// tellGiven tells the script what became of its client.
func (b *base) tellGiven(method string, g entity.ClientGiven) {
	if method != "" && b.hears() {
		callBack(b, method, g)
	}
}

// give hands over the client to a base of this app, and the account with it. Scripts hear of it last.
func (b *base) give(t *base) {
	a, s := b.app, b.seat
	b.forgetToken()
	b.seat, t.seat, s.base = nil, s, t
	if s.client != nil {
		s.client.base = t
	}
	if account := b.account; account != "" {
		b.handedOn(t.id)
		t.own(account, b.origin, b.turn+1)
	}
	s.enabled, s.given, s.from = false, true, b.id
	t.loginData = b.loginData
	t.beginSession()
	t.room, t.rate = b.room, b.rate
	s.changeToken()
	s.add(protocol.BaseStream, protocol.AppendResetEntities(a.buf[:0]))
	t.tellFallback()
	b.backupSoon()
	b.setCellClient()
	if b.traced() {
		b.step("client given away", "to", t.id)
	}
	b.log.Info("client given away", "account", t.account, "to", t.id.String())
	if s.client != nil {
		a.downloads.AbortAll(a.now, s.client.ch, errGiven) // tells the script, which may destroy b
	}
	b.tellGivenAway()
}

// tellGivenAway tells the script that its client is another's now.
func (b *base) tellGivenAway() {
	if !b.destroying && !b.removed {
		callHook(b, "OnClientDeath", func(s ClientDeathHandler) { s.OnClientDeath(protocol.GivenAway, protocol.GivenAway.String()) })
	}
}

// own makes an account the base's own, in a turn.
func (b *base) own(account string, origin entity.ID, turn uint32) {
	b.account, b.origin, b.turn, b.gone = account, origin, turn, nil
	b.app.accounts[account] = b
	b.tellAccount()
}

// tellAccount tells the BaseAppMgr whose the account is.
func (b *base) tellAccount() {
	b.app.baseMgr.Send(&wire.Proxies{Entries: []wire.Proxy{b.asProxy()}})
}

func (b *base) asProxy() wire.Proxy {
	return wire.Proxy{Account: b.account, ID: b.id, Life: b.life(), Origin: b.origin, Turn: b.turn}
}

// changeToken gives a client that is there another token, so that no older copy of who gave it away takes it
// for its own. One that is away gets another when it is back.
func (s *seat) changeToken() {
	s.base.backupSoon()
	a := s.base.app
	if s.client == nil || !a.resumable() || s.former != (protocol.Token{}) { // it may know that one only
		return
	}
	s.newToken(s.token)
	m := protocol.NewToken{Token: s.token}
	s.client.control(m.Append(a.buf[:0])) // without room the client is closed soon
}

// errGiven ends a download whose client has been given away.
var errGiven = errors.New("baseapp: the client was given to another entity")

// claim gives a base that is read from a copy its account, and with it the client, and reports false if both
// are another's. Of two copies that have them the one of the later turn counts; the other base lives on.
func (b *base) claim(core *baseCore) bool {
	a := b.app
	o := a.accounts[core.account]
	b.origin, b.turn = core.origin, core.turn
	switch {
	case core.account == "" || o == nil:
	case o.origin != core.origin || o.turn == core.turn:
		return false
	case o.turn > core.turn:
		b.seat, b.attachBy = nil, 0
		return true
	default:
		o.forgetToken()
		delete(a.accounts, core.account)
		o.account = ""
		o.loseClient(errGiven) // it comes back by its token, to b
		o.setCellClient()
	}
	b.account = core.account
	return true
}
