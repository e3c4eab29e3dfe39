package migrate

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// Probe asks a CellApp for the real in which a base believes and of which it has not heard for
// long. Whoever has the real answers with a Current; whoever has nothing of it, with a Lost of that
// order. A CellApp that has handed the real on passes the question on.
type Probe struct {
	ID entity.ID
	// Order is the newest order that the base knows.
	Order entity.Order
	// Base is the app of the base, which wants the answer.
	Base mercury.Address
	// Hops counts how often the question was passed on. A CellApp that was asked by another CellApp
	// never says that the real is lost: what it does not have may be on its way to it.
	Hops uint8
}

// MaxProbeHops bounds how far a Probe is passed on.
const MaxProbeHops = 4

func (m *Probe) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
	fields.Address(c, &m.Base)
	c.U8(&m.Hops)
}

func (m *Probe) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Probe) Parse(body []byte) error { return parse(body, m, m.code) }
