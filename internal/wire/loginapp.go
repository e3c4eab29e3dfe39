package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// ProxyMade answers MakeProxy and Relogin at the BaseAppMgr, and CreateProxy at the LoginApp.
type ProxyMade struct {
	Request uint64
	// Code is 0 if the proxy waits for its client; otherwise it is a protocol.Code that says why
	// there is none.
	Code uint8
	// Refusals tells a LoginApp how often it was refused for want of room; see CreateProxy.
	Refusals uint32
	// ID is the proxy; with the code AlreadyLoggedIn the entity that has the row of what the account
	// plays, or 0.
	ID entity.ID
	// Doors are where clients reach the proxy, by network.
	Doors []protocol.Door
	// Fallback is where the proxy goes on if that app is gone.
	Fallback []protocol.Door
	// Token is what the client must show there.
	Token [16]byte
}

// Call is the number of the question.
func (m *ProxyMade) Call() *uint64 { return &m.Request }

// Append encodes m.
func (m *ProxyMade) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, m.Request)
	b = append(b, m.Code)
	b = binary.AppendUvarint(b, uint64(m.Refusals))
	b = fields.AppendID(b, m.ID)
	b = protocol.AppendDoors(b, m.Doors)
	b = protocol.AppendDoors(b, m.Fallback)
	return append(b, m.Token[:]...)
}

// Parse decodes a body.
func (m *ProxyMade) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Request = r.Uvarint()
	m.Code = r.U8()
	m.Refusals = fields.ReadUint32(&r)
	m.ID = fields.ReadID(&r)
	m.Doors = protocol.ReadDoors(&r)
	m.Fallback = protocol.ReadDoors(&r)
	for i := range m.Token {
		m.Token[i] = r.U8()
	}
	return done(&r, "proxy made")
}

// Logins tells a LoginApp whether the loads let players come in now. They do until the first Logins;
// after a Welcome the CellAppMgr sends it again. Whether there is room by the number of proxies, the
// BaseAppMgr says to each CreateProxy.
type Logins struct {
	Refused bool
	// Reason is for the LoginApp's log.
	Reason string
}

func (m *Logins) code(c *codec.Coder) {
	c.Bool(&m.Refused)
	c.String(&m.Reason, MaxReason)
}

func (m *Logins) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Logins) Parse(body []byte) error { return parse(body, m, m.code) }
