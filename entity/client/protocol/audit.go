package protocol

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
)

// Limits of an audit.
const (
	// MaxAudited bounds the entities of one audit.
	MaxAudited = 1 << 14
	// MaxExpected bounds the values of one entity, in bytes: as many as an Enter can bring.
	MaxExpected = 3 * MaxValue
)

// Audit is what the server says a client should hold: the answer to an audit request, made from the
// cell's own lists and not from what the witness thinks it sent. A client at rest in a world at
// rest must hold exactly this.
type Audit struct {
	Own      Expected
	Entities []Expected
}

// Expected is one entity of an audit: its place, and every property value that the client is
// entitled to at the detail level at which it is watched.
type Expected struct {
	Place
	Type  uint16 // property.Definition.ClientID
	Props []byte // whole values as in Enter; aliases the input after Parse
}

// Append frames and encodes m.
func (m *Audit) Append(b []byte) []byte {
	b, mark := Begin(b, AuditID)
	b = m.Own.append(b)
	b = binary.AppendUvarint(b, uint64(len(m.Entities)))
	for i := range m.Entities {
		b = m.Entities[i].append(b)
	}
	return End(b, mark)
}

// Parse decodes a body.
func (m *Audit) Parse(body []byte) error {
	r := codec.NewReader(body)
	m.Own.read(&r)
	n := r.Count(MaxAudited, 28)
	m.Entities = make([]Expected, n)
	for i := range m.Entities {
		m.Entities[i].read(&r)
	}
	return done(&r, "audit")
}

func (x *Expected) append(b []byte) []byte {
	b = x.appendExact(b)
	b = binary.LittleEndian.AppendUint16(b, x.Type)
	return codec.AppendBytes(b, x.Props)
}

func (x *Expected) read(r *codec.Reader) {
	x.Place.read(r)
	x.Type = r.U16()
	x.Props = r.Bytes(MaxExpected)
}
