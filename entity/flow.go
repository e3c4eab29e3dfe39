package entity

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
)

const (
	// MaxEarly bounds the messages that wait in one In for an earlier one. A
	// handoff overlaps for about a round trip, a few ticks of messages; what
	// comes beyond is dropped and comes again by the sender's timer.
	MaxEarly = 512

	// MaxKept bounds the messages that one Out keeps. It is reached only when
	// the other end is gone for long; the owner decides what that means.
	MaxKept = 1 << 14

	// MaxKeptBytes bounds the payloads that one Out keeps: some twenty backups of
	// the largest entities, or MaxKept messages of a kilobyte.
	MaxKeptBytes = 16 << 20

	// MaxFlowPayload bounds one message of a flow, below mercury's own bound so
	// that the header always fits: a backup of a large entity.
	MaxFlowPayload = 512 << 10

	// FlowResend is how long an Out waits for an acknowledgement before it sends
	// again. Channels repair loss themselves, so this covers only what was lost
	// with a moving target or a dead process, and may be slow.
	FlowResend = time.Second

	// FlowResendMost is the most that the wait grows to, twofold each time that nothing was
	// acknowledged: a target that is only slow has all of it in its queue already, and
	// gets no faster by having it again.
	FlowResendMost = 4 * FlowResend
)

// Errors of flows.
var (
	// ErrFlowFull is returned by Out.Add when MaxKept messages, or MaxKeptBytes of
	// them, are unsettled.
	ErrFlowFull = errors.New("entity: the flow keeps too many unsettled messages")
	// ErrPayload is returned for a payload longer than MaxFlowPayload.
	ErrPayload = errors.New("entity: flow message too long")
)

// Message is one message of a flow on the wire.
type Message struct {
	From     ID
	FromSide Side
	To       ID
	ToSide   Side
	// Stream is the sender's incarnation; a newer one starts again at 1.
	Stream uint32
	// Low is the lowest number that the sender still keeps.
	Low uint64
	// Number counts from 1 in each stream.
	Number uint64
	// Reply is where acknowledgements go: the app that the sender is on.
	Reply mercury.Address
	// Payload aliases the input after Parse.
	Payload []byte
}

// Append encodes m.
func (m *Message) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(m.From))
	b = append(b, byte(m.FromSide))
	b = binary.AppendUvarint(b, uint64(m.To))
	b = append(b, byte(m.ToSide))
	b = binary.AppendUvarint(b, uint64(m.Stream))
	b = binary.AppendUvarint(b, m.Low)
	b = binary.AppendUvarint(b, m.Number)
	b = mercury.AppendAddress(b, m.Reply)
	return append(b, m.Payload...)
}

// Parse decodes m from all of b. Payload aliases b.
func (m *Message) Parse(b []byte) error {
	r := mercury.NewReader(b)
	m.From = ReadID(&r)
	m.FromSide = readSide(&r)
	m.To = ReadID(&r)
	m.ToSide = readSide(&r)
	m.Stream = ReadUint32(&r)
	m.Low = r.Uvarint()
	m.Number = r.Uvarint()
	m.Reply = r.Address()
	m.Payload = r.Rest()
	if err := r.Err(); err != nil {
		return fmt.Errorf("entity: flow message: %w", err)
	}
	if m.Number == 0 || m.Low > m.Number || m.FromSide == 0 || m.ToSide == 0 || !m.From.Valid() || !m.To.Valid() {
		return errors.New("entity: flow message: numbers or names out of range")
	}
	return nil
}

// Ack tells the sender of a flow what became of its messages.
type Ack struct {
	// To and ToSide name the sender of the flow, whom the ack is for.
	To     ID
	ToSide Side
	// From and FromSide name the target of the flow, who has handled it.
	From     ID
	FromSide Side
	Stream   uint32
	// Life is the incarnation of a target that is a cell part. A newer one was
	// restored, and may have handled less than what an older one acknowledged.
	Life uint32
	// Number is the last message that was handled, Settled the last that will stay
	// handled whatever dies. Only a cell part with a base tells them apart: it
	// settles what is in a backup that its base holds.
	Number, Settled uint64
	// Gone says that the target has ended: what it did not handle, nobody will.
	Gone bool
}

// Append encodes a.
func (a *Ack) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(a.To))
	b = append(b, byte(a.ToSide))
	b = binary.AppendUvarint(b, uint64(a.From))
	b = append(b, byte(a.FromSide))
	b = binary.AppendUvarint(b, uint64(a.Stream))
	b = binary.AppendUvarint(b, uint64(a.Life))
	b = binary.AppendUvarint(b, a.Number)
	b = binary.AppendUvarint(b, a.Number-min(a.Settled, a.Number))
	return mercury.AppendBool(b, a.Gone)
}

