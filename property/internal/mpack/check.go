package mpack

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// Check reports whether the whole of b is a free value in the one form that [Encode] writes: what a
// codec demands of bytes that other ends compare. It allocates nothing: clients may send lists of
// such values, and decoding one to encode it again would take hundreds of times its size. Errors
// are ErrTruncated, ErrTrailing, ErrLength and ErrValue.
func Check(b []byte) error {
	if len(b) > MaxFree {
		return fmt.Errorf("%w: ANY of %d bytes is longer than %d", ErrLength, len(b), MaxFree)
	}
	n, err := ScanFree(b)
	switch {
	case err != nil:
		return err
	case n < len(b):
		return ErrTrailing
	}
	if rest, ok := oneForm(b); !ok || len(rest) > 0 {
		return fmt.Errorf("%w: ANY is not in its one form", ErrValue)
	}
	return nil
}

// oneForm takes an item off the front of b, which ScanFree has passed. So it recurses at most
// MaxFreeDepth deep.
func oneForm(b []byte) (rest []byte, ok bool) {
	h, err := readHead(b)
	if err != nil {
		return nil, false
	}
	head, rest := b[:h.size], b[h.size:]
	switch h.class {
	case Uint, Int:
		return rest, shortestInt(head)
	case Float:
		return rest, shortestFloat(head)
	case Str:
		text := rest[:h.n]
		return rest[h.n:], h.size == 1+lengthBytes(h.n, 31, true) && utf8.Valid(text)
	case Bin:
		return rest[h.n:], h.size == 1+lengthBytes(h.n, 0, true)
	case Array:
		if h.size != 1+lengthBytes(h.n, 15, false) {
			return nil, false
		}
		for range h.n {
			if rest, ok = oneForm(rest); !ok {
				return nil, false
			}
		}
	case Map:
		return oneFormOfMap(h, rest)
	}
	return rest, true
}

// oneFormOfMap takes the pairs of a map: keys are all text or all whole numbers, and ascend.
func oneFormOfMap(h msgHead, b []byte) (rest []byte, ok bool) {
	if h.size != 1+lengthBytes(h.n, 15, false) {
		return nil, false
	}
	var last anyKey
	for i := range h.n {
		key, good := keyOf(b)
		if !good || i > 0 && !last.before(key) {
			return nil, false
		}
		last = key
		for range 2 {
			if b, ok = oneForm(b); !ok {
				return nil, false
			}
		}
	}
	return b, true
}

// anyKey is a key of a map: text, or a number that an int64 holds.
type anyKey struct {
	text   []byte
	number int64
	isText bool
}

func keyOf(b []byte) (k anyKey, ok bool) {
	h, err := readHead(b)
	if err != nil {
		return k, false
	}
	switch h.class {
	case Str:
		return anyKey{text: b[h.size : h.size+int(h.n)], isText: true}, true
	case Uint, Int:
		n, negative := wholeNumber(b[:h.size])
		return anyKey{number: int64(n)}, negative || n <= math.MaxInt64
	}
	return k, false
}

func (k anyKey) before(next anyKey) bool {
	if k.isText != next.isText {
		return false
	}
	if k.isText {
		return string(k.text) < string(next.text)
	}
	return k.number < next.number
}

// lengthBytes returns how many bytes follow the first to say a length: none up to short, which the
// first byte holds. Only text and binary have a form of one byte.
func lengthBytes(n, short uint64, one bool) int {
	switch {
	case n <= short && short > 0:
		return 0
	case n <= math.MaxUint8 && one:
		return 1
	case n <= math.MaxUint16:
		return 2
	}
	return 4
}

// wholeNumber returns the number that a head says; a negative one as its two's complement.
func wholeNumber(head []byte) (n uint64, negative bool) {
	c, b := head[0], head[1:]
	switch len(b) {
	case 0:
		return uint64(int64(int8(c))), c >= 0xe0
	case 1:
		n = uint64(b[0])
	case 2:
		n = uint64(binary.BigEndian.Uint16(b))
	case 4:
		n = uint64(binary.BigEndian.Uint32(b))
	default:
		n = binary.BigEndian.Uint64(b)
	}
	if c < 0xd0 {
		return n, false
	}
	shift := 64 - 8*uint(len(b))
	signed := int64(n<<shift) >> shift
	return uint64(signed), signed < 0
}

// shortestInt reports whether a whole number takes the fewest bytes, and the forms without sign if
// it has none.
func shortestInt(head []byte) bool {
	n, negative := wholeNumber(head)
	width := len(head) - 1
	if !negative {
		return head[0] < 0xd0 && width == fewestBytes(n, math.MaxInt8, math.MaxUint8, math.MaxUint16, math.MaxUint32)
	}
	// ^n is how far a negative number is from -1.
	return width == fewestBytes(^n, 31, math.MaxInt8, math.MaxInt16, math.MaxInt32)
}

func fewestBytes(n, none, one, two, four uint64) int {
	switch {
	case n <= none:
		return 0
	case n <= one:
		return 1
	case n <= two:
		return 2
	case n <= four:
		return 4
	}
	return 8
}

// shortestFloat reports whether a float is written in single precision if that loses nothing, and a
// NaN as the one.
func shortestFloat(head []byte) bool {
	if len(head) == 5 {
		bits := binary.BigEndian.Uint32(head[1:])
		return bits == float32bits(math.Float32frombits(bits))
	}
	f := math.Float64frombits(binary.BigEndian.Uint64(head[1:]))
	return f == f && float64(float32(f)) != f
}
