package wire

import "github.com/cellscape/cellscape/internal/codec"

// MaxMembers bounds the apps that one Members names and that a Roster remembers: as many as one
// Rejoin may name.
const MaxMembers = MaxPeerApps

// Members names apps that belong to the cluster. The CellAppMgr sends all CellApps and BaseApps to
// an app that joins or comes back, and the new app to the others. A restarted manager names those
// that have come back. An app that it does not name is not gone; AppDead tells who is.
type Members struct {
	Apps []AppRef
	// Allocators are the apps' allocators of entity ids, in the same order; 0 if unknown.
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

func (m *Members) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Members) Parse(body []byte) error { return parse(body, m, m.code) }
