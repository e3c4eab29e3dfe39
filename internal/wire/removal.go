package wire

import (
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// The removal of a cell, between a CellAppMgr, the CellApp that runs the cell, and
// its peers, which run the other cells of the space:
//
//	manager --RemoveCell--> CellApp of the cell   waits for an ack of each peer, then
//	        <--CellRemoved--                      drops the cell
//	manager --CellGoing---> peer                  has sent the last that it will send
//	                        peer --RemovalAck---> CellApp of the cell
//
// The ack travels on the channel of the offloads, so it proves that none is in
// flight. Everything is repeated until the end, and means the same a second time.

// MaxPeers bounds the peers of a cell.
const MaxPeers = bsp.MaxLeaves

// RemoveCell tells a CellApp that a cell of it is not part of its space any more.
type RemoveCell struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// Ended says that the space has ended: what is left in the cell is destroyed, and
	// nobody's ack is waited for.
	Ended bool
	// Peers are the CellApps whose acks are to be waited for.
	Peers []mercury.Address
}

func (m *RemoveCell) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
	c.Bool(&m.Ended)
	codec.List(c, &m.Peers, MaxPeers, 2, fields.Address)
}

// Append and Parse are what code describes.
func (m *RemoveCell) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RemoveCell) Parse(body []byte) error { return parse(body, m, m.code) }

// CellGoing tells a peer that a cell is not part of the space any more.
type CellGoing struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// App runs the cell.
	App mercury.Address
}

func (m *CellGoing) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
	fields.Address(c, &m.App)
}

// Append and Parse are what code describes.
func (m *CellGoing) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CellGoing) Parse(body []byte) error { return parse(body, m, m.code) }

// RemovalAck is a peer's word that it sends no offload and no ghost to the cell any
// more.
type RemovalAck struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

func (m *RemovalAck) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
}

// Append and Parse are what code describes.
func (m *RemovalAck) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RemovalAck) Parse(body []byte) error { return parse(body, m, m.code) }

// CellRemoved tells the manager that a CellApp does not have a cell, whether it has
// dropped it now or long ago.
type CellRemoved struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

func (m *CellRemoved) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
}

// Append and Parse are what code describes.
func (m *CellRemoved) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CellRemoved) Parse(body []byte) error { return parse(body, m, m.code) }

// RetireApp is a CellApp's wish to be shut down: its cells are to retire.
type RetireApp struct {
	// Reason is for the log.
	Reason string
}

func (m *RetireApp) code(c *codec.Coder) { c.String(&m.Reason, MaxReason) }

// Append and Parse are what code describes.
func (m *RetireApp) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RetireApp) Parse(body []byte) error { return parse(body, m, m.code) }

// Retired tells a CellApp that it has no cells any more and is no member any more:
// it can end.
type Retired struct {
	// Number is the one that it had.
	Number uint32
}

func (m *Retired) code(c *codec.Coder) { codec.Uint32(c, &m.Number) }

// Append and Parse are what code describes.
func (m *Retired) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Retired) Parse(body []byte) error { return parse(body, m, m.code) }
