package protocol

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
)

// BundleID is the first message of every bundle that a cell part makes for its client; a proxy's
// own bundles do not have it.
const BundleID ID = 64

// AppendBundle numbers a bundle of the cell part: from 1 in each incarnation. Positions packets
// call the same numbers After.
func AppendBundle(b []byte, number uint64) []byte {
	b, mark := Begin(b, BundleID)
	b = binary.AppendUvarint(b, number)
	return End(b, mark)
}

// ParseBundle decodes a body.
func ParseBundle(body []byte) (number uint64, err error) {
	r := codec.NewReader(body)
	number = r.Uvarint()
	return number, done(&r, "bundle")
}
