package migrate

import (
	"errors"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/placement"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// ErrMalformed is in the chain of every parse error of this package.
var ErrMalformed = errors.New("migrate: malformed message")

const (
	// MaxParts bounds the travelling state of one real: properties, history, flows with their
	// tails, timers, controllers, witness. It also bounds the properties when they are unpacked. It
	// is that much below mercury.DefaultMaxMessage that a message with such a state can be sent.
	MaxParts = 896 << 10
	// MaxReason bounds the reason text of a Lost and of an OnloadRefused.
	MaxReason = 512
)

// Geometry is the version of the partition by which a handoff was decided. It is kept as plain
// numbers, since this package knows no geometry.
type Geometry struct{ Term, N uint32 }

// Title shows that an app was given a real. The base makes one for each incarnation and gives it to
// the app that makes the real; each handoff passes it on. It is secret from other apps, so an app
// that never had the entity cannot say that it has it.
type Title uint64

// Onload hands a real to another CellApp. The receiver always accepts one that crosses a border,
// unless it knows a newer order of the same entity, and sends it nowhere else before it holds the
// geometry that the handoff was decided by. It may refuse a teleport (OnloadRefused).
type Onload struct {
	ID   entity.ID
	Type uint16
	// Space is the one to go to; it is 0 if only the entity that Arrival goes near to tells.
	Space entity.SpaceID
	// Order is the order of the real at its destination.
	Order entity.Order
	// Base is the app of the base part; zero for none.
	Base    mercury.Address
	Title   Title
	Decided Geometry
	Arrival Arrival
	// Serial counts the handoffs from the one app to the other, from 1; 0 is of none. Low is the
	// lowest that the origin still repeats: the destination answers a repeat as it did the first
	// time, and forgets what is below.
	Serial, Low uint64
	Parts       []byte // see Parts; aliases the input after Parse
}

// Arrival is what an Onload says that is a teleport. The zero value says that it crosses a border.
type Arrival struct {
	// From is the space that the real leaves, which may be the one that it goes to; 0 at a border.
	From entity.SpaceID
	// Near is the entity to put the real near to; 0 for none. Position is then the way from it.
	Near                entity.ID
	Position, Direction property.Vector3
	// Transition says that the view of the client goes along; see entity.Destination. The Position that
	// the parts have tells from where.
	Transition bool
}

// Teleports reports whether the handoff is a teleport.
func (a *Arrival) Teleports() bool { return a.From != 0 }

func (a *Arrival) code(c *codec.Coder) {
	codec.Uint32(c, &a.From)
	if !a.Teleports() {
		*a = Arrival{}
		return
	}
	fields.ID(c, &a.Near)
	fields.Vector3(c, &a.Position)
	fields.Vector3(c, &a.Direction)
	c.Bool(&a.Transition)
}

func (m *Onload) code(c *codec.Coder) {
	m.head(c)
	c.Rest(&m.Parts, MaxParts)
}

// head codes all but the parts.
func (m *Onload) head(c *codec.Coder) {
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	codec.Uint32(c, &m.Space)
	fields.Order(c, &m.Order)
	fields.Address(c, &m.Base)
	c.U64((*uint64)(&m.Title))
	codec.Uint32(c, &m.Decided.Term)
	codec.Uint32(c, &m.Decided.N)
	m.Arrival.code(c)
	c.Uvarint(&m.Serial)
	c.Uvarint(&m.Low)
}

func (m *Onload) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Onload) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxParty bounds the reals that one OnloadParty takes: a group of players with what they ride.
const MaxParty = 32

// OnloadParty hands several reals over together. All are teleports from one cell to one place; the
// receiver takes all or none, and answers each by an OnloadAck or an OnloadRefused of its own. Their
// parts have at most MaxParts together.
type OnloadParty struct{ List []Onload }

// minOnload is the shortest encoding of an Onload in a list.
const minOnload = 16

func (m *OnloadParty) code(c *codec.Coder) {
	codec.List(c, &m.List, MaxParty, minOnload, func(c *codec.Coder, x *Onload) {
		x.head(c)
		c.Bytes(&x.Parts, MaxParts)
	})
}

func (m *OnloadParty) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *OnloadParty) Parse(body []byte) error { return parse(body, m, m.code) }

// OnloadAck says that the real of that order has been taken over: the frozen copy can go.
type OnloadAck struct {
	ID    entity.ID
	Order entity.Order
	// Elsewhere says that the real is in another space now, so that its ghosts in the old one go.
	Elsewhere bool
}

func (m *OnloadAck) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
	c.Bool(&m.Elsewhere)
}

func (m *OnloadAck) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *OnloadAck) Parse(body []byte) error { return parse(body, m, m.code) }

// OnloadRefused says that a teleport was refused: there is no real of that order here, and there
// never will be.
type OnloadRefused struct {
	ID     entity.ID
	Order  entity.Order
	Code   placement.Code
	Reason string
}

