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
//	giver                target                         client
//	shown ---- seat ---> given, not enabled -- NewToken, ResetEntities -> forgets all
//	OnClientDeath        |                                              |
//	                     enabled <----------- EnableEntities -----------+
//	                     OnEntitiesEnabled -- BasePlayer -------------->
//
// What the client said to the giver may come until its EnableEntities. It is for nobody, and counted.
//
// A copy of the giver may be from before, and one of the target from after. The turn counts how often the
// account was handed on, so the target's counts.

// GiveClientTo is part of entity.Base's host.
func (b *base) GiveClientTo(to property.Mailbox, method string) error {
	if method != "" {
		if err := script.CheckCallback[entity.ClientGiven](b.kind, method); err != nil {
			return err
		}
	}
	t, err := b.takerOf(to)
	if err != nil {
		return err
	}
	b.give(t)
	if method != "" && b.hears() {
		callBack(b, method, entity.ClientGiven{To: t.id})
	}
	return nil
}

// takerOf returns the proxy that is to have the client, or why it cannot.
func (b *base) takerOf(to property.Mailbox) (*base, error) {
	t := b.app.byID[entity.ID(to.Entity)]
	no := func(why string) (*base, error) {
		return nil, fmt.Errorf("%w to %v: %s", entity.ErrNotGiven, entity.ID(to.Entity), why)
	}
	switch {
	case b.destroying || !b.shown():
		return nil, fmt.Errorf("%w: no client that is ready", entity.ErrNoPart)
	case t == nil:
		return no("it is not on this BaseApp")
	case t == b:
		return no("it has it")
	case t.destroying || t.removed:
		return no("it is being destroyed")
	case !t.props.Definition().HasClient:
		return no("clients do not know its type")
	case t.seat != nil || t.attachBy != 0 || t.account != "":
		return no("it has a client, or awaits one")
	}
	return t, nil
}

// give hands over the client, and the account with it. Scripts hear of it last.
func (b *base) give(t *base) {
	a, s := b.app, b.seat
	b.forgetToken()
	b.seat, t.seat, s.base = nil, s, t
	if s.client != nil {
		s.client.base = t
	}
	if account := b.account; account != "" {
		b.account, t.account, a.accounts[account] = "", account, t
		t.turn = b.turn + 1
		a.baseMgr.Send(&wire.Proxies{Entries: []wire.Proxy{{Account: account, ID: t.id, Life: t.life()}}})
	}
	s.enabled, s.given = false, true
	t.beginSession()
	t.room, t.rate = b.room, b.rate
	s.changeToken()
	s.add(protocol.BaseStream, protocol.AppendResetEntities(a.buf[:0]))
	t.tellFallback()
	b.backupSoon()
	b.setCellClient()
	b.log.Info("client given away", "account", t.account, "to", t.id.String())
	if s.client != nil {
		a.downloads.AbortAll(a.now, s.client.ch, errGiven) // tells the script, which may destroy b
	}
	if !b.destroying && !b.removed {
		callHook(b, "OnClientDeath", func(s ClientDeathHandler) { s.OnClientDeath(protocol.GivenAway, protocol.GivenAway.String()) })
	}
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
func (b *base) claim(account string, turn uint32) bool {
	a := b.app
	o := a.accounts[account]
	b.turn = turn
	switch {
	case account == "" || o == nil:
	case o.turn > turn:
		b.seat, b.attachBy = nil, 0
		return true
	case o.turn == turn:
		return false
	default:
		o.forgetToken()
		o.leaveSeat()
		delete(a.accounts, account)
		o.account = ""
		o.setCellClient()
	}
	b.account = account
	return true
}
