// Package spacekey has the keys of a space's data that the library uses itself, and what is under them.
package spacekey

import (
	"encoding/binary"
	"fmt"
)

// First is the lowest of them: it is refused to games, and so are all above it.
const First = 0xff00

// CheckGame returns an error for a key that is not the game's to set.
func CheckGame(key uint16) error {
	if key >= First && key != Recording {
		return fmt.Errorf("keys of space data from %#x on are the library's, not the game's: %#x", First, key)
	}
	return nil
}

const (
	// TimeOfDay has a space's time of day (daytime.Clock).
	TimeOfDay = First + iota
	// MaxEntities has how many entities the space takes.
	MaxEntities
	// Full is the one under which the CellAppMgr says that the space has as many, if it has several cells.
	Full
	// LostArea has the areas whose cells have died (space.LostArea).
	LostArea
	// Gateway has gateways (space.Gateway).
	Gateway
	// Recording says that the space is recorded (recording.Key). Games set it themselves.
	Recording
)

// What the cluster shares (entity/shared) is the data of space 0, which is none. Its entries have names,
// and these keys.
const (
	// Shared has the game's own.
	Shared = iota
	// Service has the fragments of services: the id of a base, as a varint, under ServiceName.
	Service
	// Updated has a note for each app that has made a change on condition (shared.Data.Update): the number
	// of the newest that was made, as Said. The CellAppMgr sets it right after that change.
	Updated
	// Setting has what operators have set of the CellAppMgr while it ran: the text, under the path.
	Setting
	sharedKeys
)

// IsShared reports whether what the cluster shares has entries of a key.
func IsShared(key uint16) bool { return key < sharedKeys }

// GatewayEnd names an end of a gateway in the cluster: by its id in the data of both spaces, and by
// which of the two it is. GatewayOf is the id again.
func GatewayEnd(id uint64, far bool) uint64 {
	if far {
		return id<<1 | 1
	}
	return id << 1
}

// GatewayOf is the id of a gateway of which end is one.
func GatewayOf(end uint64) uint64 { return end >> 1 }

// MostMaxEntities bounds entity.SpaceInfo.MaxEntities.
const MostMaxEntities = 1 << 30

// AppendMaxEntities encodes a limit as the value of its entry: 4 bytes, little-endian.
func AppendMaxEntities(b []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(b, n) }

// ParseMaxEntities reads what AppendMaxEntities wrote. 0 is no limit.
func ParseMaxEntities(b []byte) (uint32, error) {
	if len(b) != 4 {
		return 0, fmt.Errorf("space: a limit of entities of %d bytes", len(b))
	}
	n := binary.LittleEndian.Uint32(b)
	if n > MostMaxEntities {
		return 0, fmt.Errorf("space: a limit of %d entities: take at most %d", n, MostMaxEntities)
	}
	return n, nil
}
