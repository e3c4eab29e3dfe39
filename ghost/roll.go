package ghost

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// MaxRoll bounds the reals in one Roll: at most 6 KB, which leave with the other messages of a
// tick.
const MaxRoll = 256

// Roll tells a haunt of which reals it should have ghosts, and how new they are. When a real does
// nothing, no Update shows that a State was lost; through the Roll it is missed and asked for.
type Roll struct {
	// Space is the space of all of them.
	Space entity.SpaceID
	Calls []Call
}

// Call is one real in a Roll. Head is where its life is now; a ghost that has heard the Update
// named After, or anything later of that hop, has everything.
type Call struct {
	Head
	After uint32
}

// Append encodes m.
func (m *Roll) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = binary.AppendUvarint(b, uint64(len(m.Calls)))
	for i := range m.Calls {
		b = m.Calls[i].append(b)
		b = binary.AppendUvarint(b, uint64(m.Calls[i].After))
	}
	return b
}

// Parse decodes a body, reusing the slice of m.
func (m *Roll) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	n := r.Count(MaxRoll, 5)
	m.Calls = m.Calls[:0]
	for range n {
		var c Call
		c.Head.read(&r)
		c.After = fields.ReadUint32(&r)
		if r.Err() != nil {
			break
		}
		m.Calls = append(m.Calls, c)
	}
	return done(&r, "roll")
}

// Lacks reports whether the ghost has missed something that a Call names. A ghost that is newer
// than the Call lacks nothing.
func (g *Ghost) Lacks(c Call) bool {
	if o := g.Entity.Order.Compare(c.Order); o != 0 {
		return o < 0
	}
	return g.sequence == 0 || g.sequence < c.After
}
