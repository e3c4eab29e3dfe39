package wire

import (
	"time"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/migrate"
	"github.com/cellscape/cellscape/space"
)

// An app that an earlier start of the CellAppMgr welcomed tells the next one what it has, right
// after its Join and on the same channel:
//
//	app --Join (with the earlier term)--> manager
//	    --Rejoin------------------------>
//	    --RejoinCell-------------------->   one for each cell of a CellApp
//	    --RejoinRule-------------------->   one for each BaseApp whose backup rule it knows
//	    --SpaceCopy--------------------->   one for each space that a BaseApp keeps
//	    --RejoinEnd--------------------->
//	    <----------------------- Welcome
//
// If the channel ends before the Welcome, all of this is void, and the app begins again with its
// Join on the next channel.

const (
	// MaxGraves bounds the dead starts in one Rejoin, and those that an app remembers: more than a
	// cluster loses while a late packet can live.
	MaxGraves = 1024

	// MaxPeerApps bounds the CellApps and BaseApps that one Rejoin names: as many as can join in
	// one term.
	MaxPeerApps = 2 << 12

	// MaxRejoinCells bounds the cells of one Rejoin: as many as there can be spaces.
	MaxRejoinCells = 1 << 14
)

// AppRef names a start of an app.
type AppRef struct {
	Role Role
	App  mercury.Address
}

func codeAppRefs(c *codec.Coder, refs *[]AppRef, most int) {
	codec.List(c, refs, most, 3, func(c *codec.Coder, a *AppRef) {
		codeRole(c, &a.Role)
		fields.Address(c, &a.App)
	})
}

// Rejoin is how an app introduces itself to a manager that does not know it.
type Rejoin struct {
	// Number and Allocator are as in the Welcome of the earlier manager.
	Number, Allocator uint32
	// GameTime is that of a CellApp; 0 for other roles.
	GameTime time.Duration
	// Frozen means that the world is frozen.
	Frozen bool
	// Stopping is how far the stop of the world had come, as far as this app knows, and StopReason why
	// it was ordered.
	Stopping   StopStep
	StopReason string
	// Retiring means that the CellApp has asked to be shut down.
	Retiring bool
	// Graves are the starts of apps that this app knows to be dead.
	Graves []AppRef
	// Peers are the apps on which, as far as this app knows, parts of its entities live: bases,
	// reals, ghosts, copies, and reals that are being handed over. Whoever names any names
	// all BaseApps.
	Peers []AppRef
}

func (m *Rejoin) code(c *codec.Coder) {
	codec.Uint32(c, &m.Number)
	codec.Uint32(c, &m.Allocator)
	codeDuration(c, &m.GameTime)
	c.Bool(&m.Frozen)
	codec.Enum(c, &m.Stopping, StopNone, lastStopStep)
	c.String(&m.StopReason, MaxReason)
	c.Bool(&m.Retiring)
	codeAppRefs(c, &m.Graves, MaxGraves)
	codeAppRefs(c, &m.Peers, MaxPeerApps)
}

func (m *Rejoin) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *Rejoin) Parse(body []byte) error { return parse(body, m, m.code) }

// RejoinCell is one cell of a CellApp that rejoins. Like an AddCell it is a message of its own,
// since the tree and the data of a space may be large.
type RejoinCell struct {
	Space entity.SpaceID
	Cell  bsp.CellID
	// Version is the geometry that the CellApp has, or zero if it needs a whole tree.
	Version bsp.Version
	// Tree is that geometry as a whole tree; a CellApp in doubt sends the last that it had.
	Tree []byte // aliases the input after Parse
	// Data is the space data that the cell has.
	Data []space.DataEntry
	// Info is the Info of the AddCell.
	Info []byte // aliases the input after Parse
	// Clock is the newest game clock of the space that the cell has.
	Clock gametime.Clock
	// Ended means that the earlier manager has ended the space.
	Ended bool
}

func (m *RejoinCell) code(c *codec.Coder) {
	codec.Uint32(c, &m.Space)
	codeCellID(c, &m.Cell)
	codeVersion(c, &m.Version)
	c.Bytes(&m.Tree, MaxTree)
	codeSpaceData(c, &m.Data)
	c.Bytes(&m.Info, MaxSpaceInfo)
	codeClock(c, &m.Clock)
	c.Bool(&m.Ended)
}

func (m *RejoinCell) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RejoinCell) Parse(body []byte) error { return parse(body, m, m.code) }

// MaxRejoinRules bounds the RejoinRules of one app: those of all apps that there are, of all that have
// departed, and of all parts that have.
const MaxRejoinRules = MaxPeerApps + migrate.MaxDepartures + migrate.MaxMoves

// RejoinRule is the newest rule that an app knows of a BaseApp: of itself, of one that backs up to it,
// or of one that is gone.
type RejoinRule struct {
	App mercury.Address
	// Departed is the number of its departure, 0 if it is not known to be gone.
	Departed uint64
	// Allocator is that of the ids that it issues, 0 if it is not known.
	Allocator uint32
	Rule      migrate.Rule
	// Part is of its bases that have left it while it goes on; Departed is the number of that.
	Part migrate.Part
}

func (m *RejoinRule) code(c *codec.Coder) {
	fields.Address(c, &m.App)
	c.Uvarint(&m.Departed)
	codec.Uint32(c, &m.Allocator)
	m.Rule.Code(c)
	m.Part.Code(c)
}

func (m *RejoinRule) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RejoinRule) Parse(body []byte) error { return parse(body, m, m.code) }

// RejoinEnd ends a Rejoin.
type RejoinEnd struct {
	// Cells, Rules and Spaces are how many RejoinCells, RejoinRules and SpaceCopies there were.
	Cells, Rules, Spaces uint32
}

func (m *RejoinEnd) code(c *codec.Coder) {
	codec.Uint32(c, &m.Cells)
	codec.Uint32(c, &m.Rules)
	codec.Uint32(c, &m.Spaces)
}

func (m *RejoinEnd) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *RejoinEnd) Parse(body []byte) error { return parse(body, m, m.code) }
