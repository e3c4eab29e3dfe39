package mpack

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cellscape/cellscape/internal/enum"
)

// Bounds of free values. Package property tells of them under its own names.
const (
	// MaxFree is the longest value, in bytes.
	MaxFree = 64 << 10
	// MaxFreeDepth is how deep arrays and maps may nest. Decoding recurses along them.
	MaxFreeDepth = 16
	// MaxFreeItems is the largest number of items, keys and elements counted. An item of one byte,
	// as the empty map, becomes some 64 bytes when it is decoded; this bounds what 64 KiB of them
	// can take.
	MaxFreeItems = 1 << 15
	// MaxStoreDepth is how deep arrays and maps of a stored value may nest.
	MaxStoreDepth = 64
)

// Class is what an item of MessagePack is. The library's code table is made of variables, which a
// switch cannot use and anyone could change.
type Class uint8

const (
	Nil Class = iota + 1
	Bool
	Uint // without sign
	Int  // written as signed, whatever its sign
	Float
	Str
	Bin
	Array
	Map
	Ext
)

// String names the class in an error.
func (c Class) String() string {
	return enum.Name(c, "class", []string{
		Nil:   "nil",
		Bool:  "a truth value",
		Uint:  "a whole number",
		Int:   "a whole number",
		Float: "a float",
		Str:   "a string",
		Bin:   "binary",
		Array: "an array",
		Map:   "a map",
		Ext:   "an extension",
	})
}

// msgHead is the head of an item: its first byte, and the number or length behind that.
type msgHead struct {
	class Class
	size  int    // bytes of the head
	n     uint64 // bytes behind the head of a str, bin or ext; elements of an array; pairs of a map
}

// readHead reads the head of the item that b begins with. Errors are ErrTruncated and ErrValue.
func readHead(b []byte) (msgHead, error) {
	if len(b) == 0 {
		return msgHead{}, ErrTruncated
	}
	switch c := b[0]; {
	case c <= 0x7f:
		return msgHead{class: Uint, size: 1}, nil
	case c <= 0x8f:
		return msgHead{Map, 1, uint64(c & 0x0f)}, nil
	case c <= 0x9f:
		return msgHead{Array, 1, uint64(c & 0x0f)}, nil
	case c <= 0xbf:
		return msgHead{Str, 1, uint64(c & 0x1f)}, nil
	case c == 0xc0:
		return msgHead{class: Nil, size: 1}, nil
	case c == 0xc1:
		return msgHead{}, fmt.Errorf("%w: byte c1 begins no MessagePack", ErrValue)
	case c <= 0xc3:
		return msgHead{class: Bool, size: 1}, nil
	case c >= 0xe0:
		return msgHead{class: Int, size: 1}, nil
	}
	return readWideHead(b)
}

// readWideHead reads a head whose first byte says how many bytes of number or length follow.
func readWideHead(b []byte) (msgHead, error) {
	switch c := b[0]; {
	case c <= 0xc6:
		return lengthHead(b, Bin, 1<<(c-0xc4), 0)
	case c <= 0xc9:
		return lengthHead(b, Ext, 1<<(c-0xc7), 1) // 1 for the byte of the extension's type
	case c <= 0xcb:
		return numberHead(b, Float, 4<<(c-0xca))
	case c <= 0xcf:
		return numberHead(b, Uint, 1<<(c-0xcc))
	case c <= 0xd3:
		return numberHead(b, Int, 1<<(c-0xd0))
	case c <= 0xd8:
		return msgHead{Ext, 1, 1 + 1<<(c-0xd4)}, nil
	case c <= 0xdb:
		return lengthHead(b, Str, 1<<(c-0xd9), 0)
	case c <= 0xdd:
		return lengthHead(b, Array, 2<<(c-0xdc), 0)
	default:
		return lengthHead(b, Map, 2<<(c-0xde), 0)
	}
}

func numberHead(b []byte, c Class, width int) (msgHead, error) {
	if len(b) < 1+width {
		return msgHead{}, ErrTruncated
	}
	return msgHead{class: c, size: 1 + width}, nil
}

func lengthHead(b []byte, c Class, width int, more uint64) (msgHead, error) {
	if len(b) < 1+width {
		return msgHead{}, ErrTruncated
	}
	h := msgHead{class: c, size: 1 + width}
	switch width {
	case 1:
		h.n = uint64(b[1])
	case 2:
		h.n = uint64(binary.BigEndian.Uint16(b[1:]))
	default:
		h.n = uint64(binary.BigEndian.Uint32(b[1:]))
	}
	h.n += more
	return h, nil
}

// ScanFree returns the length of the MessagePack value that b begins with, within the bounds of an
// ANY. Errors are ErrTruncated, ErrLength beyond a bound, and ErrValue for what is no MessagePack
// and for extensions.
func ScanFree(b []byte) (n int, err error) {
	return scanWithin(b, MaxFreeDepth, MaxFreeItems)
}

// ScanStore is ScanFree within the bounds of a stored value. Its items need no bound of their own:
// each takes a byte.
func ScanStore(b []byte) (n int, err error) {
	return scanWithin(b, MaxStoreDepth, math.MaxInt)
}

// scanWithin walks one value without recursion and without allocating. It runs before any decoder
// does: the library's recurses as deep as the bytes say, until the stack of the process ends, and
// makes lists as long as they claim. What the walk has passed holds every item that it claims.
//
// Extensions are refused, since their decoders are registered for the whole process by whoever
// likes to.
func scanWithin(b []byte, depth, items int) (n int, err error) {
	var left [MaxStoreDepth + 1]uint64 // by level: items to come; level 0 is the value itself
	left[0] = 1
	owed := uint64(1) // items to come on all levels; each takes a byte at least
	for level := 0; ; {
		for left[level] == 0 {
			if level == 0 {
				return n, nil
			}
			level--
		}
		if items--; items < 0 {
			return 0, fmt.Errorf("%w: too many items", ErrLength)
		}
		h, err := readHead(b[n:])
		if err != nil {
			return 0, err
		}
		left[level]--
		owed--
		n += h.size
		switch h.class {
		case Ext:
			return 0, fmt.Errorf("%w: an extension of MessagePack", ErrValue)
		case Str, Bin:
			if h.n > uint64(len(b)-n) {
				return 0, ErrTruncated
			}
			n += int(h.n)
		case Array, Map:
			if level++; level > depth {
				return 0, fmt.Errorf("%w: nested deeper than %d", ErrLength, depth)
			}
			if left[level] = h.n; h.class == Map {
				left[level] *= 2
			}
			owed += left[level]
		}
		if owed > uint64(len(b)-n) {
			return 0, ErrTruncated
		}
	}
}
