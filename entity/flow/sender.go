package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/invariant"
)

// kept is a message of a Sender that is not settled yet.
type kept struct {
	number  uint64
	born    uint32 // of a Receiver's only: see Message.Born
	payload []byte
}

// Sender is the sending end of a flow. Its zero value is an empty flow. It belongs to the sender
// and travels with it.
type Sender struct {
	next     uint64 // last number given out
	received uint64 // highest number the target said it handled
	kept     []kept // numbers settled+1 .. next, ascending
	births   []birth
	parent   uint32 // the incarnation from whose copy this one goes on
	bytes    int    // of the kept payloads
	sent     uint64 // highest number sent since the last Again; at least received
	sentAt   time.Duration
	tries    uint8    // how often it was sent again since the last acknowledgement
	again    bool     // the target was restored: what it lacks is sent again at once
	spares   [][]byte // memory of settled payloads, for the next ones
	spare    int      // bytes of it
}

// birth says that the messages up to a number, above that of the birth before, were first sent in the
// stream of an incarnation.
type birth struct {
	upTo   uint64
	stream uint32
}

// maxSpare is the largest payload whose memory is used again, and maxSpares bounds what one flow holds on
// to, in bytes. A tick's bundle is below the first; a backup above it is too rare. What is sent to a base
// is settled once in a backup period, and so comes free in heaps: the second is a period of small bundles.
const (
	maxSpare  = 4 << 10
	maxSpares = 16 << 10
)

// NewSender returns the sending end of a flow whose numbers begin above after, for a flow that is
// begun anew while its target may remember an earlier one.
func NewSender(after uint64) Sender { return Sender{next: after, received: after, sent: after} }

// Add keeps a copy of payload under the next number and returns the number. The caller sends it
// (see Send); now starts the resend timer.
func (o *Sender) Add(now time.Duration, payload []byte) (uint64, error) {
	if len(payload) > MaxPayload {
		return 0, fmt.Errorf("%w: %d bytes", ErrPayload, len(payload))
	}
	if len(o.kept) >= MaxKept || o.bytes+len(payload) > MaxKeptBytes {
		return 0, ErrFull
	}
	if o.next == o.received {
		o.sentAt = now
	}
	o.next++
	o.bytes += len(payload)
	o.kept = append(o.kept, kept{number: o.next, payload: append(o.takeSpare(), payload...)})
	if invariant.On {
		o.assert()
	}
	return o.next, nil
}

// Reserved and ReservedBytes are what scripts leave free of MaxKept and MaxKeptBytes: what the library
// itself has to say must find room. (A script called its base until nothing more was kept. Then its
// entity was teleported, that was not told, and the client stayed in the old space.)
const (
	Reserved      = MaxKept / 8
	ReservedBytes = MaxKeptBytes / 8
)

// HasRoom reports whether a script may add a message; what it must not use is the library's.
func (o *Sender) HasRoom() bool {
	return len(o.kept) < MaxKept-Reserved && o.bytes < MaxKeptBytes-ReservedBytes
}

// Received notes that the target has handled everything up to n. Numbers that were never sent are
// ignored, so a forged ack cannot run ahead. A target that says again what it has said is there,
// and lacks what was sent while it was not: that does not wait any longer than the first time. (A
// player whose base had stood still for four seconds heard nothing for four more.)
func (o *Sender) Received(now time.Duration, n uint64) {
	switch {
	case n > o.next || n < o.received:
	case n == o.received:
		o.tries = 0
	default:
		o.received = n
		o.sent = max(o.sent, n)
		o.sentAt, o.tries = now, 0
	}
}

// Settle forgets everything up to n; it implies Received.
func (o *Sender) Settle(now time.Duration, n uint64) {
	if n > o.next {
		return
	}
	o.Received(now, n)
	i := 0
	for i < len(o.kept) && o.kept[i].number <= n {
		o.bytes -= len(o.kept[i].payload)
		o.addSpare(o.kept[i].payload)
		i++
	}
	if i == 0 {
		return
	}
	o.sentAt = now
	o.kept = slices.Delete(o.kept, 0, i)
	i = 0
	for i < len(o.births) && o.births[i].upTo < o.Low() {
		i++
	}
	o.births = slices.Delete(o.births, 0, i)
	if invariant.On {
		o.assert()
	}
}

