package wire

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// RoomPeriod is how long a LoginApp that was refused for want of room waits until it asks again: players
// who wait in a queue do not notice it.
const RoomPeriod = 250 * time.Millisecond

// CreateProxy asks the BaseAppMgr for a proxy, on the least loaded BaseApp that has room, for an account
// that has logged in at the LoginApp.
type CreateProxy struct {
	Request uint64
	Account string
	// Refusals is how often the LoginApp was refused for want of room, as far as it knows. What it asked
	// before it knew of the last is refused, too: who came in would have come later.
	Refusals uint32
	// Back says that only an account that has a proxy may come in, since the world is full. To any other
	// the answer is protocol.WorldFull, which counts as no refusal.
	Back bool
	Plays
}

func (m *CreateProxy) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Account, MaxAccount)
	codec.Uint32(c, &m.Refusals)
	c.Bool(&m.Back)
	m.Plays.code(c)
}

func (m *CreateProxy) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CreateProxy) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *CreateProxy) Call() *uint64           { return &m.Request }

// ProxyGone tells the BaseAppMgr that an account's proxy no longer exists, so that the account may
// log in again.
type ProxyGone struct {
	Account string
	ID      entity.ID
}

func (m *ProxyGone) code(c *codec.Coder) {
	c.String(&m.Account, MaxAccount)
	fields.ID(c, &m.ID)
}

func (m *ProxyGone) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *ProxyGone) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxProxies bounds the proxies in one Proxies message. With names of MaxAccount the message has 72
// KB, far below the limit of a channel.
const MaxProxies = 256

// Proxies tells the BaseAppMgr which accounts have a proxy on the sending BaseApp. A BaseApp sends
// it each time it joins, in as many messages as needed, since the BaseAppMgr may have restarted, or
// may have given up the accounts when the channel broke.
type Proxies struct{ Entries []Proxy }

// Proxy is one entry of Proxies.
type Proxy struct {
	Account string
	ID      entity.ID
	// Life is that of the base. It rises with each move, so a word from where the base was before shows.
	Life uint32
	// Origin names the login of the account: by the base that it made, or by an id of its own if it
	// came back to one that was there. Turn is how often the account was handed on since.
	Origin entity.ID
	Turn   uint32
}

func (m *Proxies) code(c *codec.Coder) {
	codec.List(c, &m.Entries, MaxProxies, 5, func(c *codec.Coder, p *Proxy) {
		c.String(&p.Account, MaxAccount)
		fields.ID(c, &p.ID)
		codec.Uint32(c, &p.Life)
		fields.ID(c, &p.Origin)
		codec.Uint32(c, &p.Turn)
	})
}

func (m *Proxies) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Proxies) Parse(body []byte) error { return parse(body, m, m.code) }

// Outdone tells a BaseApp that an account which it has announced is another base's: of the same
// origin, and of a later turn.
type Outdone struct {
	Account string
	ID      entity.ID // of that base
	Origin  entity.ID
	Turn    uint32
}

func (m *Outdone) code(c *codec.Coder) {
	c.String(&m.Account, MaxAccount)
	fields.ID(c, &m.ID)
	fields.ID(c, &m.Origin)
	codec.Uint32(c, &m.Turn)
}

func (m *Outdone) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Outdone) Parse(body []byte) error { return parse(body, m, m.code) }
