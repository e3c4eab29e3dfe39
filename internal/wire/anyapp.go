package wire

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
)

// Welcome answers a Join. The manager sends it again when what it says has changed, and to a
// CellApp whose time is behind.
type Welcome struct {
	// Number is the app's number in the cluster, from 1 in each role.
	Number uint32
	// Allocator is the entity id allocator of this start of the app; 0 for roles that make no
	// entities.
	Allocator uint32
	// Term is the manager's term; a newer manager has a higher one.
	Term uint32
	// GameTime is the manager's time when it answered. It is the time of the cluster, which the
	// game time of each space follows (gametime.Clock).
	GameTime time.Duration
	// CellAppMgr and BaseAppMgr say where the managers are, and DBApp who keeps entities; zero while
	// unknown, or if there is none.
	CellAppMgr, BaseAppMgr, DBApp mercury.Address
	// Stores says that the cluster has a DBApp, or will have one soon.
	Stores bool
}

func (m *Welcome) code(c *codec.Coder) {
	c.U32(&m.Number)
	c.U32(&m.Allocator)
	c.U32(&m.Term)
	codeDuration(c, &m.GameTime)
	fields.Address(c, &m.CellAppMgr)
	fields.Address(c, &m.BaseAppMgr)
	fields.Address(c, &m.DBApp)
	c.Bool(&m.Stores)
}

func (m *Welcome) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Welcome) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxReason bounds a reason text between processes.
const MaxReason = 1 << 10

// Refused answers a Join that can never succeed: wrong definitions, wrong role.
type Refused struct{ Reason string }

func (m *Refused) code(c *codec.Coder) { c.String(&m.Reason, MaxReason) }

func (m *Refused) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Refused) Parse(body []byte) error { return parse(body, m, m.code) }

// AppDead is the manager's verdict that this start of an app is dead. Receivers forget the app and
// refuse what still comes from it.
type AppDead struct {
	Role Role
	App  mercury.Address
	// Mourners are the CellApps that are told of a CellApp's death at the same time: each of them says
	// Mourned to the BaseApps. There are none in a verdict that is told again.
	Mourners []mercury.Address
	// Number, Allocator and Rule are of the death of a BaseApp: see migrate.Departure.
	Number    uint64
	Allocator uint32
	Rule      migrate.Rule
}

// Departure is what the death of a BaseApp says about its bases.
func (m *AppDead) Departure() migrate.Departure {
	return migrate.Departure{App: m.App, Number: m.Number, Allocator: m.Allocator, Rule: m.Rule}
}

func (m *AppDead) code(c *codec.Coder) {
	codeRole(c, &m.Role)
	fields.Address(c, &m.App)
	codec.List(c, &m.Mourners, MaxMembers, 2, fields.Address)
	if len(m.Mourners) == 0 {
		m.Mourners = nil
	}
	c.Uvarint(&m.Number)
	codec.Uint32(c, &m.Allocator)
	m.Rule.Code(c)
}

func (m *AppDead) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *AppDead) Parse(body []byte) error { return parse(body, m, m.code) }

// Freeze stops the world's own movement (timers, controllers, offloads, balance) and lifts the
// client budgets, so that everyone can be told everything; or it lets the world go on. An observer
// sends it to the CellAppMgr, which passes it on to all.
type Freeze struct{ On bool }

func (m *Freeze) code(c *codec.Coder) { c.Bool(&m.On) }

func (m *Freeze) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Freeze) Parse(body []byte) error { return parse(body, m, m.code) }

// Dismissed tells a process that it was declared dead while it was only slow. The process drops
// everything and joins again as a new start.
type Dismissed struct {
	// Term is the manager's. A process ignores a manager older than the one it knows.
	Term   uint32
	Reason string
}

func (m *Dismissed) code(c *codec.Coder) {
	codec.Uint32(c, &m.Term)
	c.String(&m.Reason, MaxReason)
}

func (m *Dismissed) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Dismissed) Parse(body []byte) error { return parse(body, m, m.code) }

func appendDuration(b []byte, v time.Duration) []byte { return binary.AppendUvarint(b, uint64(v)) }

// readDuration reads a time, which must not be negative.
func readDuration(r *codec.Reader) time.Duration {
	v := r.Uvarint()
	if v > 1<<62 {
		r.Fail(ErrMalformed)
		return 0
	}
	return time.Duration(v)
}

func codeDuration(c *codec.Coder, v *time.Duration) {
	codec.Field(c, v, appendDuration, readDuration)
}