func (o *Sender) addSpare(p []byte) {
	if c := cap(p); c > 0 && c <= maxSpare && o.spare+c <= maxSpares {
		o.spares, o.spare = append(o.spares, p[:0]), o.spare+c
	}
}

func (o *Sender) takeSpare() []byte {
	n := len(o.spares)
	if n == 0 {
		return nil
	}
	p := o.spares[n-1]
	o.spares[n-1] = nil
	o.spares, o.spare = o.spares[:n-1], o.spare-cap(p)
	return p
}

// Rewind says that the target was restored from a state that had handled only up to n, so that
// everything kept after n is sent again, and is Due. What is settled is not kept, and nobody waits
// for it.
func (o *Sender) Rewind(n uint64) {
	if to := max(n, o.Low()-1); to < o.received {
		o.received, o.again, o.tries = to, true, 0
	}
	if invariant.On {
		o.assert()
	}
}

// Restart readies a flow that was read from a copy of its sender, which was of the given incarnation:
// it goes on as the stream of a new one, which sends again all that is not settled.
func (o *Sender) Restart(stream uint32) {
	if n := len(o.births); len(o.kept) > 0 && (n == 0 || o.births[n-1].upTo < o.next) {
		o.births = append(o.births, birth{o.next, stream})
	}
	o.parent = stream
	o.Rewind(0)
}

// Born is the incarnation in which a number was first sent; now is the present one. See Message.Born.
func (o *Sender) Born(number uint64, now uint32) uint32 {
	for i := range o.births {
		if number <= o.births[i].upTo {
			return o.births[i].stream
		}
	}
	return now
}

// BornBy reports whether nothing kept was born in a later incarnation than that.
func (o *Sender) BornBy(stream uint32) bool {
	n := len(o.births)
	return n == 0 || o.births[n-1].stream <= stream
}

// Low is the lowest number that can still be sent; next+1 when nothing is kept.
func (o *Sender) Low() uint64 {
	if len(o.kept) == 0 {
		return o.next + 1
	}
	return o.kept[0].number
}

// Last is the last number given out.
func (o *Sender) Last() uint64 { return o.next }

// Kept is the number of unsettled messages.
func (o *Sender) Kept() int { return len(o.kept) }

// Bytes is the length of the unsettled payloads.
func (o *Sender) Bytes() int { return o.bytes }

// Unreceived is the number of messages the target has not acknowledged.
func (o *Sender) Unreceived() int { return int(o.next - o.received) }

// Send calls f with the messages that were not sent yet, in order, until f reports that there is no
// room for one; the next Send goes on with that one. payload is valid until the message is settled.
func (o *Sender) Send(f func(number uint64, payload []byte) (sent bool)) {
	for o.Unsent() {
		k := o.kept[len(o.kept)-int(o.next-o.sent)]
		if !f(k.number, k.payload) {
			return
		}
		o.sent = k.number
	}
}

// Unsent reports whether something was not sent yet, or not since the last Again.
func (o *Sender) Unsent() bool { return o.next > o.sent }

// Again makes Send begin anew with the oldest message that was not acknowledged, and restarts the
// resend timer: for a target at a new address, and when Due.
func (o *Sender) Again(now time.Duration) {
	if o.Due(now) {
		o.tries = min(o.tries+1, 2) // ResendMost
	}
	o.sent, o.sentAt, o.again = o.received, now, false
}

// Resume is what a tick does for a flow: Send, preceded by Again when that is Due. What waits for
// room is not late.
func (o *Sender) Resume(now time.Duration, f func(number uint64, payload []byte) (sent bool)) {
	if o.again || !o.Unsent() && o.Due(now) {
		o.Again(now)
	}
	o.Send(f)
}

// Waiting is the number of messages that Send has not reached.
func (o *Sender) Waiting() int { return int(o.next - o.sent) }

// EachKept calls f with every message that is not settled, in order; received says which of them the
// target has acknowledged.
func (o *Sender) EachKept(f func(payload []byte, received bool)) {
	for i := range o.kept {
		f(o.kept[i].payload, o.kept[i].number <= o.received)
	}
}

// Each calls f with every message that the target has not acknowledged, in order.
func (o *Sender) Each(now time.Duration, f func(number uint64, payload []byte)) {
	o.Again(now)
	o.Send(func(n uint64, payload []byte) bool {
		f(n, payload)
		return true
	})
}

