package wire

import "github.com/cellscape/cellscape/internal/codec"

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

// LeaseAsk asks another manager for its vote, or for more time with it.
type LeaseAsk struct {
	// Term is the one in which the sender would lead, or leads.
	Term uint32
	// Round is for the answer.
	Round uint64
	// Leaving says that the sender is being stopped, and still needs the votes to end in order.
	Leaving bool
}

func (m *LeaseAsk) code(c *codec.Coder) {
	codec.Uint32(c, &m.Term)
	c.Uvarint(&m.Round)
	c.Bool(&m.Leaving)
}

// Append and Parse are what code describes.
func (m *LeaseAsk) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *LeaseAsk) Parse(body []byte) error { return parse(body, m, m.code) }

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

// Append and Parse are what code describes.
func (m *LeaseVote) Append(b []byte) []byte  { return codec.Append(b, m.code) }
func (m *LeaseVote) Parse(body []byte) error { return parse(body, m, m.code) }
