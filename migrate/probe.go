package migrate

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// Probe asks a CellApp for the real that a base believes in and has not heard of for
// long. Who has it answers with a Current; who has nothing of it, with a Lost of that
// order. One that has handed it on passes the question on.
type Probe struct {
	ID entity.ID
	// Order is the newest that the base knows.
	Order entity.Order
	// Base is the app of the base, which wants the answer.
	Base mercury.Address
	// Hops counts how often it was passed on. Who was asked by another CellApp never says
	// that the real is lost: what he has not got may be on its way to him.
	Hops uint8
}

// MaxProbeHops bounds how far a Probe is passed on.
const MaxProbeHops = 4

// Append encodes m.
func (m *Probe) Append(b []byte) []byte {
	b = fields.AppendOrder(fields.AppendID(b, m.ID), m.Order)
	return append(mercury.AppendAddress(b, m.Base), m.Hops)
}

// Parse decodes a body.
func (m *Probe) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	m.Base = mercury.ReadAddress(&r)
	m.Hops = r.U8()
	return done(&r, "probe")
}