// Parse decodes a from all of b.
func (a *Ack) Parse(b []byte) error {
	r := mercury.NewReader(b)
	a.To = ReadID(&r)
	a.ToSide = readSide(&r)
	a.From = ReadID(&r)
	a.FromSide = readSide(&r)
	a.Stream = ReadUint32(&r)
	a.Life = ReadUint32(&r)
	a.Number = r.Uvarint()
	unsettled := r.Uvarint()
	a.Gone = r.Bool()
	if unsettled > a.Number {
		r.Fail(errors.New("entity: more is unsettled than was handled"))
	}
	a.Settled = a.Number - unsettled
	if err := r.Close(); err != nil {
		return fmt.Errorf("entity: flow ack: %w", err)
	}
	return nil
}

// ReadID reads an entity id; ids outside 53 bits set the reader's error.
func ReadID(r *mercury.Reader) ID {
	v := r.Uvarint()
	if v > uint64(MaxID) {
		r.Fail(errors.New("entity: id out of range"))
		return 0
	}
	return ID(v)
}

// ReadUint32 reads an unsigned varint that must fit 32 bits.
func ReadUint32(r *mercury.Reader) uint32 {
	v := r.Uvarint()
	if v > 1<<32-1 {
		r.Fail(errors.New("entity: number out of range"))
		return 0
	}
	return uint32(v)
}

// AppendOrder and ReadOrder carry an Order.
func AppendOrder(b []byte, o Order) []byte {
	b = binary.AppendUvarint(b, uint64(o.Incarnation))
	return binary.AppendUvarint(b, uint64(o.Hop))
}

// ReadOrder reads what AppendOrder wrote.
func ReadOrder(r *mercury.Reader) Order {
	return Order{Incarnation: ReadUint32(r), Hop: ReadUint32(r)}
}

func readSide(r *mercury.Reader) Side {
	s := Side(r.U8())
	if s < CellSide || s > ClientSide {
		r.Fail(errors.New("entity: unknown side"))
		return 0
	}
	return s
}

// kept is a message of an Out that is not settled yet.
type kept struct {
	number  uint64
	payload []byte
}

// Out is the sending end of a flow. Its zero value is an empty flow. It belongs
// to the sender and travels with it.
type Out struct {
	next     uint64 // last number given out
	received uint64 // highest number the target said it handled
	kept     []kept // numbers settled+1 .. next, ascending
	bytes    int    // of the kept payloads
	sent     uint64 // highest number that was sent since the last Again; at least received
	sentAt   time.Duration
	tries    uint8  // how often it was sent again since the last acknowledgement
	again    bool   // the target was restored: what it lacks is sent again at once
	spare    []byte // a settled payload's memory, for the next one
}

// maxSpare is the largest payload whose memory is used again: a bundle of a tick
// is below it, a backup above is too rare to hold on to.
const maxSpare = 4 << 10

// NewOut returns the sending end of a flow whose numbers begin above after: for a
// flow that is begun anew while its target may remember an earlier one.
func NewOut(after uint64) Out { return Out{next: after, received: after, sent: after} }

// Add keeps a copy of payload under the next number and returns the number. The
// caller sends it (see Send); now starts the resend timer.
func (o *Out) Add(now time.Duration, payload []byte) (uint64, error) {
	if len(payload) > MaxFlowPayload {
		return 0, fmt.Errorf("%w: %d bytes", ErrPayload, len(payload))
	}
	if len(o.kept) >= MaxKept || o.bytes+len(payload) > MaxKeptBytes {
		return 0, ErrFlowFull
	}
	if o.next == o.received {
		o.sentAt = now
	}
	o.next++
	o.bytes += len(payload)
	o.kept = append(o.kept, kept{o.next, append(o.spare[:0], payload...)})
	o.spare = nil
	return o.next, nil
}

// Received notes that the target handled everything up to n. Numbers that were
// never sent are ignored, so a forged ack cannot run ahead.
func (o *Out) Received(now time.Duration, n uint64) {
	if n > o.received && n <= o.next {
		o.received = n
		o.sent = max(o.sent, n)
		o.sentAt, o.tries = now, 0
	}
}

// Settle forgets everything up to n; it implies Received.
func (o *Out) Settle(now time.Duration, n uint64) {
	if n > o.next {
		return
	}
	o.Received(now, n)
	i := 0
	for i < len(o.kept) && o.kept[i].number <= n {
		o.bytes -= len(o.kept[i].payload)
		i++
	}
	if i == 0 {
		return
	}
	o.sentAt = now
	if last := o.kept[i-1].payload; cap(last) <= maxSpare {
		o.spare = last
	}
	o.kept = slices.Delete(o.kept, 0, i)
}

