package wire

import "github.com/cellscape/cellscape/internal/codec"

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

func (m *Members) code(c *codec.Coder) {
	codeAppRefs(c, &m.Apps, MaxMembers)
	allocators := make([]uint32, len(m.Apps))
	copy(allocators, m.Allocators)
	for i := range allocators {
		c.U32(&allocators[i])
	}
	m.Allocators = allocators
}

// Append and Parse are what code describes.
func (m *Members) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Members) Parse(body []byte) error { return parse(body, m, m.code) }
