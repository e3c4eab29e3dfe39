package protocol

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// Seen is what a client has taken in of what its witness sent: the witness writes places in fewer
// bytes for a client of which it knows what it holds. A client that says what is not so misplaces
// others for itself alone.
type Seen struct {
	// Bundle is the number of the last bundle that was applied.
	Bundle uint64
	// Packet is the highest number of a Positions packet that came, 0 before any.
	Packet uint32
	// Earlier has a bit for each of the 32 before: the lowest for Packet - 1.
	Earlier uint32
}

// Append encodes s.
func (s *Seen) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, s.Bundle)
	b = binary.AppendUvarint(b, uint64(s.Packet))
	return binary.LittleEndian.AppendUint32(b, s.Earlier)
}

// Read reads what Append wrote.
func (s *Seen) Read(r *codec.Reader) {
	s.Bundle = r.Uvarint()
	s.Packet = fields.ReadUint32(r)
	s.Earlier = r.U32()
}

// Note takes down that a packet has come.
func (s *Seen) Note(packet uint32) {
	switch {
	case packet > s.Packet:
		if by := packet - s.Packet; by <= 32 && s.Packet > 0 {
			s.Earlier = uint32(uint64(s.Earlier)<<by) | 1<<(by-1)
		} else {
			s.Earlier = 0
		}
		s.Packet = packet
	case packet < s.Packet && s.Packet-packet <= 32:
		s.Earlier |= 1 << (s.Packet - packet - 1)
	}
}

// Has reports whether a packet is known to have come. Of those more than 32 before the last nothing
// is known.
func (s *Seen) Has(packet uint32) bool {
	if packet == s.Packet {
		return packet != 0
	}
	return packet < s.Packet && s.Packet-packet <= 32 && s.Earlier>>(s.Packet-packet-1)&1 != 0
}
