package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// Payload says what a flow message asks; it is its first byte.
type Payload uint8

// From a base to its cell part.
const (
	// CallCellPayload: the server calls a cell method (MethodCall).
	CallCellPayload Payload = 1 + iota
	// ClientCallPayload: the entity's own client calls an exposed cell method (ClientCall).
	ClientCallPayload
	// SetClientPayload: a client session begins, or has ended (Session 0).
	SetClientPayload
	// ClientRestPayload: where the client came to rest (ClientRest).
	ClientRestPayload
	// AuditPayload: the client asks what it should hold (Session).
	AuditPayload
	// DestroyPayload: the cell part is to be destroyed.
	DestroyPayload
	// BackupNowPayload: the base keeps too much; a backup is wanted at once.
	BackupNowPayload
	// SlowClientPayload: the client of the session has enough waiting, and is to be sent nothing
	// for a while (Session).
	SlowClientPayload
	// TeleportPayload: the base wants the cell part to be teleported (Teleport).
	TeleportPayload
	// SteerPayload: where the client has put an entity other than its own to rest (Steer).
	SteerPayload
	// EndPayload: the base ends, and the cell part is to be destroyed with it.
	EndPayload
	// ExposedPayload: what the base has that is exposed for replay: true and property.BaseReplayStream,
	// or false, the index of a property, and its change.
	ExposedPayload
)

// SlowClientPause is for how long a slow client is sent nothing: longer than its base takes to say
// so again.
const SlowClientPause = 1500 * time.Millisecond

// From a real to its base.
const (
	// CallBasePayload: a base method (MethodCall).
	CallBasePayload Payload = 32 + iota
	// BundlePayload: a reliable bundle for the client of a session (Bundle).
	BundlePayload
	// BackupPayload: a backup of the cell part (Backup).
	BackupPayload
	// GonePayload: the cell part was destroyed; nothing follows it (Gone).
	GonePayload
	// TeleportedPayload: how a teleport that the base wanted has ended (Teleported).
	TeleportedPayload
)

// RemoteCallPayload goes from a real to another entity's real: the client of the first calls an
// exposed method there (MethodCall).
const RemoteCallPayload Payload = 64

// RemoteSteerPayload goes from a real to another entity's real: the client of the first, which controls
// the second, has put it to rest (Steer).
const RemoteSteerPayload Payload = 72

// SplitPayload separates a flow message's payload into what it asks and the body.
func SplitPayload(p []byte) (Payload, []byte, error) {
	if len(p) == 0 {
		return 0, nil, errors.New("flow: empty flow message")
	}
	return Payload(p[0]), p[1:], nil
}

// MethodCall is the body of CallCellPayload, CallBasePayload and RemoteCallPayload, whose caller is
// the flow's sender.
type MethodCall struct {
	// Cause is the number of the message from the base that made a cell part call its base or
	// another entity, 0 for none. It is the same when a restored caller handles that message again,
	// and rises from call to call, so the target can recognise a repeat. A call to the cell part
	// leaves it 0: the flow message that carries it has its number. In a RemoteCallPayload it is the
	// place of the call among all that the client said, as a Mark of the session: a restored base may
	// pass the same call on in another message.
	Cause  uint64
	Method uint16 // of a RemoteCallPayload property.Method.ExposedIndex, as the client said it
	Args   []byte // aliases the input after Parse
}

// Append encodes m after its payload byte.
func (m *MethodCall) Append(b []byte, p Payload) []byte {
	b = binary.AppendUvarint(append(b, byte(p)), m.Cause)
	b = binary.LittleEndian.AppendUint16(b, m.Method)
	return append(b, m.Args...)
}

// Parse decodes a body.
func (m *MethodCall) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Cause = r.Uvarint()
	m.Method = r.U16()
	m.Args = r.Rest()
	return payloadDone(&r, "method call")
}

// ClientCall is the body of ClientCallPayload: what a client asked its proxy to call. The cell
// decides whether it may.
type ClientCall struct {
	Target entity.ID
	// Session and Number say which of the client's messages it is: a client says again what a restored
	// base has not handled, and its cell part may have.
	Session uint32
	Number  uint64
	Method  uint16 // property.Method.ExposedIndex, as the client said it
	Args    []byte // aliases the input after Parse
}

