package wire

import (
	"math"

	"encoding/binary"
	"errors"
	"time"

	"github.com/cellscape/cellscape/balance/load"
	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Join asks a manager to take an app into the cluster.
type Join struct {
	Role Role
	// Digest is the digest of all definitions (property.Schema.Digest); an observer leaves it zero.
	Digest [16]byte
	// Term is the term of the manager that welcomed this start of the app, if that was another one;
	// a Rejoin follows. It is 0 for a new start, and for an app that comes back to the manager it
	// knows.
	Term uint32
	// Speaks are the versions of the messages that the app can speak. Up to here a Join never changes.
	Speaks Versions
}

// Append encodes m.
func (m *Join) Append(b []byte) []byte {
	b = append(b, byte(m.Role))
	b = append(b, m.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(m.Term))
	if m.Speaks == (Versions{}) {
		return b // so says who knows of no versions
	}
	return codec.Append(b, m.Speaks.code)
}

// Parse decodes a body. Of one of another version it reads what never changes.
func (m *Join) Parse(body []byte) error {
	r := codec.NewReader(body)
	*m = Join{Role: Role(r.U8())}
	copy(m.Digest[:], r.Take(len(m.Digest)))
	m.Term = fields.ReadUint32(&r)
	if r.Len() > 0 {
		m.Speaks = Versions{r.U16(), r.U16()}
		if m.Speaks == (Versions{}) {
			r.Fail(errNoVersion) // there is one encoding of each
		}
	}
	if !m.Speaks.foreign(&r) && (m.Role < CellAppMgr || m.Role > Observer) {
		r.Fail(codec.ErrValue)
	}
	return done(&r, "join")
}

var (
	errUnknownFlags = errors.New("unknown flags")
	errNoProfile    = errors.New("an announced part is empty")
	errNoVersion    = errors.New("no version is said as one")
)

// CellsReport is a CellApp's report on its cells, several times a second. It may leave out a cell
// with nothing new for about a second; what was said last remains true.
type CellsReport struct {
	// Further means that this continues the last report, which had Load.
	Further bool
	// Load is the CellApp's load in nanoseconds of work per second: that of its cells and of its
	// other work.
	Load int64
	// SavingStep is how many steps the CellApp has taken to save work, 0 for none.
	SavingStep uint8
	// Saves is what the steps amount to, in thousandths: of budgets, details and the rate of time.
	Saves [3]uint16
	// Time is the time of the cluster as the CellApp knows it, 0 if it does not say.
	Time  time.Duration
	Cells []CellReport
}

// CellReport is one cell of a CellsReport.
type CellReport struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// Version is the geometry that the CellApp has, or zero if it needs a whole tree.
	Version bsp.Version
	// Load is in nanoseconds of work per second.
	Load int64
	// Gained is the load of the reals that have come to the cell since it was made, less the load
	// of those that have left. It may be negative; only differences count.
	Gained        int64
	Reals, Ghosts uint32
	// Handoffs is how many reals are being handed over from here.
	Handoffs uint32
	// Held means that the cell has had a real with a base at some time, Occupied that it has one, or
	// hands one over.
	Held, Occupied bool
	// Rate is how fast the cell wants the game time of its space to run, in thousandths, at most
	// gametime.NormalRate. Both that and 0 ask for nothing.
	Rate uint16
	// Clock is the number of the space's clock that the CellApp has.
	Clock uint64
	// Loaded is the part of the space's geometry that the cell has loaded, the zero Rect for none.
	Loaded bsp.Rect
	// Profile and Edges tell where the load lies.
	Profile load.Profile
	Edges   load.Edges
}

// MaxCells bounds the cells in one CellsReport, so that it stays far below mercury's largest
// message. A CellApp with more of them sends several.
const MaxCells = 512

// Flags of an encoded CellReport.
const (
	reportHeld = 1 << iota
	// reportProfile means that a profile follows. A cell without reals has a zero profile, which
	// takes no bytes, since a CellApp may have a thousand empty rooms.
	reportProfile
	// reportLoaded means that Loaded follows.
	reportLoaded
	reportOccupied
)

