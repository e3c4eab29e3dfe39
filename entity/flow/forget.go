package flow

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/mercury"
)

// A target that has forgotten a flow would handle again what it has handled. So it asks before it
// forgets, and before it takes up a flow that it may have forgotten:
//
//	handled, at rest for long  ---Inquiry--->  the sender
//	forgets it, if the answer  <--Remainder--  what can still come, now and
//	covers what it handled                     in any life that may follow
//
//	no record of a number that  ---Inquiry--->  the app that sent it
//	may be of a forgotten flow  <--Remainder--
//	begins at Low
//
// What may be of a forgotten flow is known by its number. A flow begins above the time at which it was
// begun, in microseconds (Begins), so its numbers are below the present time: what is above all numbers
// that the target has forgotten is new. (It used to be that a flow was forgotten a minute after its last
// message. A base that had a tenth of a processor for two minutes brought, or restored, calls that were
// older, and they were handled twice.)

// Inquiry is the question of a flow's target to its sender.
type Inquiry struct {
	// Of is the sender of the flow, for whom the question is.
	Of     entity.ID
	OfPart entity.Part
	// By is the target, which asks from the app Reply.
	By     entity.ID
	ByPart entity.Part
	Reply  mercury.Address
	// Stamp is what the answer repeats. A target heeds only the answer to its last question.
	Stamp uint64
}

// Append encodes m.
func (m *Inquiry) Append(b []byte) []byte {
	b = fields.AppendEnd(b, m.Of, m.OfPart)
	b = fields.AppendMailbox(b, m.By, m.ByPart, m.Reply)
	return binary.AppendUvarint(b, m.Stamp)
}

// Parse decodes m from all of b.
func (m *Inquiry) Parse(b []byte) error {
	r := codec.NewReader(b)
	m.Of, m.OfPart = fields.ReadEnd(&r)
	m.By, m.ByPart, m.Reply = fields.ReadMailbox(&r)
	m.Stamp = r.Uvarint()
	if err := r.Close(); err != nil {
		return fmt.Errorf("flow: inquiry: %w", err)
	}
	return nil
}

// Prospect is what the target of a flow knows of what may still come of it. The zero value knows nothing.
type Prospect struct {
	// Asked is when the sender was asked last, 0 if it never was.
	Asked time.Duration
	// Nothing says that it has answered: nothing. Something that comes after all makes it untrue.
	Nothing bool
	// sure says that it is known where a flow goes on whose numbers may have been forgotten.
	sure bool
}

// MayAsk reports whether the last question was long enough ago.
func (x *Prospect) MayAsk(now, patience time.Duration) bool {
	return x.Asked == 0 || now-x.Asked >= patience
}

// Ask notes that m is asked now, and stamps it.
func (x *Prospect) Ask(now time.Duration, m *Inquiry) { x.Asked, m.Stamp = now, uint64(now) }

// Doubts reports whether a message may be of a flow that was forgotten: in has heard nothing of it,
// and spent is the highest number that the target has forgotten.
func (x *Prospect) Doubts(m *Message, in *Receiver, spent uint64) bool {
	return !in.Heard() && !x.sure && spent > 0 && m.Low <= spent
}

// Take takes an answer, and reports whether it is the one to the last question. cause and upload
// are those of the last call that was handled; see Covers. A flow that may have been forgotten goes
// on where the sender says.
func (x *Prospect) Take(a *Remainder, in *Receiver, cause, upload uint64) bool {
	if x.Asked == 0 || uint64(x.Asked) != a.Stamp {
		return false
	}
	if !in.Heard() && !x.sure {
		x.sure, *in = true, NewReceiver(a.Incarnation, max(a.Low, 1)-1)
	}
	x.Nothing = a.Covers(in.Last(), cause, upload)
	return true
}

// Begins is the number above which the flows begin that a part begins now, which has forgotten
// numbers up to spent: the other end may remember those of an earlier flow. now is the time of the
// cluster, or of the game; microseconds of it are above all that there can have been.
func Begins(now time.Duration, spent uint64) uint64 {
	return max(uint64(max(now, 0)/time.Microsecond), spent)
}

// Remainder is the answer to an Inquiry.
type Remainder struct {
	// To is the target of the flow, which has asked, and From is its sender.
	To       entity.ID
	ToPart   entity.Part
	From     entity.ID
	FromPart entity.Part
	Stamp    uint64
	// Incarnation is that of the sender, and Low the lowest number that it may still send.
	Incarnation uint32
	Low         uint64
	// Through says that a later life of the sender will send nothing below Low either: the copy from which
	// it would be restored keeps nothing.
	Through bool
	// Caused is up to which number the messages of its base, and Uploaded up to which place the calls of its
	// client, are handled in that copy: a later life does not handle them again. See ServerCall.Cause and
	// MethodCall.Cause.
	Caused, Uploaded uint64
}

// SeekTime is for how long a caller asks, after the death of a BaseApp or its own, whether bases are there
// still that owe it answers, and SeekAgain how often: the heir of such a base may hear the verdict later.
//
// A base that has no copies settles what it has handled. So a caller keeps nothing of a call of which an heir
// could say that nobody will handle it, and the answer is gone with the base.
const (
	SeekTime  = 10 * time.Second
	SeekAgain = 2 * time.Second
)

// nothingMore is the last number of a flow whose sender is gone, as its target takes it: all that may still
// come is as if it had been handled.
const nothingMore = ^uint64(0) - 1

// Nothing fills in the answer for a sender that is gone, or of which no later life can come.
func (m *Remainder) Nothing() {
	m.Low, m.Through, m.Caused, m.Uploaded = nothingMore+1, true, ^uint64(0), ^uint64(0)
}

// Gone reports whether a sender has nothing to send now, nor ever: it is gone, and its answers with it.
func (m *Remainder) Gone() bool { return m.Low > nothingMore }

// Covers reports whether a target may forget what it has handled: everything up to a number, calls caused
// by the message with the mark cause, and calls of a client up to the place upload.
func (m *Remainder) Covers(last, cause, upload uint64) bool {
	return m.Through && last < m.Low && Mark(cause).Number() <= m.Caused && upload <= m.Uploaded
}

// Append encodes m.
func (m *Remainder) Append(b []byte) []byte {
	b = fields.AppendEnd(b, m.To, m.ToPart)
	b = fields.AppendEnd(b, m.From, m.FromPart)
	b = binary.AppendUvarint(b, m.Stamp)
	b = binary.AppendUvarint(b, uint64(m.Incarnation))
	b = binary.AppendUvarint(b, m.Low)
	b = codec.AppendBool(b, m.Through)
	b = binary.AppendUvarint(b, m.Caused)
	return binary.AppendUvarint(b, m.Uploaded)
}

// Parse decodes m from all of b.
func (m *Remainder) Parse(b []byte) error {
	r := codec.NewReader(b)
	m.To, m.ToPart = fields.ReadEnd(&r)
	m.From, m.FromPart = fields.ReadEnd(&r)
	m.Stamp = r.Uvarint()
	m.Incarnation = fields.ReadUint32(&r)
	m.Low = r.Uvarint()
	m.Through = r.Bool()
	m.Caused = r.Uvarint()
	m.Uploaded = r.Uvarint()
	if err := r.Close(); err != nil {
		return fmt.Errorf("flow: remainder: %w", err)
	}
	return nil
}
