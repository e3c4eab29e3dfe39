package wire

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// Welcome answers a Join. It is sent again when what it says changes, and to a CellApp
// that is behind the time.
type Welcome struct {
	// Number is the app's number in the cluster, from 1 in each role.
	Number uint32
	// Allocator is the entity id allocator of this start of the app; 0 for
	// roles that make no entities.
	Allocator uint32
	// Term is the manager's term: a newer manager has a higher one.
	Term uint32
	// GameTime is the manager's time when it answered: the time of the cluster, which
	// the game time of each space follows (gametime.Clock).
	GameTime time.Duration
	// CellAppMgr and BaseAppMgr say where the managers are; zero while unknown.
	CellAppMgr, BaseAppMgr mercury.Address
}

// Append encodes m.
func (m *Welcome) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, m.Number)
	b = binary.LittleEndian.AppendUint32(b, m.Allocator)
	b = binary.LittleEndian.AppendUint32(b, m.Term)
	b = binary.AppendUvarint(b, uint64(m.GameTime))
	b = mercury.AppendAddress(b, m.CellAppMgr)
	return mercury.AppendAddress(b, m.BaseAppMgr)
}

// Parse decodes a body.
func (m *Welcome) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Number, m.Allocator, m.Term = r.U32(), r.U32(), r.U32()
	m.GameTime = readDuration(&r)
	m.CellAppMgr, m.BaseAppMgr = mercury.ReadAddress(&r), mercury.ReadAddress(&r)
	return done(&r, "welcome")
}

// MaxReason bounds a reason text between processes.
const MaxReason = 1 << 10

// Refused answers a Join that can never succeed: wrong definitions, wrong role.
type Refused struct{ Reason string }

// Append encodes m.
func (m *Refused) Append(b []byte) []byte { return codec.AppendString(b, m.Reason) }

// Parse decodes a body.
func (m *Refused) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Reason = r.String(MaxReason)
	return done(&r, "refused")
}

// AppDead is the manager's verdict: this start of this app is dead. Whoever
// hears it forgets the app and refuses what still comes from it.
type AppDead struct {
	Role Role
	App  mercury.Address
}

// Append encodes m.
func (m *AppDead) Append(b []byte) []byte {
	return mercury.AppendAddress(append(b, byte(m.Role)), m.App)
}

// Parse decodes a body.
func (m *AppDead) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Role = readRole(&r)
	m.App = mercury.ReadAddress(&r)
	return done(&r, "app dead")
}

// Freeze stops the world's own movement (timers, controllers, offloads, balance)
// and lifts the client budgets, so that everyone can be told everything; or lets
// it go on. An observer sends it to the CellAppMgr, which passes it on to all.
type Freeze struct{ On bool }

// Append encodes m.
func (m *Freeze) Append(b []byte) []byte { return codec.AppendBool(b, m.On) }

// Parse decodes a body.
func (m *Freeze) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.On = r.Bool()
	return done(&r, "freeze")
}

// Dismissed tells a process that it was declared dead while it was only slow: it
// drops all it has and joins again as a new start.
type Dismissed struct {
	// Term is the manager's: nobody heeds one that is older than the manager which
	// it knows.
	Term   uint32
	Reason string
}

// Append encodes m.
func (m *Dismissed) Append(b []byte) []byte {
	return codec.AppendString(binary.AppendUvarint(b, uint64(m.Term)), m.Reason)
}

// Parse decodes a body.
func (m *Dismissed) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Term = fields.ReadUint32(&r)
	m.Reason = r.String(MaxReason)
	return done(&r, "dismissed")
}

func readDuration(r *codec.Reader) time.Duration {
	v := r.Uvarint()
	if v > 1<<62 {
		r.Fail(ErrMalformed)
		return 0
	}
	return time.Duration(v)
}
