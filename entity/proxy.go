package entity

import (
	"github.com/cellscape/cellscape/property"
)

// clientHost is what an app knows about the client of a base.
type clientHost interface {
	// ClientSession is the number of the client's session, from 1 in the life of the proxy; 0 while
	// no client is attached.
	ClientSession() uint32
	// ClientAccount is the account that the proxy was made for; "" if none.
	ClientAccount() string
	// KickClient ends the client's session.
	KickClient(reason string) error
	// LoginData is what the Auth said of the account; nil for nothing.
	LoginData() []byte
	// GiveClientTo hands the client to another base, and calls method when that is decided.
	GiveClientTo(to property.Mailbox, method string) error
}

// ClientGiven is the outcome of GiveClientTo, the argument of the callback that the script named.
type ClientGiven struct {
	To ID // the base that it was to have
	// Err says why that base does not have the client; nil if it has. Match it with errors.Is: it
	// is ErrTimeout, or ErrNotGiven with the reason.
	Err error
}

// A base with a player's client is a proxy, through which all messages between the cell part and
// the client go. These methods of Base are for proxies.

// HasClient reports whether a client is attached now. It stays so while the client's connection is lost
// and its place is kept: what it is told then waits for it.
//
// A client that has yet to say that it is ready is attached, too. It takes downloads, but no calls.
func (b *Base) HasClient() bool { return b.host.ClientSession() != 0 }

// Account is the account that the proxy was made for, "" for a base that no login made.
func (b *Base) Account() string { return b.host.ClientAccount() }

// Kick ends the client's session. The client is told the reason, at most 512 bytes. The
// script then hears of its death, as of any other's, and the entity ends unless the script keeps it.
// Without a client it returns ErrNoPart.
func (b *Base) Kick(reason string) error { return b.host.KickClient(reason) }

// LoginData is what the loginapp.Auth that let the account in says of it (loginapp.Player.Data), nil for
// nothing. Do not change it.
func (b *Base) LoginData() []byte { return b.host.LoginData() }

// GiveClientTo gives the client to another base whose type clients know and which has no client:
// from an account to the character that the player has chosen, and back. The account goes with it.
// The client forgets all entities and is shown the new one. Its downloads end.
//
// This script then hears OnClientDeath with protocol.GivenAway, and its entity lives on without a
// client. Then its method of that name, a func (T) OnX(ClientGiven), is called, unless method is
// "". The other script hears OnEntitiesEnabled when the client is ready. Errors are ErrNoPart
// without a client that is ready, ErrNotGiven with the reason, and ErrNoCallback; then nothing has
// happened.
//
// If the other base is on this BaseApp, all that has happened when GiveClientTo returns. Else it
// takes a moment, up to limits.DefaultCallTime: until then the client is this entity's, but is not
// heard, and calls of Client fail with ErrNoPart. If the other base does not take it, ClientGiven
// says why, and the client goes on here. Bases move between BaseApps by themselves, so expect both.
// Destroy and Kick end the session meanwhile as ever. Where sessions end with their channels
// (baseapp.Config.ResumeTime), a client cannot go to another BaseApp: ErrNotGiven.
//
// A login goes to the base that has the account and, once that has ended, to the one that the
// account plays: to the one that gave its client away if that lives on and a store keeps it, else to
// a new one, which is loaded if the store has it. So an account may live on while its character
// plays, and gets the next client when the character has ended; or it ends by Destroy when
// ClientGiven has come without an error. What OnLogOnAttempt says counts for both.
func (b *Base) GiveClientTo(to property.Mailbox, method string) error {
	return b.host.GiveClientTo(to, method)
}

// Client is the mailbox of the entity's own client. Its calls do not go through the cell, and fail
// with ErrNoPart while no client is attached that is ready (OnEntitiesEnabled).
func (b *Base) Client() Mailbox {
	return Mailbox{ID: b.id, Kind: ClientMailbox, Def: b.Def(), Via: b.host}
}
