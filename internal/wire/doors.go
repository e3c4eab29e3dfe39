package wire

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/internal/codec"
)

// BaseDoors tells another BaseApp where clients reach this one: its clients go there if it dies.
type BaseDoors struct{ Doors []protocol.Door }

// Append encodes m.
func (m *BaseDoors) Append(b []byte) []byte { return protocol.AppendDoors(b, m.Doors) }

// Parse decodes a body.
func (m *BaseDoors) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Doors = protocol.ReadDoors(&r)
	return done(&r, "doors")
}
