package entity

// ClientHost is what an app knows of the client of a base.
type ClientHost interface {
	// ClientSession is the number of the client's session, from 1 in the life of
	// the proxy; 0 while no client is attached.
	ClientSession() uint32
	// ClientAccount is the account that the proxy was made for; "" if for none.
	ClientAccount() string
}

// A base whose player has a client is a proxy: what the cell part says to the
// client goes through it, and what the client says comes in at it. These are the
// methods of Base that have to do with it.

// HasClient reports whether a client is attached now.
func (b *Base) HasClient() bool { return b.host.ClientSession() != 0 }

// Account is the account that the proxy was made for, "" for a base that no login made.
func (b *Base) Account() string { return b.host.ClientAccount() }

// Client is the mailbox of the own client: client methods, called past the cell.
// Calls fail with ErrNoPart while no client is attached.
func (b *Base) Client() Mailbox { return Mailbox{b.id, ClientPart, b.Def(), b.host} }