// Append encodes m.
func (m *CellsReport) Append(b []byte) []byte {
	b = codec.AppendBool(b, m.Further)
	b = binary.AppendVarint(b, m.Load)
	b = append(b, m.SavingStep)
	for _, share := range m.Saves {
		b = binary.LittleEndian.AppendUint16(b, share)
	}
	b = binary.AppendUvarint(b, uint64(m.Time))
	b = binary.AppendUvarint(b, uint64(len(m.Cells)))
	for i := range m.Cells {
		b = m.Cells[i].append(b)
	}
	return b
}

func (c *CellReport) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.Space))
	b = appendCellID(b, c.Cell)
	b = appendVersion(b, c.Version)
	b = binary.AppendVarint(b, c.Load)
	b = binary.AppendVarint(b, c.Gained)
	b = binary.AppendUvarint(b, uint64(c.Reals))
	b = binary.AppendUvarint(b, uint64(c.Ghosts))
	b = binary.AppendUvarint(b, uint64(c.Handoffs))
	b = binary.AppendUvarint(b, uint64(c.Rate))
	b = binary.AppendUvarint(b, c.Clock)
	profiled := c.Profile != load.Profile{}
	b = append(b, flag(c.Held, reportHeld)|flag(c.Occupied, reportOccupied)|flag(profiled, reportProfile)|flag(c.Loaded != bsp.Rect{}, reportLoaded))
	if c.Loaded != (bsp.Rect{}) {
		b = fields.AppendRect(b, c.Loaded)
	}
	if profiled {
		b = c.Profile.Append(b)
		b = c.Edges.Append(b)
	}
	return b
}

func flag(on bool, bit byte) byte {
	if on {
		return bit
	}
	return 0
}

// Parse decodes a body, reusing the slices of m.
func (m *CellsReport) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Further = r.Bool()
	m.Load = r.Varint()
	m.SavingStep = r.U8()
	for i := range m.Saves {
		m.Saves[i] = r.U16()
	}
	m.Time = readDuration(&r)
	n := r.Count(MaxCells, 10)
	m.Cells = m.Cells[:0]
	for range n {
		var c CellReport
		c.read(&r)
		if r.Err() != nil {
			break
		}
		m.Cells = append(m.Cells, c)
	}
	return done(&r, "cells report")
}

func (c *CellReport) read(r *codec.Reader) {
	c.Space = entity.SpaceID(fields.ReadUint32(r))
	c.Cell = readCellID(r)
	c.Version = readVersion(r)
	c.Load, c.Gained = r.Varint(), r.Varint()
	c.Reals, c.Ghosts, c.Handoffs = fields.ReadUint32(r), fields.ReadUint32(r), fields.ReadUint32(r)
	c.Rate, c.Clock = readRate(r), r.Uvarint()
	flags := r.U8()
	c.Held, c.Occupied = flags&reportHeld != 0, flags&reportOccupied != 0
	if flags > reportHeld|reportProfile|reportLoaded|reportOccupied {
		r.Fail(errUnknownFlags)
	}
	if flags&reportLoaded != 0 {
		if c.Loaded = fields.ReadRect(r); c.Loaded == (bsp.Rect{}) {
			r.Fail(errNoProfile) // there is one encoding of each report
		}
	}
	if flags&reportProfile == 0 || r.Err() != nil {
		return
	}
	rest, err := c.Profile.Parse(r.Rest())
	if err == nil {
		rest, err = c.Edges.Parse(rest)
	}
	switch {
	case err != nil:
		r.Fail(err)
	case c.Profile == load.Profile{}:
		r.Fail(errNoProfile) // there is one encoding of each report
	default:
		r.Reset(rest)
	}
}

// CellCreated confirms an AddCell.
type CellCreated struct {
	Space entity.SpaceID
	Cell  bsp.CellID
}

func (m *CellCreated) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
}

func (m *CellCreated) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *CellCreated) Parse(body []byte) error { return parse(body, m, m.code) }

// Locate asks which CellApp an entity should be created on, or be teleported to.
type Locate struct {
	ID       entity.ID // echoed in Located
	Space    entity.SpaceID
	Position property.Vector3
}

func (m *Locate) code(c *codec.Coder) {
	fields.ID(c, &m.ID)
	codec.Uint32(c, &m.Space)
	fields.Vector3(c, &m.Position)
}

func (m *Locate) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Locate) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxSpaceDataValue bounds one value of space data.
const MaxSpaceDataValue = 16 << 10

