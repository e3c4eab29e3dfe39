package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
)

// MaxMembers bounds the apps that one Members names, and those that a Roster remembers:
// as many as one Rejoin may name.
const MaxMembers = MaxPeerApps

// Members is the CellAppMgr's word of who belongs to the cluster: all CellApps and
// BaseApps to one that joins, or comes back; one that joins to the others. A manager
// that starts anew names those that have come back: what it does not name is not gone.
// Who is gone is told by AppDead.
type Members struct {
	Apps []AppRef
	// Allocators are those that the apps issue entity ids by, in their order; 0 for one that
	// is not known.
	Allocators []uint32
}

// Add names one more app.
func (m *Members) Add(ref AppRef, allocator uint32) {
	m.Apps, m.Allocators = append(m.Apps, ref), append(m.Allocators, allocator)
}

// Append encodes m.
func (m *Members) Append(b []byte) []byte {
	b = appendAppRefs(b, m.Apps)
	for i := range m.Apps {
		n := uint32(0)
		if i < len(m.Allocators) {
			n = m.Allocators[i]
		}
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// Parse decodes a body.
func (m *Members) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Apps = readAppRefs(&r, MaxMembers)
	m.Allocators = make([]uint32, len(m.Apps))
	for i := range m.Allocators {
		m.Allocators[i] = r.U32()
	}
	return done(&r, "members")
}
