package stream

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cellscape/cellscape/mercury"
)

// The hello of a dialler, and what it is answered:
//
//	hello   magic 4, version 1, salt 4, wanted salt 4, listening port 2
//	accept  magic 4, version 1, salt 4
//	refuse  magic 4, version 1, salt 4, reason 1
//
// The port is that at which the dialler can be dialled, 0 when it cannot; its IP is the one that is
// seen.
const (
	// magic keeps out who dialled the wrong port.
	magic      = 0x53CE110D
	version    = 1
	prefixSize = 4 + 1 + 4
	helloSize  = prefixSize + 4 + 2
	acceptSize = prefixSize
	refuseSize = prefixSize + 1
	// maxHello bounds the first frame of either side.
	maxHello = 64
)

// refusal is why a hello was not accepted.
type refusal uint8

const (
	refuseSalt    refusal = 1 // another start is here
	refuseFull    refusal = 2 // MaxChannels
	refuseVersion refusal = 3
)

// errHello is a first frame that is none of this protocol.
var errHello = errors.New("not a hello")

// hello is what a dialler says first.
type hello struct {
	salt, want uint32
	port       uint16
}

func appendPrefix(b []byte, salt uint32) []byte {
	b = binary.LittleEndian.AppendUint32(b, magic)
	b = append(b, version)
	return binary.LittleEndian.AppendUint32(b, salt)
}

func (h hello) append(b []byte) []byte {
	b = appendHeader(b, frameHello, helloSize)
	b = appendPrefix(b, h.salt)
	b = binary.LittleEndian.AppendUint32(b, h.want)
	return binary.LittleEndian.AppendUint16(b, h.port)
}

// parse reads the body of a hello. spoken is false for a version that is not ours.
func (h *hello) parse(b []byte) (spoken bool, err error) {
	v, salt, ok := prefix(b)
	switch {
	case !ok:
		return false, errHello
	case v != version:
		return false, nil
	case len(b) != helloSize || salt == 0:
		return false, errHello
	}
	h.salt = salt
	h.want = binary.LittleEndian.Uint32(b[prefixSize:])
	h.port = binary.LittleEndian.Uint16(b[prefixSize+4:])
	return true, nil
}

// prefix reads what every body of a handshake starts with.
func prefix(b []byte) (v byte, salt uint32, ok bool) {
	if len(b) < prefixSize || binary.LittleEndian.Uint32(b) != magic {
		return 0, 0, false
	}
	return b[4], binary.LittleEndian.Uint32(b[5:]), true
}

func appendAccept(b []byte, salt uint32) []byte {
	return appendPrefix(appendHeader(b, frameAccept, acceptSize), salt)
}

func appendRefuse(b []byte, salt uint32, why refusal) []byte {
	return append(appendPrefix(appendHeader(b, frameRefuse, refuseSize), salt), byte(why))
}

// parseAnswer reads the body of an accept or a refuse, and returns the salt of who accepted. want
// is the salt that was dialled, 0 for any.
func parseAnswer(k kind, b []byte, want uint32) (salt uint32, err error) {
	v, salt, ok := prefix(b)
	switch {
	case !ok || salt == 0:
		return 0, fmt.Errorf("%w: the answer to a hello is none", mercury.ErrProtocol)
	case v != version:
		return 0, fmt.Errorf("%w: the peer speaks version %d, this side %d", mercury.ErrProtocol, v, version)
	case k == frameAccept && len(b) == acceptSize:
		if want != 0 && salt != want {
			return 0, fmt.Errorf("%w: accepted with another salt", mercury.ErrPeerRestarted)
		}
		return salt, nil
	case k == frameRefuse && len(b) == refuseSize:
		return 0, refusal(b[prefixSize]).err()
	}
	return 0, fmt.Errorf("%w: the answer to a hello is none", mercury.ErrProtocol)
}

func (r refusal) err() error {
	switch r {
	case refuseSalt:
		return mercury.ErrPeerRestarted
	case refuseFull:
		return fmt.Errorf("%w: at the peer", mercury.ErrTooManyChannels)
	}
	return fmt.Errorf("%w: refused for reason %d", mercury.ErrProtocol, r)
}

// peekHello reads a header before the handshake is done: only its frames are let in, and only short
// ones.
func peekHello(b []byte) (k kind, size int, err error) {
	if len(b) < headerSize {
		return 0, 0, nil
	}
	word := binary.LittleEndian.Uint32(b)
	k, n := kind(word&(1<<kindBits-1)), int(word>>kindBits)
	if k < frameHello || k > frameRefuse || n > maxHello {
		return 0, 0, errHello
	}
	return k, headerSize + n, nil
}
