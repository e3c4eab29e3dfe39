package ghost

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/presence"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// ErrMalformed is in the chain of every parse error of this package.
var ErrMalformed = errors.New("ghost: malformed message")

// Limits of a ghost message.
const (
	// MaxProps bounds the ghosted properties of one entity, on the wire and unpacked.
	MaxProps = 256 << 10
	// MaxHistory bounds the encoded history of one entity.
	MaxHistory = 512 << 10
	// MaxChange bounds the payload of one Change: the largest property with its flags, a path of
	// property.MaxTypeDepth steps, and the bounds of a splice.
	MaxChange = property.MaxProperty + 64
	// MaxChanges bounds the changes of one Update: a tick of one entity.
	MaxChanges = 4096
)

// Head begins every ghost message: it says which entity the message is about, and where in the life
// of its real the message belongs. Sequence counts the ghost messages of one hop from 1; one haunt
// sees an ascending part of them.
type Head struct {
	ID       entity.ID
	Order    entity.Order
	Sequence uint32
}

func (h *Head) append(b []byte) []byte {
	b = fields.AppendID(b, h.ID)
	b = fields.AppendOrder(b, h.Order)
	return binary.AppendUvarint(b, uint64(h.Sequence))
}

func (h *Head) read(r *codec.Reader) {
	h.ID = fields.ReadID(r)
	h.Order = fields.ReadOrder(r)
	h.Sequence = fields.ReadUint32(r)
}

// State makes a ghost, or brings one up to the beginning of a new hop. It holds everything that a
// ghost holds, and the kept events, so that a ghost that heard only part of the old hop misses
// nothing of it.
type State struct {
	Head
	Type  uint16
	Space entity.SpaceID
	// Base is the app of the base part; zero for none.
	Base      mercury.Address
	MoveStamp uint32
	Position  property.Vector3
	Direction property.Vector3
	Aspect    presence.Aspect
	Control   presence.Control
	Ride      presence.Ride
	// Props is property.GhostStream, packed as the type's Compression.Internal says (see
	// property.Compressor); it aliases the input after Parse.
	Props   []byte
	History []byte // property.History; aliases the input after Parse
	// Answers is the Asked of the Query that it answers, 0 for none: the real was there when it was
	// asked for, whatever others had said of the ghost before that. See Rumours.
	Answers uint64
}

// Append encodes m.
func (m *State) Append(b []byte) []byte {
	b = m.Head.append(b)
	b = binary.LittleEndian.AppendUint16(b, m.Type)
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = mercury.AppendAddress(b, m.Base)
	b = append(fields.AppendPlace(b, m.MoveStamp, m.Position, m.Direction), byte(m.Aspect))
	b = fields.AppendRide(fields.AppendControl(b, m.Control), &m.Ride)
	b = codec.AppendBytes(b, m.Props)
	b = codec.AppendBytes(b, m.History)
	return binary.AppendUvarint(b, m.Answers)
}

// Parse decodes a body.
func (m *State) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Head.read(&r)
	m.Type = r.U16()
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Base = mercury.ReadAddress(&r)
	m.MoveStamp, m.Position, m.Direction = fields.ReadPlace(&r)
	m.Aspect = fields.ReadAspect(&r)
	m.Control, m.Ride = fields.ReadControl(&r), fields.ReadRide(&r)
	m.Props = r.Bytes(MaxProps)
	m.History = r.Bytes(MaxHistory)
	m.Answers = r.Uvarint()
	return done(&r, "state")
}

// Update is what a real has done since the last tick: where it is, who moves it, what it rides, and its
// numbered changes and events.
type Update struct {
	Head
	// After is the Sequence of the Update before, 0 for the first of the hop. A ghost that has
	// neither it nor anything newer has missed it. Numbers would not show that for a property which
	// no other client sees.
	After     uint32
	MoveStamp uint32
	Position  property.Vector3
	Direction property.Vector3
	Control   presence.Control
	Ride      presence.Ride
	Changes   []Change
}

// Change is one numbered change of a property, or one event.
type Change struct {
	// Number is 0 for a property that no other client sees: nobody watches it, so the history does
	// not count it.
	Number property.EventNumber
	// Event says that Index is a client method and Payload its arguments; otherwise Index is a
	// property and Payload its change, as property.Values.AppendChange wrote it.
	Event   bool
	Index   uint16
	Payload []byte // aliases the input after Parse
}

