package flow

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/invariant"
)

// Receiver is the receiving end of a flow. Its zero value has received nothing. It belongs to the
// target and travels with it.
type Receiver struct {
	stream uint32
	last   uint64
	born   uint32 // of the message that is being delivered; not carried
	// former is what was handled of an older stream, while nothing of this one is new.
	former former
	spoken spoken
	// saved is what a backup contains that the base has yet to confirm, settled what the base has
	// confirmed.
	saved, settled uint64
	early          []kept // ascending, all > last+1; not carried by Append: the sender still keeps them
	owed           bool   // an ack is owed
	shut           bool   // see Shut
	lost           uint64 // skipped since TakeLost
}

// former says that everything of an older stream up to last has been handled.
type former struct {
	stream uint32
	last   uint64
}

// NewReceiver returns a receiving end that has handled everything of a stream up to last.
func NewReceiver(stream uint32, last uint64) Receiver {
	return Receiver{stream: stream, last: last, spoken: spoken{before: spell{stream, last}}}.restored()
}

// Verdict is what became of an arriving message.
type Verdict uint8

// What Receiver.Accept says.
const (
	// Deliver: Accept called deliver at least once.
	Deliver Verdict = iota
	// Wait: an earlier message is missing; this one is held, or comes again.
	Wait
	// Duplicate: it was handled before; an ack is owed again.
	Duplicate
	// Stale: it belongs to an older stream of the sender, and is refused.
	Stale
)

// Accept takes a message of a stream that repeats nothing of an older one; see AcceptBorn.
func (in *Receiver) Accept(stream uint32, low, number uint64, payload []byte, deliver func(payload []byte)) Verdict {
	return in.AcceptBorn(stream, stream, low, number, payload, deliver)
}

// AcceptBorn takes a message and calls deliver with it, and with every held message that it completes,
// in order. born is Message.Born: what was handled in an older stream is not delivered again. deliver
// must not call AcceptBorn of the same Receiver.
func (in *Receiver) AcceptBorn(stream, born uint32, low, number uint64, payload []byte, deliver func(payload []byte)) Verdict {
	var was Receiver
	if invariant.On {
		was = *in
	}
	switch {
	case in.shut:
		return Wait
	case stream < in.stream:
		return Stale
	case stream > in.stream:
		*in = Receiver{stream: stream, former: in.handled(), spoken: in.spoken}
	}
	if low > in.last+1 {
		// A stream may begin anywhere, and what was handled in an older one need not come again.
		if had := max(in.last, in.former.last); in.last > 0 && low > had+1 {
			in.lost += low - 1 - had
		}
		in.skipTo(low)
	}
	in.owed = true
	delivered := false
	switch {
	case number == in.last+1:
		in.last = number
		delivered = in.fresh(number, born)
		if delivered {
			in.born = born
			deliver(payload)
		}
	case number > in.last:
		in.hold(number, born, payload)
	}
	// A skip may have left the next message, or the one just delivered, among those held.
	for !in.shut && len(in.early) > 0 && in.early[0].number <= in.last+1 {
		next := in.early[0]
		in.early = slices.Delete(in.early, 0, 1)
		if next.number == in.last+1 {
			in.last = next.number
			if in.fresh(next.number, next.born) {
				delivered, in.born = true, next.born
				deliver(next.payload)
			}
		}
	}
	if invariant.On {
		in.assert(was)
	}
	switch {
	case delivered:
		return Deliver
	case number <= in.last:
		return Duplicate
	}
	return Wait
}

// Shut says, while a message is delivered, that the target has ended by it: nothing after it is
// handled, nor counts as handled, and what came early is not waited with any more.
func (in *Receiver) Shut() { in.shut, in.early = true, nil }

// handled is what the next stream may repeat.
func (in *Receiver) handled() former {
	if in.former.last > in.last {
		return in.former
	}
	return former{in.stream, in.last}
}

