package entity

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// AppendPlace encodes where an entity is, as every message that says so has it:
// the stamp that numbers its moves, position and direction.
func AppendPlace(b []byte, stamp uint32, position, direction property.Vector3) []byte {
	b = binary.AppendUvarint(b, uint64(stamp))
	b = AppendVector3(b, position)
	return AppendVector3(b, direction)
}

// ReadPlace reads what AppendPlace wrote.
func ReadPlace(r *mercury.Reader) (stamp uint32, position, direction property.Vector3) {
	stamp = ReadUint32(r)
	position = ReadVector3(r)
	return stamp, position, ReadVector3(r)
}
