package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// Located answers a Locate. App is zero if the space has no suitable cell now; the asker asks again
// later.
type Located struct {
	ID    entity.ID
	Space entity.SpaceID
	// Gone means that there is no such space and never will be again, so there is no use in asking
	// again.
	Gone bool
	App  mercury.Address
}

func (m *Located) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	codec.Uint32(c, &m.Space)
	c.Bool(&m.Gone)
	fields.Address(c, &m.App)
}

func (m *Located) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Located) Parse(body []byte) error { return parse(body, m, m.code) }

// AppLeft answers an AppSilent: this start of an app is no longer a member of the cluster. Unlike a
// dead app's, its last messages are still handled.
type AppLeft struct{ App mercury.Address }

func (m *AppLeft) code(c *codec.Coder) { fields.Address(c, &m.App) }

func (m *AppLeft) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *AppLeft) Parse(body []byte) error { return parse(body, m, m.code) }

// ClientPacket carries a Positions packet of a witness to its proxy, unreliably.
type ClientPacket struct {
	ID      entity.ID
	Order   entity.Order
	Session uint32
	Packet  []byte // aliases the input after Parse
}

// ClientPacketHead is the most bytes that a ClientPacket takes beside its Packet, including its id.
// Senders that cut packets to a channel's length leave room for it.
const ClientPacketHead = 1 + 8 + 2*binary.MaxVarintLen32 + 4

// Append encodes m.
func (m *ClientPacket) Append(b []byte) []byte {
	b = fields.AppendID(b, m.ID)
	b = fields.AppendOrder(b, m.Order)
	b = binary.LittleEndian.AppendUint32(b, m.Session)
	return append(b, m.Packet...)
}

// Parse decodes a body.
func (m *ClientPacket) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	m.Session = r.U32()
	m.Packet = r.Rest()
	return done(&r, "client packet")
}

// MaxAccount bounds an account name.
const MaxAccount = 256

// MakeProxy asks a BaseApp to make a proxy for an account that has logged in.
type MakeProxy struct {
	Request uint64
	Account string
	Plays
	// Wait says that a row which another entity has is waited for. Without it the answer is the code
	// AlreadyLoggedIn and that entity.
	Wait bool
}

func (m *MakeProxy) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Account, MaxAccount)
	m.Plays.code(c)
	c.Bool(&m.Wait)
}

func (m *MakeProxy) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *MakeProxy) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *MakeProxy) Call() *uint64           { return &m.Request }

// Relogin asks a BaseApp for the proxy that an account has there already, for another client. A
// ProxyMade with the code Destroyed says that there is none any more.
type Relogin struct {
	Request uint64
	Account string
	// Holder, if not 0, is the entity that has the row of what the account plays. It is no proxy
	// that the BaseAppMgr knows of, and may be one without a client.
	Holder entity.ID
	Plays
}

func (m *Relogin) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Account, MaxAccount)
	fields.ID(c, &m.Holder)
	m.Plays.code(c)
}

func (m *Relogin) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Relogin) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *Relogin) Call() *uint64           { return &m.Request }
