package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// The life of a space that game code creates, between an app and the CellAppMgr:
//
//	app --CreateSpace--> manager   makes the space's record, and its first cell as
//	    <--SpaceCreated--          soon as there is a CellApp for it
//	app --DestroySpace-> manager   destroys what is in it, and takes its cells away
//	    <-SpaceDestroyed-
//
// Both are asked again every second until they are answered, and mean the same a
// second time.

// CreateSpace asks the manager for a new space.
type CreateSpace struct {
	// Request is the asker's number, echoed in SpaceCreated. The same one again, from
	// the same start of an app, is the same space.
	Request uint64
	Info    entity.SpaceInfo
}

// Append encodes m.
func (m *CreateSpace) Append(b []byte) []byte {
	return fields.AppendSpaceInfo(binary.AppendUvarint(b, m.Request), &m.Info)
}

// Parse decodes a body.
func (m *CreateSpace) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Request = r.Uvarint()
	m.Info = fields.ReadSpaceInfo(&r)
	return done(&r, "create space")
}

// SpaceCreated answers a CreateSpace.
type SpaceCreated struct {
	Request uint64
	// Space is the new space; 0 if there is none, for the reason given.
	Space  entity.SpaceID
	Reason string
}

// Append encodes m.
func (m *SpaceCreated) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, m.Request)
	b = binary.AppendUvarint(b, uint64(m.Space))
	return codec.AppendString(b, m.Reason)
}

// Parse decodes a body.
func (m *SpaceCreated) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Request = r.Uvarint()
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Reason = r.String(MaxReason)
	return done(&r, "space created")
}

// DestroySpace asks the manager to end a space with everything in it.
type DestroySpace struct{ Space entity.SpaceID }

// Append encodes m.
func (m *DestroySpace) Append(b []byte) []byte { return binary.AppendUvarint(b, uint64(m.Space)) }

// Parse decodes a body.
func (m *DestroySpace) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	return done(&r, "destroy space")
}

// SpaceDestroyed answers a DestroySpace: the space ends, or is not there, unless a
// reason is given.
type SpaceDestroyed struct {
	Space entity.SpaceID
	// Reason says why the space stays, or is "".
	Reason string
}

// Append encodes m.
func (m *SpaceDestroyed) Append(b []byte) []byte {
	return codec.AppendString(binary.AppendUvarint(b, uint64(m.Space)), m.Reason)
}

// Parse decodes a body.
func (m *SpaceDestroyed) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Reason = r.String(MaxReason)
	return done(&r, "space destroyed")
}