// Rewind says that the target was restored from a state that had handled only
// up to n, so that everything kept after n is sent again, and is Due. What is
// settled is not kept, and not waited for either.
func (o *Out) Rewind(n uint64) {
	if to := max(n, o.Low()-1); to < o.received {
		o.received, o.again, o.tries = to, true, 0
	}
}

// Restart readies a flow that was read from a backup of its sender: it goes on as
// the stream of a new incarnation, which says again all that is not settled.
func (o *Out) Restart() { o.Rewind(0) }

// Low is the lowest number that can still be sent; next+1 when nothing is kept.
func (o *Out) Low() uint64 {
	if len(o.kept) == 0 {
		return o.next + 1
	}
	return o.kept[0].number
}

// Last is the last number given out.
func (o *Out) Last() uint64 { return o.next }

// Kept is the number of unsettled messages.
func (o *Out) Kept() int { return len(o.kept) }

// Bytes is the length of the unsettled payloads.
func (o *Out) Bytes() int { return o.bytes }

// Unreceived is the number of messages the target has not acknowledged.
func (o *Out) Unreceived() int { return int(o.next - o.received) }

// Send calls f with the messages that were not sent yet, in order, until f reports
// that there is no room for one: Send goes on with that next time. payload is good
// until the message is settled.
func (o *Out) Send(f func(number uint64, payload []byte) (sent bool)) {
	for o.Unsent() {
		k := o.kept[len(o.kept)-int(o.next-o.sent)]
		if !f(k.number, k.payload) {
			return
		}
		o.sent = k.number
	}
}

// Unsent reports whether something was not sent yet, or not since the last Again.
func (o *Out) Unsent() bool { return o.next > o.sent }

// Again has Send begin anew with the oldest message that was not acknowledged, and
// restarts the resend timer: for a target at a new address, and when Due.
func (o *Out) Again(now time.Duration) {
	if o.Due(now) {
		o.tries = min(o.tries+1, 2) // FlowResendMost
	}
	o.sent, o.sentAt, o.again = o.received, now, false
}

// Resume is what a tick does for a flow: Send, and Again before when that is Due. What
// waits for room is not late.
func (o *Out) Resume(now time.Duration, f func(number uint64, payload []byte) (sent bool)) {
	if o.again || !o.Unsent() && o.Due(now) {
		o.Again(now)
	}
	o.Send(f)
}

// Waiting is the number of messages that Send has not come to.
func (o *Out) Waiting() int { return int(o.next - o.sent) }

// Each calls f with every message that the target has not acknowledged, in order.
func (o *Out) Each(now time.Duration, f func(number uint64, payload []byte)) {
	o.Again(now)
	o.Send(func(n uint64, payload []byte) bool {
		f(n, payload)
		return true
	})
}

// Due reports whether the oldest unacknowledged message has waited FlowResend, or
// is to be sent to a target that was restored.
func (o *Out) Due(now time.Duration) bool {
	return o.next > o.received && (o.again || now-o.sentAt >= min(FlowResendMost, FlowResend<<o.tries))
}

// Probe calls f with the oldest message if the target handled all of them, but has
// settled nothing for a time: the answer tells whether it still has them, also when it
// was restored where nobody hears of it.
func (o *Out) Probe(now, after time.Duration, f func(number uint64, payload []byte)) {
	if len(o.kept) == 0 || o.next > o.received || now-o.sentAt < after {
		return
	}
	o.sentAt = now
	f(o.kept[0].number, o.kept[0].payload)
}

// Append encodes the flow for an offload or a backup.
func (o *Out) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, o.next)
	b = binary.AppendUvarint(b, o.received)
	b = binary.AppendUvarint(b, uint64(len(o.kept)))
	for _, k := range o.kept {
		b = mercury.AppendBytes(b, k.payload)
	}
	return b
}

// Read decodes what Append wrote.
func (o *Out) Read(r *mercury.Reader) {
	next, received := r.Uvarint(), r.Uvarint()
	n := r.Count(MaxKept, 1)
	if received > next || uint64(n) > next || received < next-uint64(n) {
		// What is not kept was settled, hence received.
		r.Fail(errors.New("entity: flow numbers out of range"))
		return
	}
	*o = Out{next: next, received: received, sent: received}
	for i := range n {
		p := r.Bytes(MaxFlowPayload)
		if r.Err() != nil {
			return
		}
		o.kept = append(o.kept, kept{next - uint64(n) + uint64(i) + 1, append([]byte(nil), p...)})
		if o.bytes += len(p); o.bytes > MaxKeptBytes {
			r.Fail(ErrFlowFull)
			return
		}
	}
}

// In is the receiving end of a flow. Its zero value has received nothing. It
// belongs to the target and travels with it.
type In struct {
	stream uint32
	last   uint64
	// saved is what the backup contains that the base is still to confirm, settled
	// what it has confirmed.
	saved, settled uint64
	early          []kept // ascending, all > last+1; not carried by Append: the sender still keeps them
	owed           bool   // an ack is owed
	lost           uint64 // skipped since TakeLost
}