func (m *OnloadRefused) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
	codec.Enum(c, &m.Code, 1, placement.LastCode)
	c.String(&m.Reason, MaxReason)
}

func (m *OnloadRefused) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *OnloadRefused) Parse(body []byte) error { return parse(body, m, m.code) }

// Create makes a real from what its base holds: a new one, or one restored from its backup under a
// new incarnation.
type Create struct {
	ID    entity.ID
	Type  uint16
	Space entity.SpaceID
	Order entity.Order
	Base  mercury.Address
	Title Title
	// Session is the proxy's client session; zero when no client is attached.
	Session flow.Session
	// Handled is the number of the last message of the base's flow that the state in Parts already
	// contains.
	Handled flow.Mark
	// Heard is the number of the last message that the base handled from the real whose state Parts
	// are; 0 if the base no longer knows.
	Heard uint64
	// Restored says that Parts are a backup, not a first state.
	Restored bool
	// Pass names the messages that the real is to take without its script, which has panicked over them
	// again and again: at most flow.MaxCulprits.
	Pass  []flow.Culprit
	Parts []byte // aliases the input after Parse
}

func (m *Create) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	codec.Uint32(c, &m.Space)
	fields.Order(c, &m.Order)
	fields.Address(c, &m.Base)
	c.U64((*uint64)(&m.Title))
	codec.Field(c, &m.Session,
		func(b []byte, s flow.Session) []byte { return s.AppendBody(b) },
		func(r *codec.Reader) (s flow.Session) { s.Read(r); return s })
	c.Uvarint((*uint64)(&m.Handled))
	c.Uvarint(&m.Heard)
	c.Bool(&m.Restored)
	codec.List(c, &m.Pass, flow.MaxCulprits, 1, func(c *codec.Coder, x *flow.Culprit) { x.Code(c) })
	c.Rest(&m.Parts, MaxParts)
}

func (m *Create) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Create) Parse(body []byte) error { return parse(body, m, m.code) }

// Current tells a base where its real is now. It is sent outside the flow, since it is what makes
// the flow find its way.
type Current struct {
	ID    entity.ID
	Order entity.Order
	Title Title
	// Handled is the last message of the base's flow that the real has handled.
	Handled flow.Mark
}

func (m *Current) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
	c.U64((*uint64)(&m.Title))
	c.Uvarint((*uint64)(&m.Handled))
}

func (m *Current) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Current) Parse(body []byte) error { return parse(body, m, m.code) }

// Refuse tells a CellApp that the base knows a newer order, or no such entity: every real of the
// entity up to Order is dropped.
type Refuse struct {
	ID    entity.ID
	Order entity.Order
}

func (m *Refuse) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
}

func (m *Refuse) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Refuse) Parse(body []byte) error { return parse(body, m, m.code) }

// Offer gives a base the frozen copy of a handoff whose destination died, as a backup fresher than
// its own. Only the base decides.
type Offer struct {
	ID entity.ID
	// Order is what the real would have had at the destination.
	Order entity.Order
	Title Title
	// Saves and Handled are as in flow.Backup.
	Saves    uint64
	Handled  flow.Mark
	Space    entity.SpaceID
	Position property.Vector3
	Parts    []byte // aliases the input after Parse
}

func (m *Offer) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
	c.U64((*uint64)(&m.Title))
	c.Uvarint(&m.Saves)
	c.Uvarint((*uint64)(&m.Handled))
	codec.Uint32(c, &m.Space)
	fields.Vector3(c, &m.Position)
	c.Rest(&m.Parts, MaxParts)
}

func (m *Offer) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Offer) Parse(body []byte) error { return parse(body, m, m.code) }

// Lost tells a base that its real of that order is gone without having been destroyed: its script
// panicked, or its state could not be read. Or it was never made, and another attempt would end alike.
type Lost struct {
	ID    entity.ID
	Order entity.Order
	// Title is zero if the sender only had a ghost.
	Title Title
	// Code says why a new real was refused for good; 0 if it was not.
	Code   placement.Code
	Reason string
	// Fault says that another attempt may well end alike: its script panicked, or its state could not be
	// read. Culprit is the message over which the script panicked; zero if over none.
	Fault   bool
	Culprit flow.Culprit
}

func (m *Lost) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	fields.Order(c, &m.Order)
	c.U64((*uint64)(&m.Title))
	codec.Enum(c, &m.Code, 0, placement.LastCode)
	c.String(&m.Reason, MaxReason)
	c.Bool(&m.Fault)
	m.Culprit.Code(c)
}

func (m *Lost) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Lost) Parse(body []byte) error { return parse(body, m, m.code) }

// parse reads a message by its description.
func parse(body []byte, m any, code func(*codec.Coder)) error {
	return codec.ParseAs(ErrMalformed, body, m, code)
}
