package protocol

import (
	"encoding/binary"
	"math/bits"

	"github.com/cellscape/cellscape/internal/codec"
)

// Manner says in which list of a packet a place stands, and so how it is written.
type Manner uint8

// The manners. NearBy and Turning take two and three bytes.
const (
	NearBy  Manner = iota // Near, without the yaw
	Turning               // Near, with it
	Flagged               // Middle, far or whole
	lists   = iota
)

// Lists are the places of a packet, by Manner. First come the aliases of all lists, and then their entries.
type Lists [lists]List

// List is the places that are written in one manner: ascending aliases, and as many entries.
type List struct {
	Aliases []uint32
	Entries []byte
}

// Append encodes all lists.
func (l *Lists) Append(b []byte) []byte {
	for i := range l {
		b = appendAliases(b, l[i].Aliases)
	}
	for i := range l {
		b = append(b, l[i].Entries...)
	}
	return b
}

// Len is how many places there are.
func (l *Lists) Len() (n int) {
	for i := range l {
		n += len(l[i].Aliases)
	}
	return n
}

// appendAliases encodes the aliases of a list, which ascend: as bits or as the steps from one to
// the next, whichever is shorter.
func appendAliases(b []byte, aliases []uint32) []byte {
	n := uint64(len(aliases))
	if n == 0 {
		return binary.AppendUvarint(b, 0)
	}
	if int(aliases[n-1])/8+1 <= len(aliases) { // each step takes a byte at least
		b = binary.AppendUvarint(b, n<<1|1)
		start := len(b)
		b = append(b, make([]byte, aliases[n-1]/8+1)...)
		set := b[start:]
		for _, a := range aliases {
			set[a/8] |= 1 << (a % 8)
		}
		return b
	}
	b = binary.AppendUvarint(b, n<<1)
	next := uint32(0)
	for _, a := range aliases {
		b = binary.AppendUvarint(b, uint64(a-next))
		next = a + 1
	}
	return b
}

// readAliases appends them to buf.
func readAliases(r *codec.Reader, buf []uint32) []uint32 {
	head := r.Uvarint()
	n := head >> 1
	if n > uint64(r.Len())*8 || n > MaxAlias { // each takes a bit at least
		r.Fail(errEntry)
		return buf
	}
	next := uint64(0)
	for n > 0 && r.Err() == nil {
		if head&1 == 0 {
			next += r.Uvarint()
			if next >= MaxAlias {
				r.Fail(errEntry)
				break
			}
			buf = append(buf, uint32(next))
			next, n = next+1, n-1
			continue
		}
		byte8 := r.U8()
		if uint64(bits.OnesCount8(byte8)) > n || next >= MaxAlias {
			r.Fail(errEntry)
			break
		}
		for rest := byte8; rest != 0; rest &= rest - 1 {
			buf = append(buf, uint32(next)+uint32(bits.TrailingZeros8(rest)))
			n--
		}
		next += 8
	}
	return buf
}
