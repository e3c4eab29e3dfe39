package stream

import (
	"encoding/binary"
	"fmt"

	"github.com/cellscape/cellscape/mercury"
)

// kind says what a frame carries. 0 is none, so that a run of zero bytes is refused.
type kind uint8

const (
	frameHello      kind = 1
	frameAccept     kind = 2
	frameRefuse     kind = 3
	frameReliable   kind = 4
	frameUnreliable kind = 5
	framePing       kind = 6
	frameClose      kind = 7
)

const (
	// headerSize is the size of a frame's header: its kind in the low 4 bits, the length of its
	// body in the others, little endian. A fixed size costs two bytes more than a varint and is
	// read without a branch.
	headerSize = 4
	kindBits   = 4
)

// limits bounds what the frames of one connection may hold.
type limits struct {
	reliable, unreliable int
}

// appendHeader appends the header of a frame with a body of n bytes. The caller has checked n.
func appendHeader(b []byte, k kind, n int) []byte {
	return binary.LittleEndian.AppendUint32(b, uint32(n)<<kindBits|uint32(k))
}

// peek reads the header that b starts with and returns the size of the whole frame with its header,
// which may be more than b has; 0 when b is too short for a header. It allocates only for the
// error.
func peek(b []byte, lim limits) (k kind, size int, err error) {
	if len(b) < headerSize {
		return 0, 0, nil
	}
	word := binary.LittleEndian.Uint32(b)
	k, n := kind(word&(1<<kindBits-1)), int(word>>kindBits)
	switch k {
	case frameReliable:
		if n > lim.reliable {
			return 0, 0, fmt.Errorf("%w: a frame of %d bytes, at most %d", mercury.ErrMessageTooLong, n, lim.reliable)
		}
	case frameUnreliable:
		if n > lim.unreliable {
			return 0, 0, fmt.Errorf("%w: an unreliable frame of %d bytes, at most %d", mercury.ErrMessageTooLong, n, lim.unreliable)
		}
	case framePing, frameClose:
		if n != 0 {
			return 0, 0, fmt.Errorf("%w: a frame of kind %d with a body", mercury.ErrProtocol, k)
		}
	default:
		return 0, 0, fmt.Errorf("%w: a frame of kind %d", mercury.ErrProtocol, k)
	}
	return k, headerSize + n, nil
}

// scan returns how many bytes of b are whole frames, up to the first that is not there in full, and
// whether a close is among them. An error tells of a bad header behind them.
func scan(b []byte, lim limits) (whole int, closes bool, err error) {
	for {
		k, size, err := peek(b[whole:], lim)
		if err != nil || size == 0 || size > len(b)-whole {
			return whole, closes, err
		}
		closes = closes || k == frameClose
		whole += size
	}
}

// cut returns how many bytes of b, which is whole frames, make a piece of at most so many bytes
// without cutting a frame; at least one frame.
func cut(b []byte, most int) int {
	if len(b) <= most {
		return len(b)
	}
	n := 0
	for n < len(b) {
		size := frameSize(b[n:])
		if n > 0 && n+size > most {
			break
		}
		n += size
	}
	return n
}

// cutShort returns how many bytes of b, which is whole frames, are missing to the end of the frame
// in which n bytes end.
func cutShort(b []byte, n int) int {
	at := 0
	for at < n {
		at += frameSize(b[at:])
	}
	return at - n
}

// count returns how many frames b, which is whole frames, has.
func count(b []byte) (n int) {
	for ; len(b) > 0; n++ {
		b = b[frameSize(b):]
	}
	return n
}

// frameSize is the size of the frame that b starts with, which was made here.
func frameSize(b []byte) int {
	return headerSize + int(binary.LittleEndian.Uint32(b)>>kindBits)
}

// MaxWrite is the most bytes that a Conn is given to write at once, for messages of up to
// maxMessage bytes.
func MaxWrite(maxMessage int) int { return max(writePiece, headerSize+maxMessage) }
