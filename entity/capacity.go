package entity

import (
	"encoding/binary"
	"fmt"
)

// MaxEntitiesKey is the reserved key under which a space's data has how many entities it takes,
// FullKey the one under which the CellAppMgr says that it has as many, if it has several cells,
// LostAreaKey that of the areas whose cells have died (space.LostArea), and GatewayKey that of gateways
// (space.Gateway).
const (
	MaxEntitiesKey = FirstReservedKey + 1
	FullKey        = FirstReservedKey + 2
	LostAreaKey    = FirstReservedKey + 3
	GatewayKey     = FirstReservedKey + 4
)

// MostMaxEntities bounds SpaceInfo.MaxEntities.
const MostMaxEntities = 1 << 30

// AppendMaxEntities encodes a limit as the value of its entry: 4 bytes, little-endian.
func AppendMaxEntities(b []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(b, n) }

// ParseMaxEntities reads what AppendMaxEntities wrote. 0 is no limit.
func ParseMaxEntities(b []byte) (uint32, error) {
	if len(b) != 4 {
		return 0, fmt.Errorf("entity: a limit of entities of %d bytes", len(b))
	}
	n := binary.LittleEndian.Uint32(b)
	if n > MostMaxEntities {
		return 0, fmt.Errorf("entity: a limit of %d entities: take at most %d", n, MostMaxEntities)
	}
	return n, nil
}