// SetSpaceData asks the manager to set an entry of a space's data. The manager numbers the changes
// and tells every cell.
//
// A CellApp keeps each SetSpaceData until a SpaceDataSet answers it, and sends it again over the
// next channel. So each has a number, and a late one shows what its cell knew when the entry was
// set: it must not undo what others have set since.
type SetSpaceData struct {
	Space entity.SpaceID
	Key   uint16
	// ID and Removed are those of the space.DataEntry. Whoever adds an entry gives it a new id.
	ID      entity.DataID
	Removed bool
	Value   []byte // aliases the input after Parse
	// Name is that of the space.DataEntry, if Space is 0: the entry is of what the cluster shares.
	Name string
	// Said numbers the requests of a start of an app, from 1, over all spaces. It is 0 if the
	// sender does not keep the request and wants no answer.
	Said uint64
	// Late means that the entry was set before this channel was open.
	Late bool
	// Seen is the highest number of those entries which this one replaces that the sender knew when
	// it set this one. A BaseApp, which knows no data, says SeenAll.
	Seen uint64
	// Same asks to set the entry only if it is the one that the sender has seen: its number is Seen, which
	// is 0 for one that there is not. It is of what the cluster shares alone.
	Same bool
}

// SeenAll says that a request is good whatever others have set before it arrives.
const SeenAll = math.MaxUint64

func (m *SetSpaceData) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	c.U16(&m.Key)
	codeDataID(c, &m.ID)
	c.Bool(&m.Removed)
	c.Bytes(&m.Value, MaxSpaceDataValue)
	c.Uvarint(&m.Said)
	c.Bool(&m.Late)
	c.Uvarint(&m.Seen)
	c.Bool(&m.Same)
	codeName(c, m.Space, m.Key, &m.Name)
}

func (m *SetSpaceData) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SetSpaceData) Parse(body []byte) error { return parse(body, m, m.code) }

// SpaceDataSet answers a numbered SetSpaceData: that one and all before it were handled, either set
// or refused.
type SpaceDataSet struct {
	Said uint64
	// Made is the newest request of the app with Same of which the condition held, whichever manager made
	// it; 0 if there is none.
	Made uint64
}

func (m *SpaceDataSet) code(c *codec.Coder) {
	c.Uvarint(&m.Said)
	c.Uvarint(&m.Made)
}

func (m *SpaceDataSet) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *SpaceDataSet) Parse(body []byte) error { return parse(body, m, m.code) }

// AppSilent says that a base has long heard nothing of its real, which it believes on a CellApp. If
// that app is not a member of the cluster, an AppLeft answers. A member speaks for itself, and
// AppDead tells if it dies.
type AppSilent struct{ App mercury.Address }

func (m *AppSilent) code(c *codec.Coder) { fields.Address(c, &m.App) }

func (m *AppSilent) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *AppSilent) Parse(body []byte) error { return parse(body, m, m.code) }

// GeometryLacked asks for what brings a CellApp's geometry of a space up to date, after a message
// that does not follow from what it has.
type GeometryLacked struct {
	Space entity.SpaceID
	// From is what the CellApp has, or zero if it needs a whole tree.
	From bsp.Version
}

func (m *GeometryLacked) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeVersion(c, &m.From)
}

func (m *GeometryLacked) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *GeometryLacked) Parse(body []byte) error { return parse(body, m, m.code) }

func appendCellID(b []byte, c bsp.CellID) []byte {
	b = binary.AppendUvarint(b, uint64(c.Term))
	return binary.AppendUvarint(b, uint64(c.N))
}

func readCellID(r *codec.Reader) bsp.CellID {
	return bsp.CellID{Term: fields.ReadUint32(r), N: fields.ReadUint32(r)}
}

func codeCellID(c *codec.Coder, v *bsp.CellID) { codec.Field(c, v, appendCellID, readCellID) }

func appendVersion(b []byte, v bsp.Version) []byte { return appendCellID(b, bsp.CellID(v)) }

func readVersion(r *codec.Reader) bsp.Version { return bsp.Version(readCellID(r)) }

func codeVersion(c *codec.Coder, v *bsp.Version) { codec.Field(c, v, appendVersion, readVersion) }