// Append encodes m with its payload byte.
func (m *ClientCall) Append(b []byte) []byte {
	b = fields.AppendID(append(b, byte(ClientCallPayload)), m.Target)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(m.Session)), m.Number)
	b = binary.LittleEndian.AppendUint16(b, m.Method)
	return append(b, m.Args...)
}

// Parse decodes a body.
func (m *ClientCall) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Target = fields.ReadID(&r)
	m.Session, m.Number = fields.ReadUint32(&r), r.Uvarint()
	m.Method = r.U16()
	m.Args = r.Rest()
	return payloadDone(&r, "client call")
}

// Session is the body of SetClientPayload and AuditPayload. A proxy numbers its client sessions
// from 1; 0 means no client.
type Session struct {
	Number uint32
	// Room is how long an unreliable message may be on the channel to the client
	// (mercury.Transport.MaxUnreliable); it is 0 without a client, and in an AuditPayload.
	Room uint32
	// Rate is how many bytes a second the path to the client carries; 0 means that it is not known to
	// be full, and it is 0 in an AuditPayload, too.
	Rate uint32
	// Away says that the client's channel is lost, and that it may come back over another. Until then
	// it is sent only what cannot be summed up later, such as calls.
	Away bool
}

// Append encodes m after its payload byte.
func (m *Session) Append(b []byte, p Payload) []byte {
	return m.AppendBody(append(b, byte(p)))
}

// AppendBody encodes m alone.
func (m *Session) AppendBody(b []byte) []byte {
	b = binary.AppendUvarint(binary.LittleEndian.AppendUint32(b, m.Number), uint64(m.Room))
	return codec.AppendBool(binary.AppendUvarint(b, uint64(m.Rate)), m.Away)
}

// Parse decodes a body.
func (m *Session) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Read(&r)
	return payloadClose(&r, "session")
}

// Read reads what AppendBody wrote.
func (m *Session) Read(r *codec.Reader) {
	m.Number, m.Room, m.Rate, m.Away = r.U32(), fields.ReadUint32(r), fields.ReadUint32(r), r.Bool()
}

// maxSeen bounds what a client says of what it has seen: two numbers and a word.
const maxSeen = 32

// ClientRest is the body of ClientRestPayload: where a client says its entity is.
type ClientRest struct {
	Session     uint32
	Sequence    uint32
	Incarnation uint32 // as the client said it
	Forced      uint32 // the last forced place that it has applied, as it said
	Seen        []byte // protocol.Seen, for the witness; aliases the input after Parse
	Still       bool   // it has not moved: the place says nothing
	Position    property.Vector3
	Direction   property.Vector3
}

// Append encodes m with its payload byte.
func (m *ClientRest) Append(b []byte) []byte { return m.AppendBody(append(b, byte(ClientRestPayload))) }

// AppendBody encodes m alone.
func (m *ClientRest) AppendBody(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, m.Session)
	b = binary.LittleEndian.AppendUint32(b, m.Sequence)
	b = binary.AppendUvarint(b, uint64(m.Incarnation))
	b = binary.AppendUvarint(b, uint64(m.Forced))
	b = codec.AppendBool(codec.AppendBytes(b, m.Seen), m.Still)
	b = fields.AppendVector3(b, m.Position)
	return fields.AppendVector3(b, m.Direction)
}

// Parse decodes a body.
func (m *ClientRest) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Read(&r)
	return payloadClose(&r, "client rest")
}

// Read reads what AppendBody wrote.
func (m *ClientRest) Read(r *codec.Reader) {
	m.Session, m.Sequence, m.Incarnation = r.U32(), r.U32(), fields.ReadUint32(r)
	m.Forced = fields.ReadUint32(r)
	m.Seen = r.Bytes(maxSeen)
	m.Still = r.Bool()
	m.Position, m.Direction = fields.ReadVector3(r), fields.ReadVector3(r)
}

