package flow

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// From a base to a base on another app.
const (
	// GivePayload: the sender gives its client away (Give).
	GivePayload Payload = 80 + iota
	// TakenPayload: the sender has the client, or does not take it (Taken).
	TakenPayload
)

const (
	// maxAccount bounds the name of an account.
	maxAccount = 1 << 10
	// maxLoginData bounds what a login may say of one.
	maxLoginData = 64 << 10
)

// Give is the body of GivePayload: a client, with its account, for the base that the message is for.
type Give struct {
	Account string
	// Origin names the login of the account. Turn is how often the account has been handed on since,
	// when the taker has it.
	Origin entity.ID
	Turn   uint32
	Data   []byte // what the login said of the account; aliases the input after Parse, as Seat does
	Seat   []byte // as the BaseApp writes it in a copy of a base
}

func (m *Give) code(c *codec.Coder) {
	c.String(&m.Account, maxAccount)
	fields.ID(c, &m.Origin)
	codec.Uint32(c, &m.Turn)
	c.Bytes(&m.Data, maxLoginData)
	c.Rest(&m.Seat, MaxPayload)
}

// Append encodes m with its payload byte.
func (m *Give) Append(b []byte) []byte { return codec.Append(append(b, byte(GivePayload)), m.code) }

// Parse decodes a body.
func (m *Give) Parse(body []byte) error { return parseWish(body, "give", m.code) }

// Taken is the body of TakenPayload. It answers a Give, and an older Taken.
type Taken struct {
	Account string
	// Turn is that in which the sender has the account. If Reason is not empty it has not taken it
	// in that turn.
	Turn   uint32
	Reason string
}

func (m *Taken) code(c *codec.Coder) {
	c.String(&m.Account, maxAccount)
	codec.Uint32(c, &m.Turn)
	c.String(&m.Reason, limits.ErrorText)
}

// Append encodes m with its payload byte.
func (m *Taken) Append(b []byte) []byte { return codec.Append(append(b, byte(TakenPayload)), m.code) }

// Parse decodes a body.
func (m *Taken) Parse(body []byte) error { return parseWish(body, "taken", m.code) }
