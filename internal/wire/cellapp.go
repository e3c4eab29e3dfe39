package wire

import (
	"encoding/binary"
	"errors"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/entity/shared"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/internal/spacekey"
	"github.com/cellscape/cellscape/space"
)

// MaxTree bounds an encoded partition tree, whole or as a delta.
const MaxTree = 512 << 10

// AddCell gives a CellApp a cell of a space, with everything that the space has. It is idempotent:
// a repeated AddCell is only confirmed again.
type AddCell struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// First means that this is the space's first cell ever.
	First bool
	// FromStore means that a store has kept the space, which has begun in an earlier start of the cluster.
	FromStore bool
	// Tree is the encoded geometry with its version: always a whole tree, since the receiver may
	// have none for a delta.
	Tree []byte // aliases the input after Parse
	// Data is the space data so far.
	Data []space.DataEntry
	// Clock is the game time of the space; see SpaceRate.
	Clock gametime.Clock
	// Info is what the manager wants to hear of the space again after a restart. Nobody else reads
	// it.
	Info []byte // aliases the input after Parse
}

// MaxSpaceInfo bounds AddCell.Info.
const MaxSpaceInfo = 1 << 10

// SpaceDataEntry is one entry of a space's data with its number, under the name that a CellAppMgr knows
// it by: there a space is something else.
type SpaceDataEntry = space.DataEntry

// MaxSpaceData bounds the entries of one space.
const MaxSpaceData = 4096

// MaxLostAreas bounds the lost areas of one space of which no game has been told yet (space.LostArea).
// They come on top of MaxSpaceData, which is the game's. Each is told within a tick or two, so there are
// more only if a hundred CellApps die at once.
const MaxLostAreas = 256

// MaxRemovedData bounds the removed entries of which everyone keeps a note, the newest. They take
// some bytes each. An app is out of the manager's reach for seconds at most, in which no game
// removes that many.
const MaxRemovedData = 1024

// minSpaceDataEntry is the shortest encoding of an entry.
const minSpaceDataEntry = 8

func (m *AddCell) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
	c.Bool(&m.First)
	c.Bool(&m.FromStore)
	c.Bytes(&m.Tree, MaxTree)
	codeSpaceData(c, &m.Data)
	codeClock(c, &m.Clock)
	c.Bytes(&m.Info, MaxSpaceInfo)
}

func (m *AddCell) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *AddCell) Parse(body []byte) error { return parse(body, m, m.code) }

func codeEntry(c *codec.Coder, e *space.DataEntry) {
	c.Uvarint(&e.Number)
	c.U16(&e.Key)
	codeDataID(c, &e.ID)
	c.Bool(&e.Removed)
	c.Bytes(&e.Value, MaxSpaceDataValue)
	codec.Uint32(c, &e.By)
	c.Uvarint(&e.Said)
}

// codeNamed codes an entry of a space, or of what the cluster shares, which has a name.
func codeNamed(c *codec.Coder, of entity.SpaceID, e *space.DataEntry) {
	codeEntry(c, e)
	codeName(c, of, e.Key, &e.Name)
}

func codeName(c *codec.Coder, of entity.SpaceID, key uint16, name *string) {
	if of != 0 {
		*name = "" // of what the message held before
		return
	}
	c.String(name, shared.MaxKey)
	if *name == "" || !spacekey.IsShared(key) {
		c.Fail(errNameless)
	}
}

var errNameless = errors.New("shared data without a name, or under an unknown key")

func codeDataID(c *codec.Coder, v *entity.DataID) {
	id := uint64(*v)
	c.Uvarint(&id)
	*v = entity.DataID(id)
}

func codeSpaceData(c *codec.Coder, v *[]space.DataEntry) {
	codec.List(c, v, MaxSpaceData+MaxLostAreas+MaxRemovedData, minSpaceDataEntry, codeEntry)
}

// Geometry is a new version of a space's partition, from a bsp.Publisher to a bsp.Follower. The
// receiver ignores an older version than its own.
type Geometry struct {
	Space entity.SpaceID
	// Tree is a whole tree, or a delta from what the receiver should have.
	Tree []byte // aliases the input after Parse
}

func (m *Geometry) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	c.Bytes(&m.Tree, MaxTree)
}

func (m *Geometry) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Geometry) Parse(body []byte) error { return parse(body, m, m.code) }

// SpaceData is a numbered change of a space's data, or of what the cluster shares, with Space 0.
type SpaceData struct {
	Space entity.SpaceID
	Entry space.DataEntry // Value aliases the input after Parse
}

func (m *SpaceData) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeNamed(c, m.Space, &m.Entry)
}

func (m *SpaceData) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceData) Parse(body []byte) error { return parse(body, m, m.code) }

// SharedData is all that the cluster shares: to an app that the manager has welcomed, and from an app
// to another manager, in its Rejoin.
type SharedData struct {
	Last uint64 // the highest number so far
	Data []space.DataEntry
}

func (m *SharedData) code(c *codec.Coder) {
	c.Uvarint(&m.Last)
	codec.List(c, &m.Data, shared.MaxKeys+MaxServices+MaxRemovedData, minSpaceDataEntry+2, func(c *codec.Coder, e *space.DataEntry) { codeNamed(c, 0, e) })
}

func (m *SharedData) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SharedData) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxServices bounds the fragments of services, which are shared data beside the game's, the notes of
// updates, of which each app has one, and settings: some services on each of a hundred BaseApps.
const MaxServices = 1024

// ClientMove is a client's report of where its entity is, which its proxy passes on unreliably.
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

// Steer is a client's report of where an entity is that it controls beside its own. The client's proxy
// passes it on to its cell part, and that to the entity, both unreliably.
type Steer struct{ flow.Steer }

// Append encodes m.
func (m *Steer) Append(b []byte) []byte { return m.AppendBody(b) }

// Parse decodes a body.
func (m *Steer) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Read(&r)
	return done(&r, "steer")
}

func codeClock(c *codec.Coder, k *gametime.Clock) {
	c.Uvarint(&k.Number)
	codeDuration(c, &k.At)
	codeDuration(c, &k.Game)
	codec.Field(c, &k.Rate, appendRate, readRate)
}

func appendRate(b []byte, v uint16) []byte { return binary.AppendUvarint(b, uint64(v)) }

func readRate(r *codec.Reader) uint16 {
	v := r.Uvarint()
	if v > gametime.NormalRate {
		r.Fail(ErrMalformed)
		return 0
	}
	return uint16(v)
}

// SpaceRate changes how fast the game time of a space runs. The receiver ignores one with an older
// number than its own. It is sent some time ahead of At, so that all cells of the space change
// together.
type SpaceRate struct {
	Space entity.SpaceID
	Clock gametime.Clock
}

func (m *SpaceRate) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeClock(c, &m.Clock)
}

func (m *SpaceRate) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceRate) Parse(body []byte) error { return parse(body, m, m.code) }
