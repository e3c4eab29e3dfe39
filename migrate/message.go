package migrate

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// ErrMalformed is in the chain of every parse error of this package.
var ErrMalformed = errors.New("migrate: malformed message")

const (
	// MaxParts bounds the travelling state of one real: properties, history, flows with their
	// tails, timers, controllers, witness. It also bounds the properties when they are unpacked.
	MaxParts = 896 << 10
	// MaxReason bounds the reason text of a Lost.
	MaxReason = 512
)

// Geometry is the version of the partition by which a handoff was decided. It is kept as plain
// numbers, since this package knows no geometry.
type Geometry struct{ Term, N uint32 }

// Onload hands a real to another CellApp. The receiver always accepts, unless it
// knows a newer order of the same entity, and sends it nowhere else before it holds the geometry
// that the handoff was decided by.
type Onload struct {
	ID    entity.ID
	Type  uint16
	Space entity.SpaceID
	// Order is the order of the real at its destination.
	Order entity.Order
	// Base is the app of the base part; zero for none.
	Base    mercury.Address
	Decided Geometry
	Parts   []byte // see Parts; aliases the input after Parse
}

// Append encodes m.
func (m *Onload) Append(b []byte) []byte {
	b = fields.AppendID(b, m.ID)
	b = binary.LittleEndian.AppendUint16(b, m.Type)
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = fields.AppendOrder(b, m.Order)
	b = mercury.AppendAddress(b, m.Base)
	b = binary.AppendUvarint(b, uint64(m.Decided.Term))
	b = binary.AppendUvarint(b, uint64(m.Decided.N))
	return append(b, m.Parts...)
}

// Parse decodes a body.
func (m *Onload) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Type = r.U16()
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Order = fields.ReadOrder(&r)
	m.Base = mercury.ReadAddress(&r)
	m.Decided = Geometry{fields.ReadUint32(&r), fields.ReadUint32(&r)}
	m.Parts = r.Rest()
	if len(m.Parts) > MaxParts {
		r.Fail(errors.New("parts too long"))
	}
	return done(&r, "onload")
}

// OnloadAck says that the real of that order has been taken over: the frozen copy can go.
type OnloadAck struct {
	ID    entity.ID
	Order entity.Order
}

// Append encodes m.
func (m *OnloadAck) Append(b []byte) []byte {
	return fields.AppendOrder(fields.AppendID(b, m.ID), m.Order)
}

// Parse decodes a body.
func (m *OnloadAck) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	return done(&r, "onload ack")
}

// Create makes a real from what its base holds: a new one, or one restored from its backup under a
// new incarnation.
type Create struct {
	ID    entity.ID
	Type  uint16
	Space entity.SpaceID
	Order entity.Order
	Base  mercury.Address
	// Session is the proxy's client session; zero when no client is attached.
	Session flow.Session
	// Handled is the number of the last message of the base's flow that the state in Parts already
	// contains.
	Handled uint64
	// Heard is the number of the last message that the base handled from the real whose state Parts
	// are; 0 if the base no longer knows.
	Heard uint64
	// Restored says that Parts are a backup, not a first state.
	Restored bool
	Parts    []byte // aliases the input after Parse
}

// Append encodes m.
func (m *Create) Append(b []byte) []byte {
	b = fields.AppendID(b, m.ID)
	b = binary.LittleEndian.AppendUint16(b, m.Type)
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = fields.AppendOrder(b, m.Order)
	b = mercury.AppendAddress(b, m.Base)
	b = m.Session.AppendBody(b)
	b = binary.AppendUvarint(b, m.Handled)
	b = binary.AppendUvarint(b, m.Heard)
	b = codec.AppendBool(b, m.Restored)
	return append(b, m.Parts...)
}

// Parse decodes a body.
func (m *Create) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Type = r.U16()
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Order = fields.ReadOrder(&r)
	m.Base = mercury.ReadAddress(&r)
	m.Session.Read(&r)
	m.Handled = r.Uvarint()
	m.Heard = r.Uvarint()
	m.Restored = r.Bool()
	m.Parts = r.Rest()
	if len(m.Parts) > MaxParts {
		r.Fail(errors.New("parts too long"))
	}
	return done(&r, "create")
}

// Current tells a base where its real is now. It is sent outside the flow, since it is what makes
// the flow find its way.
type Current struct {
	ID    entity.ID
	Order entity.Order
	// Handled is the last message of the base's flow that the real has handled.
	Handled uint64
}

// Append encodes m.
func (m *Current) Append(b []byte) []byte {
	b = fields.AppendOrder(fields.AppendID(b, m.ID), m.Order)
	return binary.AppendUvarint(b, m.Handled)
}

// Parse decodes a body.
func (m *Current) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	m.Handled = r.Uvarint()
	return done(&r, "current")
}

// Refuse tells a CellApp that the base knows a newer order, or no such entity: every real of the
// entity up to Order is dropped.
type Refuse struct {
	ID    entity.ID
	Order entity.Order
}

// Append encodes m.
func (m *Refuse) Append(b []byte) []byte {
	return fields.AppendOrder(fields.AppendID(b, m.ID), m.Order)
}

// Parse decodes a body.
func (m *Refuse) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	return done(&r, "refuse")
}

// Offer gives a base the frozen copy of a handoff whose destination died, as a backup fresher than
// its own. Only the base decides.
type Offer struct {
	ID entity.ID
	// Order is what the real would have had at the destination.
	Order entity.Order
	// Saves and Handled are as in entity.Backup.
	Saves, Handled uint64
	Space          entity.SpaceID
	Position       property.Vector3
	Parts          []byte // aliases the input after Parse
}

// Append encodes m.
func (m *Offer) Append(b []byte) []byte {
	b = fields.AppendOrder(fields.AppendID(b, m.ID), m.Order)
	b = binary.AppendUvarint(b, m.Saves)
	b = binary.AppendUvarint(b, m.Handled)
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = fields.AppendVector3(b, m.Position)
	return append(b, m.Parts...)
}

// Parse decodes a body.
func (m *Offer) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	m.Saves, m.Handled = r.Uvarint(), r.Uvarint()
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Position = fields.ReadVector3(&r)
	m.Parts = r.Rest()
	if len(m.Parts) > MaxParts {
		r.Fail(errors.New("parts too long"))
	}
	return done(&r, "offer")
}

// Lost tells a base that its real of that order is gone without having been destroyed: its script
// panicked, or its state could not be read.
type Lost struct {
	ID     entity.ID
	Order  entity.Order
	Reason string
}

// Append encodes m.
func (m *Lost) Append(b []byte) []byte {
	b = fields.AppendOrder(fields.AppendID(b, m.ID), m.Order)
	return codec.AppendString(b, m.Reason)
}

// Parse decodes a body.
func (m *Lost) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Order = fields.ReadOrder(&r)
	m.Reason = r.String(MaxReason)
	return done(&r, "lost")
}

func done(r *codec.Reader, name string) error {
	if err := r.Close(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, name, err)
	}
	return nil
}
