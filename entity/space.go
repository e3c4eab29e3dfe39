package entity

import (
	"encoding/binary"
	"math"

	"github.com/cellscape/cellscape/bsp"
	"github.com/cellscape/cellscape/mercury"
)

// SpaceInfo is what game code says of a space that it creates. The zero fields have
// the defaults named; Bounds are required.
type SpaceInfo struct {
	// Bounds is where the space's entities can be, in metres: where the first cuts
	// are made, and what a viewer shows. Entities may leave it.
	Bounds bsp.Rect
	// MinCells and MaxCells are how many cells the space has at least, as soon as
	// there are CellApps for them, and at most. Default 0: what the cluster's
	// balance says. A MaxCells of 1 is a room that is never divided.
	MinCells, MaxCells uint32
	// Geometry is what the CellApps have to load for the space, before anybody is let in; see
	// space.Scripts.OnArea. Default: nothing.
	Geometry bsp.Rect
	// MinLoad is an artificial least load of the space, as a fraction of a core.
	MinLoad float64
	// Keep lets the space live on when it is empty. Without it a space ends some
	// seconds after its last entity has left; one that never had any does not, unless
	// the BaseApp that asked for it dies.
	Keep bool
}

// AppendSpaceInfo encodes s.
func AppendSpaceInfo(b []byte, s *SpaceInfo) []byte {
	b = AppendRect(b, s.Bounds)
	b = binary.AppendUvarint(b, uint64(s.MinCells))
	b = binary.AppendUvarint(b, uint64(s.MaxCells))
	b = AppendRect(b, s.Geometry)
	b = appendFloat(b, s.MinLoad)
	return mercury.AppendBool(b, s.Keep)
}

// ReadSpaceInfo decodes what AppendSpaceInfo wrote. Any number parses, also one that
// makes no sense: whoever makes spaces of it judges.
func ReadSpaceInfo(r *mercury.Reader) SpaceInfo {
	return SpaceInfo{
		Bounds: ReadRect(r), MinCells: ReadUint32(r), MaxCells: ReadUint32(r),
		Geometry: ReadRect(r), MinLoad: readFloat(r), Keep: r.Bool(),
	}
}

// AppendRect appends a rectangle, four float64.
func AppendRect(b []byte, r bsp.Rect) []byte {
	for _, v := range [...]float64{r.MinX, r.MinZ, r.MaxX, r.MaxZ} {
		b = appendFloat(b, v)
	}
	return b
}

// ReadRect reads what AppendRect wrote. The edges may be any numbers, or none: who uses them checks them.
func ReadRect(r *mercury.Reader) bsp.Rect {
	return bsp.Rect{MinX: readFloat(r), MinZ: readFloat(r), MaxX: readFloat(r), MaxZ: readFloat(r)}
}

func appendFloat(b []byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

func readFloat(r *mercury.Reader) float64 { return math.Float64frombits(r.U64()) }

// SpaceReply is what became of a space that a base asked for: its script's method
// of the name that it gave is told, a func(entity.SpaceReply).
type SpaceReply struct {
	// Request is what CreateSpace returned.
	Request uint64
	// Space is the new space, or 0 if there is none; Reason says why, in one line
	// for people.
	Space  SpaceID
	Reason string
}
