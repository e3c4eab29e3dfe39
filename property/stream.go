package property

import "slices"

// Stream names the properties that travel together.
type Stream uint8

// The streams. The comments say who writes and who reads each.
const (
	GhostStream         Stream = iota // all ghosted: cell or ghost → ghost
	CellStream                        // all of the cell, private ones too: cell → cell (offload), cell → base (backup)
	BaseStream                        // all of the base: base → base (backup, move)
	OtherClientStream                 // cell or ghost → another's client
	OwnClientCellStream               // own client's part of the cell: cell → own client
	OwnClientBaseStream               // own client's part of the base: base → own client
	CellStoreStream                   // the persistent of the cell: cell → base → store; see Values.AppendStore
	BaseStoreStream                   // the persistent of the base: base → store
	CellReplayStream                  // what a recording shows of the cell
	BaseReplayStream                  // what a recording shows of the base
	domains
)

// streamTable gives the name of each stream, the properties in it, and the sides that hold all of
// them.
var streamTable = [domains]struct {
	name     string
	takes    func(p *Property) bool
	carriers []Side
	toClient bool
}{
	GhostStream:         {"ghost", func(p *Property) bool { return GhostSide.holds(p.Flags) }, []Side{CellSide, GhostSide}, false},
	CellStream:          {"cell", func(p *Property) bool { return CellSide.holds(p.Flags) }, []Side{CellSide}, false},
	BaseStream:          {"base", func(p *Property) bool { return BaseSide.holds(p.Flags) }, []Side{BaseSide}, false},
	OtherClientStream:   {"other client", func(p *Property) bool { return OtherClientSide.holds(p.Flags) }, []Side{CellSide, GhostSide, OtherClientSide}, true},
	OwnClientCellStream: {"own client cell", func(p *Property) bool { return OwnClientSide.holds(p.Flags) && CellSide.holds(p.Flags) }, []Side{CellSide, OwnClientSide}, true},
	OwnClientBaseStream: {"own client base", func(p *Property) bool { return OwnClientSide.holds(p.Flags) && BaseSide.holds(p.Flags) }, []Side{BaseSide, OwnClientSide}, true},
	CellStoreStream:     {"cell store", func(p *Property) bool { return CellSide.holds(p.Flags) && p.Persistent }, []Side{CellSide}, false},
	BaseStoreStream:     {"base store", func(p *Property) bool { return BaseSide.holds(p.Flags) && p.Persistent }, []Side{BaseSide}, false},
	CellReplayStream:    {"cell replay", func(p *Property) bool { return CellSide.holds(p.Flags) && p.ExposedForReplay }, []Side{CellSide, ReplaySide}, false},
	BaseReplayStream:    {"base replay", func(p *Property) bool { return BaseSide.holds(p.Flags) && p.ExposedForReplay }, []Side{BaseSide, ReplaySide}, false},
}

// String returns the stream's name.
func (d Stream) String() string {
	if d < domains {
		return streamTable[d].name + " stream"
	}
	return "unknown stream"
}

// takes reports whether a property travels in the stream.
func (d Stream) takes(p *Property) bool { return streamTable[d].takes(p) }

func (d Stream) toClient() bool { return streamTable[d].toClient }

// Carries reports whether a side holds every property of a stream, and so may write and read it.
func (s Side) Carries(d Stream) bool {
	return d < domains && slices.Contains(streamTable[d].carriers, s)
}
