package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/daytime"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/property"
)

// These are the messages from a proxy to its client. RefusedID also closes a session.
const (
	AttachedID ID = 32 + iota
	BasePlayerID
	BasePropertyID
	ResetID
	CellPlayerID
	OwnPropertyID
	EnterID
	LeaveID
	ChangesID
	CallID
	RestID
	SpaceDataID
	CellGoneID
	AuditID
	KeepID
	ReturnID
	SpaceDataGoneID
	TimeOfDayID
	ForcedID
	LeaveSpaceID
	ArrivedID
	ControlledID
	ResumedID
	SettledID
	FallbackID
	PongID
	ResetEntitiesID
	NewTokenID
	TransitID
	SwitchID
	RideID
	SpaceDataAnewID
)

// Limits of what a proxy sends.
const (
	// MaxValue bounds one encoded property value towards clients; no larger one can be set.
	MaxValue = property.MaxClientProperty
	// MaxProps bounds the properties of a BasePlayer, CellPlayer or Enter when they are unpacked:
	// as if they had to fit a bundle unpacked.
	MaxProps = MaxBundle
	// MaxSpaceDataValue bounds one value of space data (BigWorld's warning level for shared data is
	// 10 KB).
	MaxSpaceDataValue = 16 << 10
)

// AppendReset says that everything seen so far is gone, including the player's own cell part.
func AppendReset(b []byte) []byte { return bare(b, ResetID) }

// AppendLeaveSpace says that the player's entity was teleported: everything seen so far is gone, and a
// CellPlayer follows, in another space or elsewhere in the same.
func AppendLeaveSpace(b []byte) []byte { return bare(b, LeaveSpaceID) }

// Transit says that the player's entity goes through a transition area: a CellPlayer follows, in another
// space or elsewhere in the same, and the view goes along. The client adds Offset to the place of its own
// entity and of each of Companions, and keeps everybody on the screen. Whoever is not seen any more leaves as
// ever. The data of the space is told anew, and so is whom else the client moves.
type Transit struct {
	Offset property.Vector3 // metres
	// Companions are in the area of interest, ascending.
	Companions []entity.ID
}

// MaxCompanions bounds Transit.Companions: more than go together (migrate.MaxParty).
const MaxCompanions = 1 << 8

func (m *Transit) code(c *codec.Coder) {
	fields.Vector3(c, &m.Offset)
	codec.List(c, &m.Companions, MaxCompanions, 1, func(c *codec.Coder, id *entity.ID) { fields.ID(c, id) })
}

// Append frames and encodes m, Parse decodes a body.
func (m *Transit) Append(b []byte) []byte  { return frame(b, TransitID, m.code) }
func (m *Transit) Parse(body []byte) error { return parse(body, m, m.code) }

// AppendArrived says that the client has been told of everybody near the place that its player's
// entity was teleported to.
func AppendArrived(b []byte) []byte { return bare(b, ArrivedID) }

// AppendCellGone says that the player's cell part was destroyed.
func AppendCellGone(b []byte) []byte { return bare(b, CellGoneID) }

// BasePlayer creates the player's entity at its client, with the base properties that the client
// may see (property.OwnClientBaseStream, packed).
type BasePlayer struct {
	ID    entity.ID
	Type  uint16 // property.Definition.ClientID
	Props []byte // aliases the input after Parse
}

func (m *BasePlayer) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	c.Rest(&m.Props, aFrame)
}

// Append frames and encodes m, Parse decodes a body.
func (m *BasePlayer) Append(b []byte) []byte  { return frame(b, BasePlayerID, m.code) }
func (m *BasePlayer) Parse(body []byte) error { return parse(body, m, m.code) }

// CellPlayer gives the player's entity its cell part: where it is, and the cell properties that its
// own client may see (property.OwnClientCellStream, packed).
type CellPlayer struct {
	Space entity.SpaceID
	// Incarnation is that of the entity's real; the client repeats it in its moves.
	Incarnation uint32
	Position    property.Vector3
	Direction   property.Vector3
	// Forced and Control are as in the message Forced: this is a forced place, too.
	Forced  uint32
	Control bool
	Props   []byte // aliases the input after Parse
}

func (m *CellPlayer) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codec.Uint32(c, &m.Incarnation)
	fields.Vector3(c, &m.Position)
	fields.Vector3(c, &m.Direction)
	codec.Uint32(c, &m.Forced)
	c.Bool(&m.Control)
	c.Rest(&m.Props, aFrame)
}

// Append frames and encodes m, Parse decodes a body.
func (m *CellPlayer) Append(b []byte) []byte  { return frame(b, CellPlayerID, m.code) }
func (m *CellPlayer) Parse(body []byte) error { return parse(body, m, m.code) }