// Steer is where a client says that an entity is which is not its own and which it controls. It is
// the body of SteerPayload and RemoteSteerPayload.
type Steer struct {
	Target entity.ID // the entity that is moved
	By     entity.ID // the client's own entity
	// Passed says that By's cell part has found its client in control; before that the message is for
	// that cell part.
	Passed      bool
	Session     uint32 // of By's client
	Sequence    uint32 // as the client said it, like all that follows
	Incarnation uint32 // of Target
	Forced      uint32
	Position    property.Vector3
	Direction   property.Vector3
}

// Append encodes m after its payload byte.
func (m *Steer) Append(b []byte, p Payload) []byte { return m.AppendBody(append(b, byte(p))) }

// AppendBody encodes m alone.
func (m *Steer) AppendBody(b []byte) []byte {
	b = codec.AppendBool(fields.AppendID(fields.AppendID(b, m.Target), m.By), m.Passed)
	b = binary.LittleEndian.AppendUint32(b, m.Session)
	b = binary.LittleEndian.AppendUint32(b, m.Sequence)
	b = binary.AppendUvarint(b, uint64(m.Incarnation))
	b = binary.AppendUvarint(b, uint64(m.Forced))
	return fields.AppendVector3(fields.AppendVector3(b, m.Position), m.Direction)
}

// Parse decodes a body.
func (m *Steer) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Read(&r)
	return payloadClose(&r, "steer")
}

// Read reads what AppendBody wrote.
func (m *Steer) Read(r *codec.Reader) {
	m.Target, m.By, m.Passed = fields.ReadID(r), fields.ReadID(r), r.Bool()
	m.Session, m.Sequence, m.Incarnation = r.U32(), r.U32(), fields.ReadUint32(r)
	m.Forced = fields.ReadUint32(r)
	m.Position, m.Direction = fields.ReadVector3(r), fields.ReadVector3(r)
}

// Bundle is the body of BundlePayload: protocol messages for the client.
type Bundle struct {
	Session uint32
	Bytes   []byte // aliases the input after Parse
}

// Append encodes m with its payload byte.
func (m *Bundle) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, byte(BundlePayload)), m.Session)
	return append(b, m.Bytes...)
}

// Parse decodes a body.
func (m *Bundle) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Session = r.U32()
	m.Bytes = r.Rest()
	return payloadDone(&r, "bundle")
}

// Backup is the body of BackupPayload: everything that a real needs to come back after its CellApp
// has died.
type Backup struct {
	// Order is the order of the real when the backup was taken; Saves counts the backups of one
	// incarnation, so that the fresher of two is known.
	Order entity.Order
	Saves uint64
	// Handled is the last message of the base's flow that the backup contains: the base may forget
	// messages up to it.
	Handled Mark
	// Space and Position say where the real was, so that the base can ask for a CellApp there
	// without reading Parts.
	Space    entity.SpaceID
	Position property.Vector3
	// Commit says that the script waits for the backup: the base is to have itself copied now.
	Commit bool
	Parts  []byte // migrate.Parts; aliases the input after Parse
}

// Append encodes m with its payload byte.
func (m *Backup) Append(b []byte) []byte {
	b = fields.AppendOrder(append(b, byte(BackupPayload)), m.Order)
	b = binary.AppendUvarint(b, m.Saves)
	b = binary.AppendUvarint(b, uint64(m.Handled))
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = fields.AppendVector3(b, m.Position)
	b = codec.AppendBool(b, m.Commit)
	return append(b, m.Parts...)
}

// Parse decodes a body.
func (m *Backup) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Order = fields.ReadOrder(&r)
	m.Saves, m.Handled = r.Uvarint(), Mark(r.Uvarint())
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Position = fields.ReadVector3(&r)
	m.Commit = r.Bool()
	m.Parts = r.Rest()
	return payloadDone(&r, "backup")
}

func payloadDone(r *codec.Reader, name string) error {
	if err := r.Err(); err != nil {
		return fmt.Errorf("flow: %s: %w", name, err)
	}
	return nil
}

func payloadClose(r *codec.Reader, name string) error {
	if err := r.Close(); err != nil {
		return fmt.Errorf("flow: %s: %w", name, err)
	}
	return nil
}
