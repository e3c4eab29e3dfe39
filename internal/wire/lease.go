package wire

import (
	"encoding/binary"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

// How the managers of a cluster agree who leads, without anything installed; package cellappmgr has the
// rules (election):
//
//	candidate --LeaseAsk--> the other managers
//	          <--LeaseVote-
//	leader    --Members---> the others: whom it would call on that begins to lead after it
//
// An ask and a vote travel in packets that may be lost: the ask is repeated all the time.

// MaxManagers bounds the places at which a manager of a cluster may lead: a majority of them must vote,
// and more than three outages at once call for an operator anyway.
const MaxManagers = 7

// LeaseAsk asks another manager for its vote, or for more time with it. It is the first that one says to
// another.
type LeaseAsk struct {
	// Speaks are the versions of the messages that the sender can speak, Digest that of its definitions.
	// Up to here a LeaseAsk never changes.
	Speaks Versions
	Digest [16]byte
	// Term is the one in which the sender would lead, or leads.
	Term uint32
	// Round is for the answer.
	Round uint64
	// Leaving says that the sender is being stopped, and still needs the votes to end in order.
	Leaving bool
}

// Append encodes m.
func (m *LeaseAsk) Append(b []byte) []byte {
	b = codec.Append(b, m.Speaks.code)
	b = append(b, m.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(m.Term))
	b = binary.AppendUvarint(b, m.Round)
	return codec.AppendBool(b, m.Leaving)
}

// Parse decodes a body. Of one of another version it reads what never changes.
func (m *LeaseAsk) Parse(body []byte) error {
	r := codec.NewReader(body)
	*m = LeaseAsk{Speaks: Versions{r.U16(), r.U16()}}
	copy(m.Digest[:], r.Take(len(m.Digest)))
	if !m.Speaks.foreign(&r) {
		m.Term, m.Round, m.Leaving = fields.ReadUint32(&r), r.Uvarint(), r.Bool()
	}
	return done(&r, "lease ask")
}

// LeaseVote answers a LeaseAsk.
type LeaseVote struct {
	Term    uint32
	Round   uint64
	Granted bool
	// Highest is the term of the sender's last vote.
	Highest uint32
}

func (m *LeaseVote) code(c *codec.Coder) {
	codec.Uint32(c, &m.Term)
	c.Uvarint(&m.Round)
	c.Bool(&m.Granted)
	codec.Uint32(c, &m.Highest)
}

func (m *LeaseVote) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *LeaseVote) Parse(body []byte) error { return parse(body, m, m.code) }