// Due reports whether the oldest unacknowledged message has waited ResendAfter, or is to be sent to
// a target that was restored.
func (o *Sender) Due(now time.Duration) bool {
	return o.next > o.received && (o.again || now-o.sentAt >= min(ResendMost, ResendAfter<<o.tries))
}

// Probe calls f with the oldest message if the target has handled all of them but has settled
// nothing for a time. The answer tells whether it still has them, even if it was restored where
// nobody hears of it.
func (o *Sender) Probe(now, after time.Duration, f func(number uint64, payload []byte)) {
	if len(o.kept) == 0 || o.next > o.received || now-o.sentAt < after {
		return
	}
	o.sentAt = now
	f(o.kept[0].number, o.kept[0].payload)
}

// Append encodes the flow for an offload or a backup.
func (o *Sender) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, o.next)
	b = binary.AppendUvarint(b, o.received)
	b = binary.AppendUvarint(b, uint64(len(o.kept)))
	for _, k := range o.kept {
		b = codec.AppendBytes(b, k.payload)
	}
	b = binary.AppendUvarint(b, uint64(len(o.births)))
	for _, x := range o.births {
		b = binary.AppendUvarint(b, o.next-x.upTo)
		b = binary.AppendUvarint(b, uint64(x.stream))
	}
	if len(o.births) > 0 { // otherwise nothing is known by it
		b = binary.AppendUvarint(b, uint64(o.parent))
	}
	return b
}

// Read decodes what Append wrote. Where that fails the flow is empty: half of one breaks what the other
// methods rely on, and not every reader looks for an error before it goes on.
func (o *Sender) Read(r *codec.Reader) {
	if o.read(r); r.Err() != nil {
		*o = Sender{}
		return
	}
	if invariant.On {
		o.assert()
	}
}

func (o *Sender) read(r *codec.Reader) {
	next, received := r.Uvarint(), r.Uvarint()
	n := r.Count(MaxKept, 1)
	if received > next || uint64(n) > next || received < next-uint64(n) {
		// What is not kept was settled, and so was received.
		r.Fail(errors.New("flow: numbers out of range"))
		return
	}
	*o = Sender{next: next, received: received, sent: received}
	for i := range n {
		p := r.Bytes(MaxPayload)
		if r.Err() != nil {
			return
		}
		o.kept = append(o.kept, kept{number: next - uint64(n) + uint64(i) + 1, payload: append([]byte(nil), p...)})
		if o.bytes += len(p); o.bytes > MaxKeptBytes {
			r.Fail(ErrFull)
			return
		}
	}
	if o.readBirths(r); len(o.births) > 0 {
		o.parent = fields.ReadUint32(r)
	}
}

// readBirths reads them: each is of a kept message, so there are no more than those.
func (o *Sender) readBirths(r *codec.Reader) {
	var last birth
	for range r.Count(len(o.kept), 2) {
		before, stream := r.Uvarint(), fields.ReadUint32(r)
		x := birth{o.next - min(before, o.next), stream}
		if x.upTo <= last.upTo || x.upTo < o.Low() || x.stream < last.stream {
			r.Fail(errors.New("flow: births out of order"))
			return
		}
		o.births = append(o.births, x)
		last = x
	}
}

// Lives notes that the target is there in an incarnation. life is the newest known one: a
// newer one was restored, perhaps from a backup without this flow, so that it owes no ack. It is sent
// again whatever is kept.
func (o *Sender) Lives(incarnation uint32, life *uint32) {
	if incarnation > *life {
		*life = incarnation
		o.Rewind(0)
	}
}

// Heed settles a flow to a cell part as that says. stream is the sender's incarnation. life is the
// newest known incarnation of the target: a newer one was restored, and may have handled less than the
// one before it, whose acks no longer count.
func (o *Sender) Heed(now time.Duration, a *Ack, stream uint32, life *uint32) {
	own := a.Incarnation == stream
	handled := a.Number
	if !own {
		handled = 0
	}
	switch {
	case a.Life < *life:
		return
	case a.Life > *life:
		*life = a.Life
		o.Rewind(handled)
	}
	if own {
		o.Received(now, handled)
		o.Settle(now, a.Settled)
	}
}
