package wire

import (
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// A base that game code wants on another BaseApp is made in two steps:
//
//	BaseApp --PlaceBase-> BaseAppMgr                        which is the least loaded?
//	        <-BasePlaced-
//	        --CreateBase->           --MakeBase--> BaseApp  make it there
//	        <--BaseMade---           <--BaseMade--
//
// Both questions are errands (internal/app): they are repeated until they are answered, and mean the
// same each time. So the asker is told where first, and the BaseApp there remembers what it has made
// for whom.

// PlaceBase asks the BaseAppMgr for the least loaded BaseApp.
type PlaceBase struct{ Request uint64 }

func (m *PlaceBase) code(c *codec.Coder) { c.Uvarint(&m.Request) }

func (m *PlaceBase) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *PlaceBase) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *PlaceBase) Call() *uint64           { return &m.Request }

// BasePlaced answers a PlaceBase.
type BasePlaced struct {
	Request uint64
	App     mercury.Address
}

func (m *BasePlaced) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	fields.Address(c, &m.App)
}

func (m *BasePlaced) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BasePlaced) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *BasePlaced) Call() *uint64           { return &m.Request }

// BaseLoad tells the BaseAppMgr, every ReportPeriod, how many bases the sender has, and the
// processor time that its thread has used since it started.
type BaseLoad struct {
	Bases uint32
	CPU   time.Duration
}

func (m *BaseLoad) code(c *codec.Coder) {
	codec.Uint32(c, &m.Bases)
	codeDuration(c, &m.CPU)
}

func (m *BaseLoad) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BaseLoad) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxBaseProps bounds the properties with which a base is made elsewhere, packed and unpacked: half
// of what a channel takes.
const MaxBaseProps = 512 << 10

// NewBase is what CreateBase and MakeBase say of the base.
type NewBase struct {
	// Number is the asker's. The same number from the same start of an app means the same base.
	Number uint64
	Type   uint16
	// Props are its first values (property.BaseStream), as a property.Compressor packs them.
	Props []byte
}

func (n *NewBase) code(c *codec.Coder) {
	c.Uvarint(&n.Number)
	c.U16(&n.Type)
	c.Bytes(&n.Props, MaxBaseProps)
}

// CreateBase asks the BaseAppMgr to have a base made on a BaseApp. While that is known but away,
// there is no answer.
type CreateBase struct {
	Request uint64
	On      mercury.Address
	NewBase
}

func (m *CreateBase) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	fields.Address(c, &m.On)
	m.NewBase.code(c)
}

func (m *CreateBase) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CreateBase) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *CreateBase) Call() *uint64           { return &m.Request }

// MakeBase passes a CreateBase on to the BaseApp.
type MakeBase struct {
	Request uint64
	// Asker is the BaseApp that numbered it.
	Asker mercury.Address
	NewBase
}

func (m *MakeBase) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	fields.Address(c, &m.Asker)
	m.NewBase.code(c)
}

func (m *MakeBase) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *MakeBase) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *MakeBase) Call() *uint64           { return &m.Request }

// BaseMade answers a MakeBase at the BaseAppMgr and a CreateBase at the BaseApp that asked.
type BaseMade struct {
	Request uint64
	// ID is the base; 0 if there is none, for the reason given.
	ID     entity.ID
	Reason string
	// Gone says that the BaseApp was asked, or was to be, and is in the cluster no more. Nobody
	// knows whether it has made the base, which may live on elsewhere.
	Gone bool
}

func (m *BaseMade) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	fields.ID(c, &m.ID)
	c.String(&m.Reason, MaxReason)
	c.Bool(&m.Gone)
}

func (m *BaseMade) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BaseMade) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *BaseMade) Call() *uint64           { return &m.Request }
