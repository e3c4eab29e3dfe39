// Package mpack is what package property adds to a library of MessagePack: bounds and one form.
//
// The library's decoder recurses as deep as the bytes say, makes lists as long as they claim, and
// converts freely. So [ScanStore] or [ScanFree] walks bytes from outside first, without recursion
// and without allocating, and [Reader] tells the [Class] of each item before it is decoded. A free
// value, that of an ANY, has one form: [Encode] writes it, [Check] demands it, [Canon] makes it of
// another, [ToJSON] and [FromJSON] bring it to text and back.
package mpack

import (
	"errors"
	"math"
)

// The errors, under the names and texts that package property gives them.
var (
	ErrTruncated = errors.New("property: stream is truncated")
	ErrTrailing  = errors.New("property: bytes after the end")
	ErrLength    = errors.New("property: bad length")
	ErrValue     = errors.New("property: value does not fit its type")
)

func float32bits(f float32) uint32 {
	if f != f {
		return 0x7fc00000 // the payload of a NaN may change between machines
	}
	return math.Float32bits(f)
}