// AppendChange appends a change that has just been made to v, for clients: only the changed part,
// unless the property has SendLatestOnly, for which the whole value is sent. It is the body of an
// OwnProperty or BaseProperty, which tells one change of a property of the player's own entity, in
// its cell or base part.
func AppendChange(b []byte, v *property.Values, c *property.Change) []byte {
	if v.Definition().Properties[c.Index].SendLatestOnly {
		return v.AppendClientValue(b, c.Index)
	}
	return v.AppendClientChange(b, c)
}

// Enter brings an entity into the player's area of interest.
type Enter struct {
	ID   entity.ID
	Type uint16 // property.Definition.ClientID
	// Alias stands for the entity in Positions packets, up to its Leave: below MaxAlias, or
	// NoAlias.
	Alias     uint32
	Position  property.Vector3
	Direction property.Vector3
	// Entry, if it is not nil, is sent in place of Position and Direction: the place of an entity
	// on the way, as AppendFar writes it for Origin. It is shorter by some fifteen bytes. Parse
	// sets all four; Entry aliases its input.
	Entry  []byte
	Origin [2]int32
	// Props are whole values, as property.Values.AppendClientValue writes them, packed; it aliases
	// the input after Parse.
	Props []byte
}

// Append frames and encodes m.
func (m *Enter) Append(b []byte) []byte {
	b, mark := Begin(b, EnterID)
	b = fields.AppendID(b, m.ID)
	b = binary.AppendUvarint(b, uint64(m.Type))
	if m.Entry == nil {
		b = binary.AppendUvarint(b, uint64(m.Alias)<<1)
		b = fields.AppendVector3(fields.AppendVector3(b, m.Position), m.Direction)
	} else {
		b = binary.AppendUvarint(b, uint64(m.Alias)<<1|1)
		b = append(appendOrigin(b, m.Origin), m.Entry...)
	}
	b = append(b, m.Props...)
	return End(b, mark)
}

// Parse decodes a body.
func (m *Enter) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Type = readType(&r)
	alias := r.Uvarint()
	if m.Alias = uint32(min(alias>>1, NoAlias)); alias>>1 > NoAlias {
		r.Fail(errEntry)
	}
	m.Entry, m.Origin = nil, [2]int32{}
	if alias&1 == 0 {
		m.Position, m.Direction = fields.ReadVector3(&r), fields.ReadVector3(&r)
	} else {
		m.Origin = readOrigin(&r)
		start, place := len(body)-r.Len(), Moved{origin: m.Origin}
		m.Position, m.Direction = place.readAnew(&r)
		m.Entry = body[start : len(body)-r.Len()]
	}
	m.Props = r.Rest()
	return done(&r, "enter")
}

// readType reads what property.Definition.ClientID can be.
func readType(r *codec.Reader) uint16 {
	v := r.Uvarint()
	if v > math.MaxUint16 {
		r.Fail(errEntry)
	}
	return uint16(v)
}

// AppendLeave takes an entity out of the area of interest.
func AppendLeave(b []byte, id entity.ID) []byte {
	b, mark := Begin(b, LeaveID)
	b = fields.AppendID(b, id)
	return End(b, mark)
}

// ParseLeave decodes a body.
func ParseLeave(body []byte) (entity.ID, error) {
	r := codec.NewReader(body)
	id := fields.ReadID(&r)
	return id, done(&r, "leave")
}

// Changes are changes of properties of an entity in the area of interest, oldest first.
type Changes struct {
	ID entity.ID
	// Props are whole values and changes of parts, as property.Values.AppendClientChange writes
	// them; it aliases the input after Parse.
	Props []byte
}

// Append frames and encodes m.
func (m *Changes) Append(b []byte) []byte {
	b, mark := Begin(b, ChangesID)
	b = fields.AppendID(b, m.ID)
	b = append(b, m.Props...)
	return End(b, mark)
}

// Parse decodes a body.
func (m *Changes) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Props = r.Rest()
	return done(&r, "changes")
}

