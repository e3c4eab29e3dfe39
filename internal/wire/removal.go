package wire

import (
	"encoding/binary"

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

// Append encodes m.
func (m *RemoveCell) Append(b []byte) []byte {
	b = appendCellID(binary.AppendUvarint(b, uint64(m.Space)), m.Cell)
	b = codec.AppendBool(b, m.Ended)
	b = binary.AppendUvarint(b, uint64(len(m.Peers)))
	for _, p := range m.Peers {
		b = mercury.AppendAddress(b, p)
	}
	return b
}

// Parse decodes a body.
func (m *RemoveCell) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Cell = readCellID(&r)
	m.Ended = r.Bool()
	n := r.Count(MaxPeers, 2)
	m.Peers = make([]mercury.Address, n)
	for i := range m.Peers {
		m.Peers[i] = mercury.ReadAddress(&r)
	}
	return done(&r, "remove cell")
}

// CellGoing tells a peer that a cell is not part of the space any more.
type CellGoing struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// App runs the cell.
	App mercury.Address
}

// Append encodes m.
func (m *CellGoing) Append(b []byte) []byte {
	b = appendCellID(binary.AppendUvarint(b, uint64(m.Space)), m.Cell)
	return mercury.AppendAddress(b, m.App)
}

// Parse decodes a body.
func (m *CellGoing) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Cell = readCellID(&r)
	m.App = mercury.ReadAddress(&r)
	return done(&r, "cell going")
}

// RemovalAck is a peer's word that it sends no offload and no ghost to the cell any
// more.
type RemovalAck struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

// Append encodes m.
func (m *RemovalAck) Append(b []byte) []byte {
	return appendCellID(binary.AppendUvarint(b, uint64(m.Space)), m.Cell)
}

// Parse decodes a body.
func (m *RemovalAck) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Cell = readCellID(&r)
	return done(&r, "removal ack")
}

// CellRemoved tells the manager that a CellApp does not have a cell, whether it has
// dropped it now or long ago.
type CellRemoved struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

// Append encodes m.
func (m *CellRemoved) Append(b []byte) []byte {
	return appendCellID(binary.AppendUvarint(b, uint64(m.Space)), m.Cell)
}

// Parse decodes a body.
func (m *CellRemoved) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Cell = readCellID(&r)
	return done(&r, "cell removed")
}

// RetireApp is a CellApp's wish to be shut down: its cells are to retire.
type RetireApp struct {
	// Reason is for the log.
	Reason string
}

// Append encodes m.
func (m *RetireApp) Append(b []byte) []byte { return codec.AppendString(b, m.Reason) }

// Parse decodes a body.
func (m *RetireApp) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Reason = r.String(MaxReason)
	return done(&r, "retire app")
}

// Retired tells a CellApp that it has no cells any more and is no member any more:
// it can end.
type Retired struct {
	// Number is the one that it had.
	Number uint32
}

// Append encodes m.
func (m *Retired) Append(b []byte) []byte { return binary.AppendUvarint(b, uint64(m.Number)) }

// Parse decodes a body.
func (m *Retired) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Number = fields.ReadUint32(&r)
	return done(&r, "retired")
}