// Append encodes m.
func (m *Update) Append(b []byte) []byte {
	b = m.Head.append(b)
	b = binary.AppendUvarint(b, uint64(m.After))
	b = fields.AppendPlace(b, m.MoveStamp, m.Position, m.Direction)
	b = fields.AppendRide(fields.AppendControl(b, m.Control), &m.Ride)
	b = binary.AppendUvarint(b, uint64(len(m.Changes)))
	for i := range m.Changes {
		c := &m.Changes[i]
		b = binary.AppendUvarint(b, uint64(c.Number))
		b = codec.AppendBool(b, c.Event)
		b = binary.LittleEndian.AppendUint16(b, c.Index)
		b = codec.AppendBytes(b, c.Payload)
	}
	return b
}

// Parse decodes a body, reusing the slice of m.
func (m *Update) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Head.read(&r)
	m.After = fields.ReadUint32(&r)
	m.MoveStamp, m.Position, m.Direction = fields.ReadPlace(&r)
	m.Control, m.Ride = fields.ReadControl(&r), fields.ReadRide(&r)
	n := r.Count(MaxChanges, 5)
	m.Changes = m.Changes[:0]
	for range n {
		var c Change
		c.Number = property.EventNumber(fields.ReadUint32(&r))
		c.Event = r.Bool()
		c.Index = r.U16()
		c.Payload = r.Bytes(MaxChange)
		if r.Err() != nil {
			break
		}
		m.Changes = append(m.Changes, c)
	}
	return done(&r, "update")
}

// Delete ends a ghost.
type Delete struct {
	Head
	// Ended says that nothing brings the entity back: it was destroyed, or is lost and has no base. Otherwise
	// the ghost is not needed any more, or the base restores the real.
	Ended bool
}

func (m *Delete) code(c *codec.Coder) {
	m.Head.code(c)
	c.Bool(&m.Ended)
}

func (m *Delete) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Delete) Parse(body []byte) error { return parse(body, m, m.code) }

// Audit lets a haunt compare its ghost with the real, in a world at rest: Sum is that of the real
// (see the function Sum).
type Audit struct {
	Head
	Sum uint64
}

func (m *Audit) code(c *codec.Coder) {
	m.Head.code(c)
	c.U64(&m.Sum)
}

func (m *Audit) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Audit) Parse(body []byte) error { return parse(body, m, m.code) }

// Query asks for the real of a ghost that has heard nothing for a lease, or for a real of which the
// asker has no ghost. Head is what the asker holds; a zero order means nothing. Whoever has the
// real answers with an Update or a State; whoever knows nothing of it, with a Delete.
type Query struct {
	Head
	// Asker is who wants the answer: a query goes on to where the real went.
	Asker mercury.Address
	// Asked is when that was, by the asker's own clock; see Moment.
	Asked uint64
	// Hops counts how often the query went on.
	Hops uint8
}

// Moment is a time of a CellApp's clock as a Query has it.
func Moment(now time.Duration) uint64 { return uint64(max(now, 0) / time.Millisecond) }

// MaxQueryHops bounds how far a query goes on: ghosts that point at each other must not keep one
// for ever.
const MaxQueryHops = 4

func (m *Query) code(c *codec.Coder) {
	m.Head.code(c)
	fields.Address(c, &m.Asker)
	c.Uvarint(&m.Asked)
	c.U8(&m.Hops)
}

func (m *Query) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Query) Parse(body []byte) error { return parse(body, m, m.code) }

// Watched tells a real's app whether a client sees the ghost on the sender's. A ghost tells it when that
// changes, and each time that its real has moved on.
type Watched struct {
	Head
	On bool
}

func (m *Watched) code(c *codec.Coder) {
	m.Head.code(c)
	c.Bool(&m.On)
}

func (m *Watched) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Watched) Parse(body []byte) error { return parse(body, m, m.code) }

// code describes the Head of a message that is described itself.
func (h *Head) code(c *codec.Coder) {
	fields.ID(c, &h.ID)
	fields.Order(c, &h.Order)
	codec.Uint32(c, &h.Sequence)
}

// parse reads a message by its description.
func parse(body []byte, m any, code func(*codec.Coder)) error {
	return codec.ParseAs(ErrMalformed, body, m, code)
}

func done(r *codec.Reader, name string) error {
	return r.CloseAs(ErrMalformed, name)
}