// fresh reports whether a message was not handled in an older stream, and notes that it is now.
func (in *Receiver) fresh(number uint64, born uint32) bool {
	if !in.spoken.fresh(number, born) {
		return false
	}
	in.former = former{}
	return true
}

// skipTo gives up on numbers below low: no one keeps them any more.
func (in *Receiver) skipTo(low uint64) {
	in.last = low - 1
	n := 0
	for n < len(in.early) && in.early[n].number <= in.last {
		n++
	}
	in.early = slices.Delete(in.early, 0, n)
}

func (in *Receiver) hold(number uint64, born uint32, payload []byte) {
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
	in.early = slices.Insert(in.early, i, kept{number: number, born: born, payload: slices.Clone(payload)})
}

// Last is the highest number delivered.
func (in *Receiver) Last() uint64 { return in.last }

// Spent is the highest number that who forgets the flow must remember. What was learned of a sender that is
// gone (Remainder.Nothing) is no number: flows that were begun above it ran over.
func (in *Receiver) Spent() uint64 {
	if in.last >= nothingMore {
		return 0
	}
	return in.last
}

// Heard reports whether anything is known of the flow.
func (in *Receiver) Heard() bool { return in.last > 0 || in.stream > 0 }

// Settled is the highest number that is in a backup which the base holds.
func (in *Receiver) Settled() uint64 { return in.settled }

// Save notes that a backup was taken, which contains all that has been delivered.
func (in *Receiver) Save() { in.saved = in.last }

// Confirm notes that the base holds the backup of the last Save. If that settles something, the
// sender is owed an ack.
func (in *Receiver) Confirm() {
	if in.saved > in.settled {
		in.settled, in.owed = in.saved, true
	}
}

// restored is the receive state that came out of a copy which the base holds.
func (in Receiver) restored() Receiver {
	in.saved, in.settled, in.owed = in.last, in.last, false
	return in
}

// Restore says that the state was read from a copy which the base holds: all of it is settled. No
// ack is owed; senders find out that the target is another one.
func (in *Receiver) Restore() { *in = in.restored() }

// RestoreUnconfirmed says that the state was read from a copy which the base has, and perhaps
// nobody else: more than was settled when it was taken is settled when the next one is confirmed.
// No ack is owed, as above.
func (in *Receiver) RestoreUnconfirmed() { in.saved, in.owed = in.settled, false }

// Owe makes an ack owed: the target is a new incarnation, and says so.
func (in *Receiver) Owe() { in.owed = true }

// Incarnation is the sender's incarnation that Last counts in.
func (in *Receiver) Incarnation() uint32 { return in.stream }

// Owed reports whether an ack is owed.
func (in *Receiver) Owed() bool { return in.owed }

// TakeOwed reports whether an ack is owed, and clears it.
func (in *Receiver) TakeOwed() bool {
	o := in.owed
	in.owed = false
	return o
}

// TakeLost returns how many messages were skipped since it was last asked, because nobody keeps
// them any more: they are lost, unless their sender gave them up knowingly.
func (in *Receiver) TakeLost() uint64 {
	n := in.lost
	in.lost = 0
	return n
}

// Append encodes the receive state.
func (in *Receiver) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(in.stream))
	b = binary.AppendUvarint(b, in.last)
	b = binary.AppendUvarint(b, in.last-in.saved)
	b = binary.AppendUvarint(b, in.saved-in.settled)
	return in.spoken.append(b, in.former, in.last)
}

// Read decodes what Append wrote; an ack is then owed, from the new address.
func (in *Receiver) Read(r *codec.Reader) {
	*in = Receiver{stream: fields.ReadUint32(r), last: r.Uvarint(), owed: true}
	unsaved, unsettled := r.Uvarint(), r.Uvarint()
	if unsaved > in.last || unsettled > in.last-unsaved {
		r.Fail(errors.New("flow: numbers out of range"))
		return
	}
	in.saved = in.last - unsaved
	in.settled = in.saved - unsettled
	in.former = in.spoken.read(r, in.last)
}
