package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

const (
	// MaxEarly bounds the messages that wait in one Receiver for an earlier one. A handoff overlaps
	// for about a round trip, which is a few ticks of messages; what comes beyond that is dropped,
	// and the sender's timer brings it again.
	MaxEarly = 512

	// MaxKept bounds the messages that one Sender keeps. It is reached only when the other end is
	// gone for long; the owner decides what that means.
	MaxKept = 1 << 14

	// MaxKeptBytes bounds the payloads that one Sender keeps: some twenty backups of the largest
	// entities, or MaxKept messages of a kilobyte.
	MaxKeptBytes = 16 << 20

	// MaxPayload bounds one message of a flow: a backup of an entity as large as may travel
	// (migrate.MaxParts), and its head. It is below mercury's own bound, so that the header always
	// fits. (It was half of that, and an entity between the two was never backed up.)
	MaxPayload = 900 << 10

	// ResendAfter is how long a Sender waits for an acknowledgement before it sends again. Channels
	// repair loss themselves, so this covers only what was lost with a moving target or a dead
	// process, and may be slow.
	ResendAfter = time.Second

	// ResendMost is the longest that the wait grows to; it doubles each time that nothing was
	// acknowledged. A target that is only slow has everything in its queue already, and gets no
	// faster by receiving it again.
	ResendMost = 4 * ResendAfter
)

// Errors of flows.
var (
	// ErrFull is returned by Sender.Add when MaxKept messages, or MaxKeptBytes of them, are
	// unsettled.
	ErrFull = errors.New("flow: too many messages are kept unsettled")
	// ErrPayload is returned for a payload longer than MaxPayload.
	ErrPayload = errors.New("flow: message too long")
)

// Message is one message of a flow on the wire.
type Message struct {
	From     entity.ID
	FromPart entity.Part
	To       entity.ID
	ToPart   entity.Part
	// Incarnation is the sender's incarnation; a newer one starts again at 1.
	Incarnation uint32
	// Low is the lowest number that the sender still keeps.
	Low uint64
	// Number counts from 1 in each stream.
	Number uint64
	// Born is the incarnation in whose stream the message was first sent with this number. A restored
	// sender goes on with what its backup has kept, and Born tells which numbers of the new stream mean
	// what they meant in the former one. It is at most Incarnation.
	Born uint32
	// Reply is where acknowledgements go: the app that the sender is on.
	Reply mercury.Address
	// Payload aliases the input after Parse.
	Payload []byte
}

// Append encodes m.
func (m *Message) Append(b []byte) []byte {
	b = fields.AppendEnd(b, m.From, m.FromPart)
	b = fields.AppendEnd(b, m.To, m.ToPart)
	b = binary.AppendUvarint(b, uint64(m.Incarnation))
	b = binary.AppendUvarint(b, m.Low)
	b = binary.AppendUvarint(b, m.Number)
	b = binary.AppendUvarint(b, uint64(m.Incarnation-m.Born))
	b = mercury.AppendAddress(b, m.Reply)
	return append(b, m.Payload...)
}

// Parse decodes m from all of b. Payload aliases b.
func (m *Message) Parse(b []byte) error {
	r := codec.NewReader(b)
	m.From, m.FromPart = fields.ReadEnd(&r)
	m.To, m.ToPart = fields.ReadEnd(&r)
	m.Incarnation = fields.ReadUint32(&r)
	m.Low = r.Uvarint()
	m.Number = r.Uvarint()
	older := fields.ReadUint32(&r)
	m.Born = m.Incarnation - min(older, m.Incarnation)
	m.Reply = mercury.ReadAddress(&r)
	m.Payload = r.Rest()
	if err := r.Err(); err != nil {
		return fmt.Errorf("flow: message: %w", err)
	}
	if older > m.Incarnation {
		return errors.New("flow: message: it is older than its flow")
	}
	if m.Number == 0 || m.Low > m.Number || m.FromPart == 0 || m.ToPart == 0 || !m.From.Valid() || !m.To.Valid() {
		return errors.New("flow: message: numbers or names out of range")
	}
	return nil
}

// Ack tells the sender of a flow what became of its messages.
type Ack struct {
	// To and ToSide name the sender of the flow, for whom the ack is.
	To     entity.ID
	ToPart entity.Part
	// From and FromSide name the target of the flow, which has handled it.
	From        entity.ID
	FromPart    entity.Part
	Incarnation uint32
	// Life is the incarnation of the target. A newer one was restored, and may have handled less
	// than what an older one acknowledged.
	Life uint32
	// Number is the last message that was handled, Settled the last that stays handled whatever
	// dies: a cell part with a base settles what is in a backup that its base holds, a base what is
	// in a copy that another app holds.
	Number, Settled uint64
	// Gone says that the target has ended: nobody will handle what it did not handle. Number is then
	// the last that it had handled in the stream of an incarnation of the sender, at most Incarnation;
	// 0 if nobody remembers.
	Gone   bool
	Stream uint32
}

// Append encodes a.
func (a *Ack) Append(b []byte) []byte {
	b = fields.AppendEnd(b, a.To, a.ToPart)
	b = fields.AppendEnd(b, a.From, a.FromPart)
	b = binary.AppendUvarint(b, uint64(a.Incarnation))
	b = binary.AppendUvarint(b, uint64(a.Life))
	b = binary.AppendUvarint(b, a.Number)
	b = binary.AppendUvarint(b, a.Number-min(a.Settled, a.Number))
	if b = codec.AppendBool(b, a.Gone); a.Gone {
		b = binary.AppendUvarint(b, uint64(a.Incarnation-min(a.Stream, a.Incarnation)))
	}
	return b
}

// Parse decodes a from all of b.
func (a *Ack) Parse(b []byte) error {
	r := codec.NewReader(b)
	a.To, a.ToPart = fields.ReadEnd(&r)
	a.From, a.FromPart = fields.ReadEnd(&r)
	a.Incarnation = fields.ReadUint32(&r)
	a.Life = fields.ReadUint32(&r)
	a.Number = r.Uvarint()
	unsettled := r.Uvarint()
	a.Stream = 0
	if a.Gone = r.Bool(); a.Gone {
		older := fields.ReadUint32(&r)
		if older > a.Incarnation {
			r.Fail(errors.New("flow: an ack of an incarnation that is yet to come"))
		}
		a.Stream = a.Incarnation - min(older, a.Incarnation)
	}
	if unsettled > a.Number {
		r.Fail(errors.New("flow: more is unsettled than was handled"))
	}
	a.Settled = a.Number - unsettled
	if err := r.Close(); err != nil {
		return fmt.Errorf("flow: ack: %w", err)
	}
	return nil
}
