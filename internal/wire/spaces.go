package wire

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// A space that game code creates lives between an app and the CellAppMgr:
//
//	app --CreateSpace--> manager   makes the space's record, and its first cell as
//	    <--SpaceCreated--          soon as there is a CellApp for it
//	app --DestroySpace-> manager   destroys what is in it, and takes its cells away
//	    <-SpaceDestroyed-
//
// Both requests are errands (internal/app): they are repeated until they are answered, and are
// idempotent.

// CreateSpace asks the manager for a new space.
type CreateSpace struct {
	Request uint64
	// Number is the asker's. The same number from the same start of an app means the same space.
	Number uint64
	Info   entity.SpaceInfo
}

func (m *CreateSpace) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.Uvarint(&m.Number)
	fields.SpaceInfo(c, &m.Info)
	codec.List(c, &m.Info.Data, limits.SpaceStart, 5, func(c *codec.Coder, d *entity.SpaceDatum) {
		c.U16(&d.Key)
		c.Uvarint((*uint64)(&d.ID)) // whoever makes spaces of it judges
		c.Bool(&d.Removed)
		c.Bytes(&d.Value, limits.SpaceStartBytes)
	})
}

func (m *CreateSpace) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CreateSpace) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *CreateSpace) Call() *uint64           { return &m.Request }

// SpaceCreated answers a CreateSpace.
type SpaceCreated struct {
	Request uint64
	// Space is the new space; 0 if there is none, for the reason given.
	Space  entity.SpaceID
	Reason string
	// Full says that the reason is the number of spaces.
	Full bool
}

func (m *SpaceCreated) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	codec.Uint32(c, &m.Space)
	c.String(&m.Reason, MaxReason)
	c.Bool(&m.Full)
}

func (m *SpaceCreated) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceCreated) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *SpaceCreated) Call() *uint64           { return &m.Request }

// DestroySpace asks the manager to end a space with everything in it.
type DestroySpace struct {
	Request uint64
	Space   entity.SpaceID
}

func (m *DestroySpace) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	codec.Uint32(c, &m.Space)
}

func (m *DestroySpace) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *DestroySpace) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *DestroySpace) Call() *uint64           { return &m.Request }

// SpaceDestroyed answers a DestroySpace: unless there is a reason, the space ends or does not
// exist.
type SpaceDestroyed struct {
	Request uint64
	// Reason says why the space stays; "" if it does not.
	Reason string
}

func (m *SpaceDestroyed) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Reason, MaxReason)
}

func (m *SpaceDestroyed) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceDestroyed) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *SpaceDestroyed) Call() *uint64           { return &m.Request }
