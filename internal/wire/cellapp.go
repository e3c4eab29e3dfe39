package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
)

// MaxTree bounds an encoded partition tree, whole or as a delta.
const MaxTree = 512 << 10

// AddCell gives a CellApp a cell of a space, with all that the space has. It is
// idempotent: the same cell again is only confirmed again.
type AddCell struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// First says that this is the space's first cell ever.
	First bool
	// Tree is the encoded geometry, with its version: always a whole one, since the
	// receiver may have none to apply a delta to.
	Tree []byte // aliases the input after Parse
	// Data is the space data so far.
	Data []SpaceDataEntry
	// Clock is the game time of the space; see SpaceRate.
	Clock gametime.Clock
	// Info is what the manager wants to be told of the space again if it is
	// started anew. Nobody else reads it.
	Info []byte // aliases the input after Parse
}

// MaxSpaceInfo bounds AddCell.Info.
const MaxSpaceInfo = 1 << 10

// SpaceDataEntry is one entry of a space's data with its number.
type SpaceDataEntry struct {
	// Number is above those of all earlier changes of the space's data: see SpaceDataBase.
	Number uint64
	Key    uint16
	Value  []byte
	// By is the allocator of the CellApp that set it, and Said the number that it gave the
	// SetSpaceData, if it did: a manager of a later term knows by them what was handled.
	By   uint32
	Said uint64
}

// spaceDataShift leaves a CellAppMgr 48 bits for the changes of one space's data: a
// million of them a second for nine years.
const spaceDataShift = 48

// SpaceDataBase is below the numbers that a CellAppMgr of a term gives to changes of a
// space's data, and above those of every lower term. A manager that starts anew does not
// know what was told to those whom it does not hear; had it a number twice, who has seen
// the first would take the second for old.
func SpaceDataBase(term uint32) uint64 { return uint64(max(term, 1)-1) << spaceDataShift }

// MaxSpaceData bounds the entries of one space.
const MaxSpaceData = 4096

// minSpaceDataEntry is the shortest encoding of an entry.
const minSpaceDataEntry = 6

// Append encodes m.
func (m *AddCell) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Space))
	b = appendCellID(b, m.Cell)
	b = codec.AppendBool(b, m.First)
	b = codec.AppendBytes(b, m.Tree)
	b = binary.AppendUvarint(b, uint64(len(m.Data)))
	for i := range m.Data {
		b = m.Data[i].append(b)
	}
	b = appendClock(b, &m.Clock)
	return codec.AppendBytes(b, m.Info)
}

// Parse decodes a body.
func (m *AddCell) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Cell = readCellID(&r)
	m.First = r.Bool()
	m.Tree = r.Bytes(MaxTree)
	n := r.Count(MaxSpaceData, minSpaceDataEntry)
	m.Data = make([]SpaceDataEntry, n)
	for i := range m.Data {
		m.Data[i].read(&r)
	}
	readClock(&r, &m.Clock)
	m.Info = r.Bytes(MaxSpaceInfo)
	return done(&r, "add cell")
}

func (e *SpaceDataEntry) append(b []byte) []byte {
	b = binary.AppendUvarint(b, e.Number)
	b = binary.LittleEndian.AppendUint16(b, e.Key)
	b = codec.AppendBytes(b, e.Value)
	b = binary.AppendUvarint(b, uint64(e.By))
	return binary.AppendUvarint(b, e.Said)
}

func (e *SpaceDataEntry) read(r *codec.Reader) {
	e.Number = r.Uvarint()
	e.Key = r.U16()
	e.Value = r.Bytes(MaxSpaceDataValue)
	e.By = fields.ReadUint32(r)
	e.Said = r.Uvarint()
}

// Geometry is a new version of a space's partition, as a bsp.Publisher tells it to
// a bsp.Follower. An older one than the receiver has is ignored.
type Geometry struct {
	Space entity.SpaceID
	// Tree is a whole tree, or a delta from what the receiver should have.
	Tree []byte // aliases the input after Parse
}

// Append encodes m.
func (m *Geometry) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Space))
	return codec.AppendBytes(b, m.Tree)
}

// Parse decodes a body.
func (m *Geometry) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Tree = r.Bytes(MaxTree)
	return done(&r, "geometry")
}

// SpaceData is a numbered change of a space's data.
type SpaceData struct {
	Space entity.SpaceID
	Entry SpaceDataEntry // Value aliases the input after Parse
}

// Append encodes m.
func (m *SpaceData) Append(b []byte) []byte {
	return m.Entry.append(binary.AppendUvarint(b, uint64(m.Space)))
}

// Parse decodes a body.
func (m *SpaceData) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Entry.read(&r)
	return done(&r, "space data")
}

// ClientMove is where a client says its entity is, passed on by its proxy,
// unreliably.
type ClientMove struct {
	ID entity.ID
	flow.ClientRest
}

// Append encodes m.
func (m *ClientMove) Append(b []byte) []byte {
	return m.ClientRest.AppendBody(fields.AppendID(b, m.ID))
}

// Parse decodes a body.
func (m *ClientMove) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.ID = fields.ReadID(&r)
	m.Read(&r)
	return done(&r, "client move")
}

func appendClock(b []byte, k *gametime.Clock) []byte {
	b = binary.AppendUvarint(b, k.Number)
	b = binary.AppendUvarint(b, uint64(k.At))
	b = binary.AppendUvarint(b, uint64(k.Game))
	return binary.AppendUvarint(b, uint64(k.Rate))
}

func readClock(r *codec.Reader, k *gametime.Clock) {
	k.Number = r.Uvarint()
	k.At, k.Game = readDuration(r), readDuration(r)
	k.Rate = readRate(r)
}

func readRate(r *codec.Reader) uint16 {
	v := r.Uvarint()
	if v > gametime.NormalRate {
		r.Fail(ErrMalformed)
		return 0
	}
	return uint16(v)
}

// SpaceRate changes how fast the game time of a space runs. One with an older number
// than the receiver has is ignored. It is sent some time ahead of At, so that all
// cells of the space change over together.
type SpaceRate struct {
	Space entity.SpaceID
	Clock gametime.Clock
}

// Append encodes m.
func (m *SpaceRate) Append(b []byte) []byte {
	return appendClock(binary.AppendUvarint(b, uint64(m.Space)), &m.Clock)
}

// Parse decodes a body.
func (m *SpaceRate) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	readClock(&r, &m.Clock)
	return done(&r, "space rate")
}
