package download

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
)

// Kinds of bulk messages of downloads. An app that sends bulk messages of its own beside them
// begins them with a byte outside of MinKind to MaxKind.
const (
	MinKind = 0xB0
	MaxKind = 0xBF

	// From the sender of a content.
	kindOffer = 0xB0
	kindData  = 0xB1
	kindAbort = 0xB2
	// From its receiver.
	kindAccept = 0xB8
	kindRefuse = 0xB9
	kindDone   = 0xBA
)

// maxDataOverhead is the most that a data message has beside its content: kind, number, length.
const maxDataOverhead = 1 + binary.MaxVarintLen64 + 3

// message is any message of a download. Which fields count depends on the kind:
//
//	offer   number, id, size, digest, description
//	data    number, content
//	abort   number, code
//	accept  number, offset
//	refuse  number, code
//	done    number
//
// Numbers are varints, the digest is 32 bytes, the code one.
type message struct {
	kind   byte
	number uint64 // counted by the sender of the content, never used twice
	id     uint32
	size   int64 // of the offer
	offset int64 // of the accept
	code   Code
	digest Digest
	desc   []byte // aliases the message
	data   []byte // aliases the message
}

// append encodes m.
func (m *message) append(b []byte) []byte {
	b = append(b, m.kind)
	b = binary.AppendUvarint(b, m.number)
	switch m.kind {
	case kindOffer:
		b = binary.AppendUvarint(b, uint64(m.id))
		b = binary.AppendUvarint(b, uint64(m.size))
		b = append(b, m.digest[:]...)
		b = codec.AppendBytes(b, m.desc)
	case kindData:
		b = codec.AppendBytes(b, m.data)
	case kindAccept:
		b = binary.AppendUvarint(b, uint64(m.offset))
	case kindAbort, kindRefuse:
		b = append(b, byte(m.code))
	}
	return b
}

// decode reads what append wrote. Each content has one encoding.
func (m *message) decode(b []byte) error {
	r := codec.NewReader(b)
	*m = message{kind: r.U8(), number: r.Uvarint()}
	switch m.kind {
	case kindOffer:
		m.id = uint32(limited(&r, 1<<32-1))
		m.size = int64(limited(&r, MaxSize))
		m.digest = readDigest(&r)
		m.desc = r.Bytes(MaxDesc)
	case kindData:
		m.data = r.Bytes(MaxPiece)
		if len(m.data) == 0 {
			r.Fail(codec.ErrValue) // work for the receiver that brings nothing forward
		}
	case kindAccept:
		m.offset = int64(limited(&r, MaxSize))
	case kindAbort, kindRefuse:
		m.code = Code(r.U8())
		if m.code == 0 {
			r.Fail(codec.ErrValue)
		}
	case kindDone:
	default:
		r.Fail(codec.ErrValue)
	}
	return r.Close()
}

// limited reads a number of at most max; more is ErrLength.
func limited(r *codec.Reader, max uint64) uint64 {
	v := r.Uvarint()
	if v > max {
		r.Fail(codec.ErrLength)
		return 0
	}
	return v
}

// readDigest reads the bytes of a digest.
func readDigest(r *codec.Reader) (d Digest) {
	for i := 0; i < len(d); i += 8 {
		binary.LittleEndian.PutUint64(d[i:], r.U64())
	}
	return d
}
