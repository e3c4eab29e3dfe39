package wire

import (
	"github.com/cellscape/cellscape/internal/codec"
)

// MaxMembers bounds the apps that one Members names, and those that a Roster remembers:
// as many as one Rejoin may name.
const MaxMembers = MaxPeerApps

// Members is the CellAppMgr's word of who belongs to the cluster: all CellApps and
// BaseApps to one that joins, or comes back; one that joins to the others. A manager
// that starts anew names those that have come back: what it does not name is not gone.
// Who is gone is told by AppDead.
type Members struct{ Apps []AppRef }

// Append encodes m.
func (m *Members) Append(b []byte) []byte { return appendAppRefs(b, m.Apps) }

// Parse decodes a body.
func (m *Members) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Apps = readAppRefs(&r, MaxMembers)
	return done(&r, "members")
}