// NewIn returns a receiving end that has handled everything of a stream up to last.
func NewIn(stream uint32, last uint64) In { return In{stream: stream, last: last}.restored() }

// Verdict is what became of an arriving message.
type Verdict uint8

// What In.Accept says.
const (
	// Deliver: Accept called deliver at least once.
	Deliver Verdict = iota
	// Wait: an earlier message is missing; this one is held, or comes again.
	Wait
	// Duplicate: it was handled before; the ack is owed again.
	Duplicate
	// Stale: it belongs to an older stream of the sender, and is refused.
	Stale
)

// Accept takes a message and calls deliver with it, and with every held message
// that it completes, in order. deliver must not call Accept of the same In.
func (in *In) Accept(stream uint32, low, number uint64, payload []byte, deliver func(payload []byte)) Verdict {
	switch {
	case stream < in.stream:
		return Stale
	case stream > in.stream:
		*in = In{stream: stream}
	}
	if low > in.last+1 {
		if in.last > 0 { // a stream may begin anywhere
			in.lost += low - 1 - in.last
		}
		in.skipTo(low)
	}
	in.owed = true
	delivered := false
	switch {
	case number == in.last+1:
		in.last, delivered = number, true
		deliver(payload)
	case number > in.last:
		in.hold(number, payload)
	}
	// A skip may have left the next one, or the one just delivered, among those held.
	for len(in.early) > 0 && in.early[0].number <= in.last+1 {
		next := in.early[0]
		in.early = slices.Delete(in.early, 0, 1)
		if next.number == in.last+1 {
			in.last, delivered = next.number, true
			deliver(next.payload)
		}
	}
	switch {
	case delivered:
		return Deliver
	case number <= in.last:
		return Duplicate
	}
	return Wait
}

// skipTo gives up on numbers below low: no one keeps them any more.
func (in *In) skipTo(low uint64) {
	in.last = low - 1
	n := 0
	for n < len(in.early) && in.early[n].number <= in.last {
		n++
	}
	in.early = slices.Delete(in.early, 0, n)
}

func (in *In) hold(number uint64, payload []byte) {
	i := len(in.early)
	for i > 0 && in.early[i-1].number >= number {
		if in.early[i-1].number == number {
			return
		}
		i--
	}
	if len(in.early) >= MaxEarly {
		return
	}
	in.early = slices.Insert(in.early, i, kept{number, slices.Clone(payload)})
}

// Last is the highest number delivered.
func (in *In) Last() uint64 { return in.last }

// Settled is the highest number that is in a backup which the base holds.
func (in *In) Settled() uint64 { return in.settled }

// Save notes that a backup was taken, which contains all that was delivered.
func (in *In) Save() { in.saved = in.last }

// Confirm notes that the base holds the backup of the last Save. The sender is owed
// an ack if that settles something.
func (in *In) Confirm() {
	if in.saved > in.settled {
		in.settled, in.owed = in.saved, true
	}
}

// restored is the receive state that came out of a copy which the base holds.
func (in In) restored() In {
	in.saved, in.settled, in.owed = in.last, in.last, false
	return in
}

// Restore says that the state was read from a copy which the base holds: all of it
// is settled. No ack is owed; senders find out that the target is another one.
func (in *In) Restore() { *in = in.restored() }

// Stream is the sender's incarnation that Last counts in.
func (in *In) Stream() uint32 { return in.stream }

// Owed reports whether an ack is owed.
func (in *In) Owed() bool { return in.owed }

// TakeOwed reports whether an ack is owed, and clears it.
func (in *In) TakeOwed() bool {
	o := in.owed
	in.owed = false
	return o
}

// TakeLost tells how many messages were skipped since it was last asked, because
// nobody keeps them any more: lost, unless their sender gave them up knowingly.
func (in *In) TakeLost() uint64 {
	n := in.lost
	in.lost = 0
	return n
}

// Append encodes the receive state.
func (in *In) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(in.stream))
	b = binary.AppendUvarint(b, in.last)
	b = binary.AppendUvarint(b, in.last-in.saved)
	return binary.AppendUvarint(b, in.saved-in.settled)
}

// Read decodes what Append wrote; an ack is owed then, from the new address.
func (in *In) Read(r *mercury.Reader) {
	*in = In{stream: ReadUint32(r), last: r.Uvarint(), owed: true}
	unsaved, unsettled := r.Uvarint(), r.Uvarint()
	if unsaved > in.last || unsettled > in.last-unsaved {
		r.Fail(errors.New("entity: flow numbers out of range"))
		return
	}
	in.saved = in.last - unsaved
	in.settled = in.saved - unsettled
}
