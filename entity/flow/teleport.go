package flow

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// MaxTeleportReason bounds the reason text of a Teleported.
const MaxTeleportReason = 512

// Teleport is the body of TeleportPayload: where a base wants its cell part to go.
type Teleport struct {
	// Request is the base's number of it, above 0, which Teleported repeats.
	Request uint64
	To      entity.Destination
	User    int64 // for the callbacks of the cell part
}

// Append encodes m after its payload byte.
func (m *Teleport) Append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(TeleportPayload)), m.Request)
	b = AppendDestination(b, &m.To)
	return binary.AppendVarint(b, m.User)
}

// Parse decodes a body.
func (m *Teleport) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Request = r.Uvarint()
	m.To = ReadDestination(&r)
	m.User = r.Varint()
	return r.Close()
}

// Teleported is the body of TeleportedPayload.
type Teleported struct {
	Request uint64
	// Code says why it failed, 0 if it did not; Reason is for people.
	Code   placement.Code
	Reason string
}

// Append encodes m after its payload byte.
func (m *Teleported) Append(b []byte) []byte {
	b = binary.AppendUvarint(append(b, byte(TeleportedPayload)), m.Request)
	b = append(b, byte(m.Code))
	return codec.AppendString(b, m.Reason)
}

// Parse decodes a body.
func (m *Teleported) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Request = r.Uvarint()
	if m.Code = placement.Code(r.U8()); m.Code > placement.LastCode {
		r.Fail(codec.ErrValue)
	}
	m.Reason = r.String(MaxTeleportReason)
	return r.Close()
}

// AppendDestination encodes where a teleport leads.
func AppendDestination(b []byte, to *entity.Destination) []byte {
	b = binary.AppendUvarint(b, uint64(to.Space))
	b = fields.AppendVector3(b, to.Position)
	b = fields.AppendVector3(b, to.Direction)
	return codec.AppendBool(fields.AppendID(b, to.Near), to.Transition)
}

// ReadDestination reads what AppendDestination wrote.
func ReadDestination(r *codec.Reader) entity.Destination {
	return entity.Destination{
		Space: entity.SpaceID(fields.ReadUint32(r)), Position: fields.ReadVector3(r), Direction: fields.ReadVector3(r),
		Near: fields.ReadID(r), Transition: r.Bool(),
	}
}