// Whole decodes whole values of properties, as property.Values.AppendClientValue writes them, and
// calls f with each property's Index. A change of a part is malformed: there is nothing that it
// could be a part of.
func Whole(d *property.Definition, b []byte, f func(index int, v property.Value) error) error {
	for len(b) > 0 {
		r := codec.NewReader(b)
		key := r.Uvarint()
		if r.Err() != nil || key>>1 >= uint64(len(d.Properties)) {
			return fmt.Errorf("%w: property index of %s", ErrMalformed, d.Name)
		}
		p := d.ByClientIndex(int(key >> 1))
		if p == nil {
			return fmt.Errorf("%w: property index of %s", ErrMalformed, d.Name)
		}
		if key&1 != 0 {
			return fmt.Errorf("%w: a part of %s.%s where its value belongs", ErrMalformed, d.Name, p.Name)
		}
		v, rest, err := d.ReadValue(r.Rest(), p.Index)
		if err != nil {
			return fmt.Errorf("%w: %s.%s: %w", ErrMalformed, d.Name, p.Name, err)
		}
		if err := f(p.Index, v); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

// Call calls a client method of the player's entity or of one that it sees.
type Call struct {
	ID     entity.ID
	Method uint16 // property.Method.Index among the client methods
	Args   []byte // aliases the input after Parse
}

// Append frames and encodes m.
func (m *Call) Append(b []byte) []byte {
	b, mark := Begin(b, CallID)
	b = fields.AppendID(b, m.ID)
	b = binary.LittleEndian.AppendUint16(b, m.Method)
	b = append(b, m.Args...)
	return End(b, mark)
}

// Parse decodes a body.
func (m *Call) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Method = r.U16()
	m.Args = r.Rest()
	return done(&r, "call")
}

// Place is where an entity stands: a Rest message, sent reliably, exactly and once.
type Place struct {
	ID        entity.ID
	Position  property.Vector3
	Direction property.Vector3
}

// AppendRest frames and encodes p as a Rest message.
func (p *Place) AppendRest(b []byte) []byte {
	b, mark := Begin(b, RestID)
	return End(p.appendExact(b), mark)
}

func (p *Place) appendExact(b []byte) []byte {
	b = fields.AppendID(b, p.ID)
	b = fields.AppendVector3(b, p.Position)
	return fields.AppendVector3(b, p.Direction)
}

// ParseRest decodes the body of a Rest message.
func (p *Place) ParseRest(body []byte) error {
	r := codec.NewReader(body)
	p.read(&r)
	return done(&r, "rest")
}

func (p *Place) read(r *codec.Reader) {
	p.ID = fields.ReadID(r)
	p.Position, p.Direction = fields.ReadVector3(r), fields.ReadVector3(r)
}

// Ride tells a client that an entity in its area of interest is on a vehicle, which it has been told of,
// or is on none any more. While it rides, packets tell its seat (MarkSeat), and another Ride does where it
// rests there.
type Ride struct {
	// Vehicle is 0 for the end of a ride.
	Vehicle entity.ID
	// Place has the entity, and its seat on the vehicle (presence.Spot); at the end of a ride the place
	// where it is, as in a Rest.
	Place
}

// Append frames and encodes m.
func (m *Ride) Append(b []byte) []byte {
	b, mark := Begin(b, RideID)
	return End(m.appendExact(fields.AppendID(b, m.Vehicle)), mark)
}

// Parse decodes a body.
func (m *Ride) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Vehicle = fields.ReadID(&r)
	m.read(&r)
	return done(&r, "ride")
}

// SpaceData is one entry of the data of the space that the player is in.
// An entry of 0 replaces all others of its key.
type SpaceData struct {
	Key   uint16
	Entry entity.DataID
	Value []byte // aliases the input after Parse
}

// SpaceDataGone is the end of an entry, or with an entry of 0 of all of the key.
type SpaceDataGone struct {
	Key   uint16
	Entry entity.DataID
}

func (m *SpaceDataGone) code(c *codec.Coder) {
	c.U16(&m.Key)
	codeDataID(c, &m.Entry)
}

// Append frames and encodes m, Parse decodes a body.
func (m *SpaceDataGone) Append(b []byte) []byte  { return frame(b, SpaceDataGoneID, m.code) }
func (m *SpaceDataGone) Parse(body []byte) error { return parse(body, m, m.code) }

// AppendSpaceDataAnew says that all entries are gone; those that there are follow.
func AppendSpaceDataAnew(b []byte) []byte { return bare(b, SpaceDataAnewID) }

// TimeOfDay is what time of day it is in the player's space, and how many seconds of it go by in a
// second.
type TimeOfDay struct {
	Day   time.Duration // below daytime.Day; in milliseconds on the wire
	Speed float32
}

// Append frames and encodes m, Parse decodes a body.
func (m *TimeOfDay) Append(b []byte) []byte {
	b, mark := Begin(b, TimeOfDayID)
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Day/time.Millisecond))
	return End(binary.LittleEndian.AppendUint32(b, math.Float32bits(m.Speed)), mark)
}

func (m *TimeOfDay) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Day, m.Speed = time.Duration(r.U32())*time.Millisecond, math.Float32frombits(r.U32())
	if err := (daytime.Clock{Start: m.Day, Speed: float64(m.Speed)}).Check(); err != nil {
		r.Fail(err)
	}
	return done(&r, "time of day")
}

func codeDataID(c *codec.Coder, v *entity.DataID) {
	id := uint64(*v)
	c.Uvarint(&id)
	*v = entity.DataID(id)
}

