package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
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
	return codec.AppendString(binary.AppendUvarint(b, m.Request), m.Account)
}

// Parse decodes a body.
func (m *CreateProxy) Parse(body []byte) error {
	r := codec.NewReader(body)
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
	return fields.AppendID(codec.AppendString(b, m.Account), m.ID)
}

// Parse decodes a body.
func (m *ProxyGone) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Account = r.String(MaxAccount)
	m.ID = fields.ReadID(&r)
	return done(&r, "proxy gone")
}

// MaxProxies bounds the proxies in one Proxies message: with names of MaxAccount
// it is 68 KB, far below what a channel takes as one message.
const MaxProxies = 256

// Proxies tells the BaseAppMgr which accounts have a proxy on the BaseApp that
// sends it. A BaseApp says so each time that it joins, in as many messages as it
// takes: the BaseAppMgr may have started again, or have given up the accounts of a
// BaseApp whose channel broke.
type Proxies struct{ Entries []Proxy }

// Proxy is one entry of Proxies.
type Proxy struct {
	Account string
	ID      entity.ID
}

// Append encodes m.
func (m *Proxies) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(m.Entries)))
	for i := range m.Entries {
		b = fields.AppendID(codec.AppendString(b, m.Entries[i].Account), m.Entries[i].ID)
	}
	return b
}

// Parse decodes a body, reusing the slice of m.
func (m *Proxies) Parse(body []byte) error {
	r := codec.NewReader(body)
	n := r.Count(MaxProxies, 2)
	m.Entries = m.Entries[:0]
	for range n {
		p := Proxy{Account: r.String(MaxAccount), ID: fields.ReadID(&r)}
		if r.Err() != nil {
			break
		}
		m.Entries = append(m.Entries, p)
	}
	return done(&r, "proxies")
}
