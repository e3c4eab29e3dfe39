package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/mercury"
)

// CreateProxy asks the BaseAppMgr for a proxy for an account that the LoginApp
// has let in, on the least loaded BaseApp.
type CreateProxy struct {
	// Request is the LoginApp's number, echoed in ProxyMade.
	Request uint64
	Account string
}

// Append encodes m.
func (m *CreateProxy) Append(b []byte) []byte {
	return mercury.AppendString(binary.AppendUvarint(b, m.Request), m.Account)
}

// Parse decodes a body.
func (m *CreateProxy) Parse(body []byte) error {
	r := mercury.NewReader(body)
	m.Request = r.Uvarint()
	m.Account = r.String(MaxAccount)
	return done(&r, "create proxy")
}

// ProxyGone tells the BaseAppMgr that an account's proxy no longer exists, so
// that it may log in again.
type ProxyGone struct {
	Account string
	ID      entity.ID
}

// Append encodes m.
func (m *ProxyGone) Append(b []byte) []byte {
	return entity.AppendID(mercury.AppendString(b, m.Account), m.ID)
}

// Parse decodes a body.
func (m *ProxyGone) Parse(body []byte) error {
	r := mercury.NewReader(body)
	m.Account = r.String(MaxAccount)
	m.ID = entity.ReadID(&r)
	return done(&r, "proxy gone")
}
