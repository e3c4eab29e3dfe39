package wire

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/space"
)

// What a space has besides its entities is in the store, too, so that a cluster that starts anew has it:
//
//	manager --KeepSpace--> DBApp --SpaceKept--> manager     it was created, or its data changed
//	        --KeepOnly-->        --OnlyKept-->              spaces have ended
//
//	DBApp --BringSpace--> next manager --SpaceBrought--> DBApp    before its world begins

// KeptSpace is what the store keeps of a space.
type KeptSpace struct {
	Space entity.SpaceID
	// Info is as in AddCell; empty for a space of the configuration.
	Info []byte // aliases the input after Parse
	Data []space.DataEntry
}

func (m *KeptSpace) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	c.Bytes(&m.Info, MaxSpaceInfo)
	codeSpaceData(c, &m.Data)
}

// Blob is the form of it in the store, which ParseKeptSpace reads.
func (m *KeptSpace) Blob() []byte { return codec.Append(nil, m.code) }

// ParseKeptSpace reads what Blob made.
func ParseKeptSpace(b []byte) (m KeptSpace, err error) {
	err = codec.Parse(b, m.code)
	return m, err
}

// KeepSpace has the store keep a space as it is now. It means the same a second time.
type KeepSpace struct {
	// Number is higher for a later state of the space.
	Number uint64
	KeptSpace
}

func (m *KeepSpace) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	m.KeptSpace.code(c)
}

func (m *KeepSpace) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *KeepSpace) Parse(body []byte) error { return parse(body, m, m.code) }

// SpaceKept says what became of a KeepSpace.
type SpaceKept struct {
	Number uint64
	Space  entity.SpaceID
	// Reason says why it is not kept; "" if it is.
	Reason string
}

func (m *SpaceKept) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	codec.Uint32(c, &m.Space)
	c.String(&m.Reason, MaxReason)
}

func (m *SpaceKept) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceKept) Parse(body []byte) error { return parse(body, m, m.code) }

// KeepOnly has the store forget all spaces but those that live. It means the same a second time.
type KeepOnly struct {
	Number uint64
	Spaces []entity.SpaceID // in rising order
}

func (m *KeepOnly) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	codec.List(c, &m.Spaces, MaxRejoinCells, 1, codec.Uint32[entity.SpaceID])
}

func (m *KeepOnly) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *KeepOnly) Parse(body []byte) error { return parse(body, m, m.code) }

// OnlyKept says that a KeepOnly was done.
type OnlyKept struct {
	Number uint64
	// Reason says why not; "" if it was.
	Reason string
}

func (m *OnlyKept) code(c *codec.Coder) {
	c.Uvarint(&m.Number)
	c.String(&m.Reason, MaxReason)
}

func (m *OnlyKept) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *OnlyKept) Parse(body []byte) error { return parse(body, m, m.code) }

// BringSpace tells the CellAppMgr of a space that the store has kept, before the world begins.
type BringSpace struct {
	Request uint64
	// All says that there are no more than those before; the space is none.
	All bool
	KeptSpace
}

func (m *BringSpace) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.Bool(&m.All)
	m.KeptSpace.code(c)
}

func (m *BringSpace) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *BringSpace) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *BringSpace) Call() *uint64           { return &m.Request }

// SpaceBrought answers a BringSpace.
type SpaceBrought struct {
	Request uint64
	// Reason says why there is no such space; "" if there is.
	Reason string
}

func (m *SpaceBrought) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.String(&m.Reason, MaxReason)
}

func (m *SpaceBrought) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceBrought) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *SpaceBrought) Call() *uint64           { return &m.Request }
