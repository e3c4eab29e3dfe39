package wire

import (
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// A cell is removed by the CellAppMgr, the CellApp that runs the cell, and its peers, which run the
// other cells of the space:
//
//	manager --RemoveCell--> CellApp of the cell   waits for an ack of each peer, then
//	        <--CellRemoved--                      drops the cell
//	manager --CellGoing---> peer                  has sent the last that it will send
//	                        peer --RemovalAck---> CellApp of the cell
//
// The ack travels on the channel of the offloads, so it proves that none is in flight. All messages
// are repeated until the end, and are idempotent.

// MaxPeers bounds the peers of a cell.
const MaxPeers = bsp.MaxLeaves

// RemoveCell tells a CellApp that a cell of its own is no longer part of its space.
type RemoveCell struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// Ended means that the space has ended: what is left in the cell is destroyed, and no ack is
	// needed.
	Ended bool
	// Peers are the CellApps whose acks the cell must wait for.
	Peers []mercury.Address
}

func (m *RemoveCell) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
	c.Bool(&m.Ended)
	codec.List(c, &m.Peers, MaxPeers, 2, fields.Address)
}

func (m *RemoveCell) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RemoveCell) Parse(body []byte) error { return parse(body, m, m.code) }

// CellGoing tells a peer that a cell is no longer part of the space.
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

func (m *CellGoing) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CellGoing) Parse(body []byte) error { return parse(body, m, m.code) }

// RemovalAck says that a peer will send no more offloads and ghosts to the cell.
type RemovalAck struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

func (m *RemovalAck) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
}

func (m *RemovalAck) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RemovalAck) Parse(body []byte) error { return parse(body, m, m.code) }

// CellRemoved tells the manager that a CellApp does not have a cell, whether it has dropped it now
// or long ago.
type CellRemoved struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

func (m *CellRemoved) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
}

func (m *CellRemoved) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CellRemoved) Parse(body []byte) error { return parse(body, m, m.code) }

// RetireApp is a CellApp's request to be shut down, for which its cells must retire.
type RetireApp struct {
	// Reason is for the log.
	Reason string
}

func (m *RetireApp) code(c *codec.Coder) { c.String(&m.Reason, MaxReason) }

func (m *RetireApp) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RetireApp) Parse(body []byte) error { return parse(body, m, m.code) }

// Retired tells a CellApp that it has no cells left and is no longer a member, so it can end.
type Retired struct {
	// Number is the number that the CellApp had.
	Number uint32
}

func (m *Retired) code(c *codec.Coder) { codec.Uint32(c, &m.Number) }

func (m *Retired) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Retired) Parse(body []byte) error { return parse(body, m, m.code) }
