package protocol

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// Messages from a client to its proxy.
const (
	AttachID ID = 16 + iota
	CellCallID
	BaseCallID
	MoveID
	AuditRequestID
	LogoutID
	SightID
	MoveOtherID
	ResumeID
	HeardID
	PingID
	EnableEntitiesID
)

// MaxArguments bounds the encoded arguments of one call from a client.
const MaxArguments = 8 << 10

// Attach is the first message to a BaseApp: it claims the proxy that the login made.
type Attach struct {
	Token  Token
	Digest Digest
	// Ready says that the client wants to be shown its entity and the world at once. Without it, it is when
	// it says EnableEntities.
	Ready bool
}

func (m *Attach) code(c *codec.Coder) {
	c.Array(m.Token[:])
	c.Array(m.Digest[:])
	c.Bool(&m.Ready)
}

// Append frames and encodes m, Parse decodes a body.
func (m *Attach) Append(b []byte) []byte  { return frame(b, AttachID, m.code) }
func (m *Attach) Parse(body []byte) error { return parse(body, m, m.code) }

// CellCall calls an exposed cell method of the player's own entity, or of one that it sees.
type CellCall struct {
	Target entity.ID
	Method uint16 // property.Method.ExposedIndex among the target's cell methods
	Args   []byte // aliases the input after Parse
}

// Append frames and encodes m.
func (m *CellCall) Append(b []byte) []byte {
	b, mark := Begin(b, CellCallID)
	b = fields.AppendID(b, m.Target)
	b = binary.LittleEndian.AppendUint16(b, m.Method)
	b = codec.AppendBytes(b, m.Args)
	return End(b, mark)
}

// Parse decodes a body.
func (m *CellCall) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Target = fields.ReadID(&r)
	m.Method = r.U16()
	m.Args = r.Bytes(MaxArguments)
	return done(&r, "cell call")
}

// BaseCall calls an exposed base method of the player's own entity.
type BaseCall struct {
	Method uint16 // property.Method.ExposedIndex among the base methods
	Args   []byte // aliases the input after Parse
}

// Append frames and encodes m.
func (m *BaseCall) Append(b []byte) []byte {
	b, mark := Begin(b, BaseCallID)
	b = binary.LittleEndian.AppendUint16(b, m.Method)
	b = codec.AppendBytes(b, m.Args)
	return End(b, mark)
}

// Parse decodes a body.
func (m *BaseCall) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Method = r.U16()
	m.Args = r.Bytes(MaxArguments)
	return done(&r, "base call")
}

// Move is where the player's entity is, as told by the client that controls it. It goes unreliably
// while the entity moves; the position at which the entity comes to rest goes reliably, once.
type Move struct {
	// Sequence counts the client's moves; an older one is ignored.
	Sequence uint32
	// Incarnation is that of the CellPlayer that the client stands on. A move made before the
	// entity was put back to its backup is void: the client has been put back since.
	Incarnation uint32
	// Forced is the number of the last forced place that the client has applied, of a CellPlayer or
	// a Forced. A move with another number was made before the client knew, and is void, too.
	Forced uint32
	// Seen is what has come of the places of others.
	Seen      Seen
	Position  property.Vector3
	Direction property.Vector3
}

// Append frames and encodes m.
func (m *Move) Append(b []byte) []byte {
	b, mark := Begin(b, MoveID)
	b = binary.LittleEndian.AppendUint32(b, m.Sequence)
	b = binary.AppendUvarint(b, uint64(m.Incarnation))
	b = binary.AppendUvarint(b, uint64(m.Forced))
	b = m.Seen.Append(b)
	b = fields.AppendVector3(b, m.Position)
	b = fields.AppendVector3(b, m.Direction)
	return End(b, mark)
}

// Parse decodes a body; coordinates that are not finite are an error.
func (m *Move) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Sequence = r.U32()
	m.Incarnation = fields.ReadUint32(&r)
	m.Forced = fields.ReadUint32(&r)
	m.Seen.Read(&r)
	m.Position = fields.ReadVector3(&r)
	m.Direction = fields.ReadVector3(&r)
	return done(&r, "move")
}

// MoveOther is where an entity is that is not the player's own, as told by the client that controls it
// (Controlled). It goes unreliably and reliably like Move.
type MoveOther struct {
	ID entity.ID
	// Sequence counts the client's moves, of all entities together.
	Sequence uint32
	// Incarnation and Forced repeat the last Controlled.
	Incarnation uint32
	Forced      uint32
	Position    property.Vector3
	Direction   property.Vector3
}

func (m *MoveOther) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	c.U32(&m.Sequence)
	codec.Uint32(c, &m.Incarnation)
	codec.Uint32(c, &m.Forced)
	fields.Vector3(c, &m.Position)
	fields.Vector3(c, &m.Direction)
}

// Append frames and encodes m, Parse decodes a body; coordinates that are not finite are an error.
func (m *MoveOther) Append(b []byte) []byte  { return frame(b, MoveOtherID, m.code) }
func (m *MoveOther) Parse(body []byte) error { return parse(body, m, m.code) }

// Sight is what a client says that stands still while packets come: what it has seen.
type Sight struct {
	// Incarnation is as in Move.
	Incarnation uint32
	Seen        Seen
}

// Append frames and encodes m.
func (m *Sight) Append(b []byte) []byte {
	b, mark := Begin(b, SightID)
	b = binary.AppendUvarint(b, uint64(m.Incarnation))
	return End(m.Seen.Append(b), mark)
}

// Parse decodes a body.
func (m *Sight) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Incarnation = fields.ReadUint32(&r)
	m.Seen.Read(&r)
	return done(&r, "sight")
}

// AppendAuditRequest asks what the client should hold; the answer is an Audit.
func AppendAuditRequest(b []byte) []byte { return bare(b, AuditRequestID) }

// AppendPing asks the proxy for a sign of life; AppendPong is its answer.
func AppendPing(b []byte) []byte { return bare(b, PingID) }

// AppendLogout says good-bye; the server closes the channel.
func AppendLogout(b []byte) []byte { return bare(b, LogoutID) }

// AppendEnableEntities says that the client is ready to be shown its entity and the world, once in a session
// whose Attach did not say so.
func AppendEnableEntities(b []byte) []byte { return bare(b, EnableEntitiesID) }
