package wire

import (
	"encoding/binary"
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/mercury"
)

// An app that an earlier start of the CellAppMgr welcomed says to the next one what
// it has, right after its Join and on the same channel:
//
//	app --Join (with the earlier term)--> manager
//	    --Rejoin------------------------>
//	    --RejoinCell-------------------->   one for each cell of a CellApp
//	    --RejoinEnd--------------------->
//	    <----------------------- Welcome
//
// A channel that ends before the Welcome voids all of it: on the next one the app
// begins again with its Join.

const (
	// MaxGraves bounds the dead starts in one Rejoin, which are those that an app
	// remembers: more than a cluster loses within the time that a late packet can live.
	MaxGraves = 1024

	// MaxPeerApps bounds the CellApps and BaseApps that one Rejoin names: as many as
	// can join in one term.
	MaxPeerApps = 2 << 12

	// MaxRejoinCells bounds the cells of one Rejoin: all spaces that there can be.
	MaxRejoinCells = 1 << 14
)

// AppRef names a start of an app.
type AppRef struct {
	Role Role
	App  mercury.Address
}

func appendAppRefs(b []byte, refs []AppRef) []byte {
	b = binary.AppendUvarint(b, uint64(len(refs)))
	for _, a := range refs {
		b = mercury.AppendAddress(append(b, byte(a.Role)), a.App)
	}
	return b
}

func readAppRefs(r *codec.Reader, most int) []AppRef {
	refs := make([]AppRef, r.Count(most, 3))
	for i := range refs {
		refs[i] = AppRef{Role: readRole(r), App: mercury.ReadAddress(r)}
	}
	return refs
}

// Rejoin is what any app tells a manager that does not know it.
type Rejoin struct {
	// Number and Allocator are as in the Welcome of the earlier manager.
	Number, Allocator uint32
	// GameTime is a CellApp's; 0 of others.
	GameTime time.Duration
	// Frozen says that the world was told to stand still.
	Frozen bool
	// Retiring says that a CellApp is to be shut down.
	Retiring bool
	// Graves are the starts of apps that the app was told are dead.
	Graves []AppRef
	// Peers are those on which, as far as the app knows, parts of its entities live:
	// bases, reals, ghosts, and those that are being handed over.
	Peers []AppRef
}

// Append encodes m.
func (m *Rejoin) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.Number))
	b = binary.AppendUvarint(b, uint64(m.Allocator))
	b = binary.AppendUvarint(b, uint64(m.GameTime))
	b = codec.AppendBool(b, m.Frozen)
	b = codec.AppendBool(b, m.Retiring)
	return appendAppRefs(appendAppRefs(b, m.Graves), m.Peers)
}

// Parse decodes a body.
func (m *Rejoin) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Number, m.Allocator = fields.ReadUint32(&r), fields.ReadUint32(&r)
	m.GameTime = readDuration(&r)
	m.Frozen, m.Retiring = r.Bool(), r.Bool()
	m.Graves = readAppRefs(&r, MaxGraves)
	m.Peers = readAppRefs(&r, MaxPeerApps)
	return done(&r, "rejoin")
}

// RejoinCell is one cell of a CellApp that rejoins. Like an AddCell it has one
// message to itself: the tree and the data of a space may be large.
type RejoinCell struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// Version is the geometry that the CellApp has, or zero if it needs a whole tree.
	Version bsp.Version
	// Tree is that geometry, whole; of a CellApp in doubt, the last that it had.
	Tree []byte // aliases the input after Parse
	// Data is the space data that the cell has.
	Data []SpaceDataEntry
	// Info is that of the AddCell.
	Info []byte // aliases the input after Parse
	// Clock is the newest game clock of the space that the cell has.
	Clock gametime.Clock
	// Ended says that the earlier manager has ended the space.
	Ended bool
}

// Append encodes m.
func (m *RejoinCell) Append(b []byte) []byte {
	b = appendCellID(binary.AppendUvarint(b, uint64(m.Space)), m.Cell)
	b = appendVersion(b, m.Version)
	b = codec.AppendBytes(b, m.Tree)
	b = binary.AppendUvarint(b, uint64(len(m.Data)))
	for i := range m.Data {
		b = m.Data[i].append(b)
	}
	b = codec.AppendBytes(b, m.Info)
	b = appendClock(b, &m.Clock)
	return codec.AppendBool(b, m.Ended)
}

// Parse decodes a body.
func (m *RejoinCell) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Space = entity.SpaceID(fields.ReadUint32(&r))
	m.Cell = readCellID(&r)
	m.Version = readVersion(&r)
	m.Tree = r.Bytes(MaxTree)
	m.Data = make([]SpaceDataEntry, r.Count(MaxSpaceData, minSpaceDataEntry))
	for i := range m.Data {
		m.Data[i].read(&r)
	}
	m.Info = r.Bytes(MaxSpaceInfo)
	readClock(&r, &m.Clock)
	m.Ended = r.Bool()
	return done(&r, "rejoin cell")
}

// RejoinEnd is the last word of a Rejoin.
type RejoinEnd struct {
	// Cells is how many RejoinCells there were.
	Cells uint32
}

// Append encodes m.
func (m *RejoinEnd) Append(b []byte) []byte { return binary.AppendUvarint(b, uint64(m.Cells)) }

// Parse decodes a body.
func (m *RejoinEnd) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Cells = fields.ReadUint32(&r)
	return done(&r, "rejoin end")
}
