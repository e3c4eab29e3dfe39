package wire

import (
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/store"
	"github.com/cellscape/cellscape/entity/stored"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// StoreOp is what a BaseApp wants of the store.
type StoreOp uint8

// These are the things that a BaseApp may want. Each means the same a second time.
const (
	// StoreBegin asks which start of the cluster this is, and tells it if the app knows.
	StoreBegin StoreOp = 1 + iota
	// StoreReserve asks for a database id.
	StoreReserve
	// StoreCreate makes a row, and StoreWrite replaces what it has.
	StoreCreate
	StoreWrite
	// StoreLoad checks a row out and reads it.
	StoreLoad
	// StoreFree gives a row back that was not written.
	StoreFree
	// StoreTakeOver moves the check-out of a base that died with its BaseApp to the heir.
	StoreTakeOver
	// StoreDelete removes a row.
	StoreDelete
	// StoreQuery asks for rows by a column; Data is RowsWanted, and that of the answer RowsFound.
	StoreQuery
	lastStoreOp = StoreQuery
)

// MaxIdentifier bounds the identifier of an entity that is looked up: what a column takes.
const MaxIdentifier = store.MaxColumn

// CallStore asks the DBApp for something. The app and the start that it acts for are the sender's.
type CallStore struct {
	Request uint64
	// Number is the sender's. The same number means the same call, which is repeated.
	Number uint64
	// Start is the start of the cluster that the sender knows, and World that of the store in which it
	// began; 0 in the first StoreBegin.
	Start uint64
	World uint64
	Op    StoreOp
	Type  string
	Row   uint64
	// Identifier finds the row of a StoreLoad with Row 0.
	Identifier string
	// Entity is that as which the row is, or is to be, live; FromApp is the allocator of the app that had
	// it before.
	Entity  entity.ID
	FromApp uint32
	Version uint64
	Release bool
	// AutoLoad marks an entity that is to come back when the cluster starts.
	AutoLoad bool
	// Data is the record, which also has the columns; of a StoreQuery, RowsWanted.
	Data []byte
}

func (m *CallStore) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	c.Uvarint(&m.Number)
	c.Uvarint(&m.Start)
	c.Uvarint(&m.World)
	codec.Enum(c, &m.Op, StoreBegin, lastStoreOp)
	c.String(&m.Type, MaxTypeName)
	c.Uvarint(&m.Row)
	c.String(&m.Identifier, MaxIdentifier)
	fields.ID(c, &m.Entity)
	codec.Uint32(c, &m.FromApp)
	c.Uvarint(&m.Version)
	c.Bool(&m.Release)
	c.Bool(&m.AutoLoad)
	c.Bytes(&m.Data, store.MaxData)
}

func (m *CallStore) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CallStore) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *CallStore) Call() *uint64           { return &m.Request }

// StoreAnswer says what became of a CallStore.
type StoreAnswer struct {
	Request uint64
	Code    stored.Code
	Reason  string
	// Holder is who has the row, if Code is stored.Held and this start of the cluster gave it away.
	Holder entity.ID
	// Start and World answer a StoreBegin, Row a StoreReserve; the rest is of a StoreLoad or
	// StoreTakeOver.
	Start   uint64
	World   uint64
	Row     uint64
	Version uint64
	Data    []byte
}

func (m *StoreAnswer) code(c *codec.Coder) {
	c.Uvarint(&m.Request)
	codec.Enum(c, &m.Code, stored.Done, stored.LastCode)
	c.String(&m.Reason, MaxReason)
	fields.ID(c, &m.Holder)
	c.Uvarint(&m.Start)
	c.Uvarint(&m.World)
	c.Uvarint(&m.Row)
	c.Uvarint(&m.Version)
	c.Bytes(&m.Data, store.MaxData)
}

func (m *StoreAnswer) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *StoreAnswer) Parse(body []byte) error { return parse(body, m, m.code) }
func (m *StoreAnswer) Call() *uint64           { return &m.Request }
