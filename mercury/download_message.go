package mercury

import "encoding/binary"

// Kinds of bulk messages of downloads. An app that sends bulk messages of its own beside them begins them with a byte
// outside of MinDownloadKind to MaxDownloadKind.
const (
	MinDownloadKind = 0xB0
	MaxDownloadKind = 0xBF

	// From the sender of a content.
	bulkOffer = 0xB0
	bulkData  = 0xB1
	bulkAbort = 0xB2
	// From its receiver.
	bulkAccept = 0xB8
	bulkRefuse = 0xB9
	bulkDone   = 0xBA
)

// maxDataOverhead is the most that a data message has beside its content: kind, number, length.
const maxDataOverhead = 1 + binary.MaxVarintLen64 + 3

// bulkMessage is any message of a download. Which fields count depends on the kind:
//
//	offer   number, id, size, digest, description
//	data    number, content
//	abort   number, code
//	accept  number, offset
//	refuse  number, code
//	done    number
//
// Numbers are varints, the digest is 32 bytes, the code one.
type bulkMessage struct {
	kind   byte
	number uint64 // counted by the sender of the content, never used twice
	id     uint32
	size   int64 // of the offer
	offset int64 // of the accept
	code   DownloadCode
	digest ContentDigest
	desc   []byte // aliases the message
	data   []byte // aliases the message
}

// append encodes m.
func (m *bulkMessage) append(b []byte) []byte {
	b = append(b, m.kind)
	b = binary.AppendUvarint(b, m.number)
	switch m.kind {
	case bulkOffer:
		b = binary.AppendUvarint(b, uint64(m.id))
		b = binary.AppendUvarint(b, uint64(m.size))
		b = append(b, m.digest[:]...)
		b = AppendBytes(b, m.desc)
	case bulkData:
		b = AppendBytes(b, m.data)
	case bulkAccept:
		b = binary.AppendUvarint(b, uint64(m.offset))
	case bulkAbort, bulkRefuse:
		b = append(b, byte(m.code))
	}
	return b
}

// decode reads what append wrote. Each content has one encoding.
func (m *bulkMessage) decode(b []byte) error {
	r := NewReader(b)
	*m = bulkMessage{kind: r.U8(), number: r.Uvarint()}
	switch m.kind {
	case bulkOffer:
		m.id = uint32(r.limited(1<<32 - 1))
		m.size = int64(r.limited(MaxDownloadSize))
		copy(m.digest[:], r.take(len(m.digest)))
		m.desc = r.Bytes(MaxDownloadDesc)
	case bulkData:
		m.data = r.Bytes(MaxDownloadPiece)
		if len(m.data) == 0 {
			r.Fail(ErrValue) // work for the receiver that brings nothing forward
		}
	case bulkAccept:
		m.offset = int64(r.limited(MaxDownloadSize))
	case bulkAbort, bulkRefuse:
		m.code = DownloadCode(r.U8())
		if m.code == 0 {
			r.Fail(ErrValue)
		}
	case bulkDone:
	default:
		r.Fail(ErrValue)
	}
	return r.Close()
}

// limited reads a number of at most max; more is ErrLength.
func (r *Reader) limited(max uint64) uint64 {
	v := r.Uvarint()
	if v > max {
		r.fail(ErrLength)
		return 0
	}
	return v
}