func (m *SpaceData) code(c *codec.Coder) {
	c.U16(&m.Key)
	codeDataID(c, &m.Entry)
	c.Bytes(&m.Value, MaxSpaceDataValue)
}

// Append frames and encodes m, Parse decodes a body.
func (m *SpaceData) Append(b []byte) []byte  { return frame(b, SpaceDataID, m.code) }
func (m *SpaceData) Parse(body []byte) error { return parse(body, m, m.code) }

// Forced is where the player's entity is by the server's word, whatever the client has said. The
// client puts it there, and repeats Number in its moves: the server takes none with another number.
type Forced struct {
	Number uint32
	// Control says that the client moves the entity from here on. Without it the server does; more
	// of these messages say where it is by then.
	Control bool
	// Vehicle is what the entity rides on, 0 if nothing. Then Position and Direction are its seat there
	// (presence.Spot), and so are those of the moves that repeat Number.
	Vehicle   entity.ID
	Position  property.Vector3
	Direction property.Vector3
}

// Flags of a Forced.
const (
	forcedControl = 1 << iota
	forcedVehicle
	forcedFlags = 1<<iota - 1
)

// Append frames and encodes m.
func (m *Forced) Append(b []byte) []byte {
	b, mark := Begin(b, ForcedID)
	b = binary.AppendUvarint(b, uint64(m.Number))
	flags := byte(0)
	if m.Control {
		flags |= forcedControl
	}
	if m.Vehicle != 0 {
		flags |= forcedVehicle
	}
	if b = append(b, flags); m.Vehicle != 0 {
		b = fields.AppendID(b, m.Vehicle)
	}
	b = fields.AppendVector3(b, m.Position)
	b = fields.AppendVector3(b, m.Direction)
	return End(b, mark)
}

// Parse decodes a body.
func (m *Forced) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Number = fields.ReadUint32(&r)
	flags := r.U8()
	if flags > forcedFlags {
		r.Fail(errForced)
	}
	if m.Control, m.Vehicle = flags&forcedControl != 0, 0; flags&forcedVehicle != 0 {
		m.Vehicle = readVehicle(&r)
	}
	m.Position, m.Direction = fields.ReadVector3(&r), fields.ReadVector3(&r)
	return done(&r, "forced")
}

var (
	errForced  = errors.New("unknown flags")
	errVehicle = errors.New("a ride on nobody")
)

// readVehicle reads the id of a vehicle that there is.
func readVehicle(r *codec.Reader) entity.ID {
	id := fields.ReadID(r)
	if r.Err() == nil && !id.Valid() {
		r.Fail(errVehicle)
	}
	return id
}

// Controlled tells a client whether it moves an entity in its area of interest, which is not its own,
// and where the server has put that.
type Controlled struct {
	ID entity.ID
	// Control says that the client moves the entity from here on. Without it the client does so no
	// more, and the rest is not sent: the entity is where the client was told that others see it.
	Control bool
	// Incarnation is that of the entity, and Number that of the forced place. The client repeats both
	// in its moves: the server takes none with others.
	Incarnation uint32
	Number      uint32
	Position    property.Vector3
	Direction   property.Vector3
}

// Append frames and encodes m.
func (m *Controlled) Append(b []byte) []byte {
	b, mark := Begin(b, ControlledID)
	b = codec.AppendBool(fields.AppendID(b, m.ID), m.Control)
	if m.Control {
		b = binary.AppendUvarint(b, uint64(m.Incarnation))
		b = binary.AppendUvarint(b, uint64(m.Number))
		b = fields.AppendVector3(fields.AppendVector3(b, m.Position), m.Direction)
	}
	return End(b, mark)
}

// Parse decodes a body.
func (m *Controlled) Parse(body []byte) error {
	r := codec.NewReader(body)
	*m = Controlled{ID: fields.ReadID(&r), Control: r.Bool()}
	if m.Control {
		m.Incarnation, m.Number = fields.ReadUint32(&r), fields.ReadUint32(&r)
		m.Position, m.Direction = fields.ReadVector3(&r), fields.ReadVector3(&r)
	}
	return done(&r, "controlled")
}

// AppendResetEntities says that the player gets another entity: everything is gone, the own one too. When the
// client has said EnableEntities again, BasePlayer follows.
func AppendResetEntities(b []byte) []byte { return bare(b, ResetEntitiesID) }

// NewToken replaces the token that resumes the session.
type NewToken struct{ Token Token }

func (m *NewToken) code(c *codec.Coder) { c.Array(m.Token[:]) }

// Append frames and encodes m, Parse decodes a body.
func (m *NewToken) Append(b []byte) []byte  { return frame(b, NewTokenID, m.code) }
func (m *NewToken) Parse(body []byte) error { return parse(body, m, m.code) }
