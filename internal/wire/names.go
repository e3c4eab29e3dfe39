package wire

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// The names of bases are kept by the BaseAppMgr:
//
//	BaseApp --RegisterName--> BaseAppMgr   is it free?
//	        <---NameHeld-----
//	        ----FindName---->              who has it?
//	        <---NameHeld-----
//	        ----NameGone---->              it is free again
//	        <---NameLost-----              another base has it, which was known first
//	        -----Names------>              right after a Join: all names of the bases there
//	        ---Inherited---->              after the death of another: these were all that came here

// RegisterName asks for a name for a base of the sender. To ask again is the same as once.
type RegisterName struct {
	Request uint64
	Name    string
	ID      entity.ID
	Type    uint16
	Life    uint32 // of the base
	// Claim says that the base is yet to be made, and is only if it gets the name: until it asks
	// without that, others who want the name, or look for it, are not answered.
	Claim bool
}

func (m *RegisterName) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Name, limits.BaseName)
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	codec.Uint32(c, &m.Life)
	c.Bool(&m.Claim)
}

func (m *RegisterName) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RegisterName) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *RegisterName) Call() *uint64           { return &m.Request }

// FindName asks who has a name.
type FindName struct {
	Request uint64
	Name    string
}

func (m *FindName) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Name, limits.BaseName)
}

func (m *FindName) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *FindName) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *FindName) Call() *uint64           { return &m.Request }

// NameHeld answers a RegisterName and a FindName: who has the name now.
type NameHeld struct {
	Request uint64
	// ID is the base that has it, of a type and on an app; 0 if nobody has.
	ID   entity.ID
	Type uint16
	App  mercury.Address
	// Reason says why a RegisterName was refused although nobody has the name.
	Reason string
}

func (m *NameHeld) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	fields.ID(c, &m.ID)
	c.U16(&m.Type)
	fields.Address(c, &m.App)
	c.String(&m.Reason, MaxReason)
}

func (m *NameHeld) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *NameHeld) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *NameHeld) Call() *uint64           { return &m.Request }

// NameGone tells the BaseAppMgr that a base has given up its name, or has ended.
type NameGone struct {
	Name string
	ID   entity.ID
}

func (m *NameGone) code(c *codec.Coder) {
	c.String(&m.Name, limits.BaseName)
	fields.ID(c, &m.ID)
}

func (m *NameGone) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *NameGone) Parse(body []byte) error { return parse(body, m, m.code) }

// NameLost tells a BaseApp that a name which it has announced is another base's. It is told again
// each time the name is announced.
type NameLost struct {
	Name string
	ID   entity.ID // of the base that has lost it
	// Holder is the base that has it, of a type and on an app.
	Holder entity.ID
	Type   uint16
	App    mercury.Address
}

func (m *NameLost) code(c *codec.Coder) {
	c.String(&m.Name, limits.BaseName)
	fields.ID(c, &m.ID)
	fields.ID(c, &m.Holder)
	c.U16(&m.Type)
	fields.Address(c, &m.App)
}

func (m *NameLost) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *NameLost) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxNamed bounds the names in one Names message: 70 KB of the longest.
const MaxNamed = 256

// Names tells the BaseAppMgr the names of the bases on the sending BaseApp, in as many messages as
// needed. Last is set in the last one. What the BaseAppMgr has beside them is gone.
type Names struct {
	Entries []Named
	Last    bool
}

// Named is one entry of Names.
type Named struct {
	Name string
	ID   entity.ID
	Type uint16
	// Life is that of the base, as in Proxy.
	Life uint32
	// Claim says that the base is yet to be made, as in RegisterName.
	Claim bool
}

func (m *Names) code(c *codec.Coder) {
	codec.List(c, &m.Entries, MaxNamed, 6, func(c *codec.Coder, n *Named) {
		c.String(&n.Name, limits.BaseName)
		fields.ID(c, &n.ID)
		c.U16(&n.Type)
		codec.Uint32(c, &n.Life)
		c.Bool(&n.Claim)
	})
	c.Bool(&m.Last)
}

func (m *Names) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Names) Parse(body []byte) error { return parse(body, m, m.code) }

// Inherited says that a BaseApp has told of all accounts and names that came to it with the bases of an
// app that died, or with a part of its bases (migrate.Leave).
type Inherited struct {
	App  mercury.Address
	Turn uint64
}

func (m *Inherited) code(c *codec.Coder) {
	fields.Address(c, &m.App)
	c.Uvarint(&m.Turn)
}

func (m *Inherited) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Inherited) Parse(body []byte) error { return parse(body, m, m.code) }
