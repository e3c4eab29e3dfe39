package flow

import (
	"cmp"
	"errors"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
)

const (
	// LastWordsLease is for how long it is remembered what a part that has ended had handled: as long as
	// it is remembered that an entity without a base has ended (ghost.TombstoneLease). A sender that has
	// missed the last ack says its message again within ResendMost.
	LastWordsLease = time.Minute

	// MaxLastWords bounds the memory of one app, a few megabytes; beyond it the oldest goes. Who has
	// handled something acks it before it ends, so this matters only where that ack was lost.
	MaxLastWords = 1 << 16

	// MaxGone bounds the last words in one Gone: as many as a cell part keeps flows.
	MaxGone = 1 << 10
)

// LastWord is how far a part that has ended had handled one flow.
type LastWord struct {
	// From is the sender of the flow.
	From     entity.ID
	FromPart entity.Part
	// Number is the last one that was handled, in the stream of an incarnation of the sender.
	Stream uint32
	Number uint64
	// Cause and Turn are those of the last call (ServerCall), Upload the place of the last one by the
	// sender's client (MethodCall): by these a repeat is known that has another number.
	Cause  uint64
	Turn   uint32
	Upload uint64
}

func (x *LastWord) code(c *codec.Coder) {
	codec.Field(c, x, func(b []byte, x LastWord) []byte { return fields.AppendEnd(b, x.From, x.FromPart) }, func(r *codec.Reader) LastWord {
		x := *x
		x.From, x.FromPart = fields.ReadEnd(r)
		return x
	})
	codec.Uint32(c, &x.Stream)
	c.Uvarint(&x.Number)
	c.Uvarint(&x.Cause)
	codec.Uint32(c, &x.Turn)
	c.Uvarint(&x.Upload)
}

// Receiver is the receiving end of a new part that goes on where the former one ended. Nothing of it is
// settled yet, and the sender is owed an ack by which it knows the new part.
func (x *LastWord) Receiver() Receiver {
	in := NewReceiver(x.Stream, x.Number)
	in.saved, in.settled, in.owed = 0, 0, true
	return in
}

// LastWord is what is left to say to the sender of a flow when its target ends.
func (in *Receiver) LastWord(from entity.ID, part entity.Part) LastWord {
	h := in.handled()
	return LastWord{From: from, FromPart: part, Stream: h.stream, Number: h.last}
}

// Complete adds to the word that a target has ended what it had handled. A sender of an older
// incarnation than was heard is told nothing of that: its numbers may have meant other messages.
func (x *LastWord) Complete(a *Ack) {
	if x.Stream <= a.Incarnation {
		a.Stream, a.Number, a.Settled = x.Stream, x.Number, x.Number
	}
}

// End settles what a target had handled that has ended, as a Gone says. The rest nobody will handle.
func (o *Sender) End(now time.Duration, a *Ack, stream uint32) {
	o.Settle(now, o.known(a.Stream, a.Number, stream))
}

// LastWords remember, each for LastWordsLease, what parts had handled that have ended. The word that
// such a part is gone says it, so that a lost ack turns no handled call into a refused one. The zero
// value remembers nothing.
type LastWords struct {
	byFlow map[flowName]lasting
	queue  []lapse // the oldest first
}

// flowName names a flow by both its ends.
type flowName struct {
	from, to         entity.ID
	fromPart, toPart entity.Part
}

type lasting struct {
	LastWord
	until time.Duration
}

// lapse is the end of one Keep; a flow that was kept again has several.
type lapse struct {
	of    flowName
	until time.Duration
}

// Keep remembers how far a part that ends has handled a flow.
func (w *LastWords) Keep(now time.Duration, of entity.ID, part entity.Part, x LastWord) {
	if x.Number == 0 {
		return
	}
	if w.byFlow == nil {
		w.byFlow = make(map[flowName]lasting)
	}
	if len(w.queue) >= MaxLastWords {
		w.pop()
	}
	name, until := flowName{x.From, of, x.FromPart, part}, now+LastWordsLease
	w.byFlow[name] = lasting{x, until}
	w.queue = append(w.queue, lapse{name, until})
}

// Complete adds to the word that a target has ended what it had handled, if that is remembered.
func (w *LastWords) Complete(a *Ack) {
	if x, kept := w.byFlow[flowName{a.To, a.From, a.ToPart, a.FromPart}]; kept {
		x.Complete(a)
	}
}

// Expire forgets what has been remembered for its lease.
func (w *LastWords) Expire(now time.Duration) {
	for len(w.queue) > 0 && w.queue[0].until <= now {
		w.pop()
	}
}

// pop forgets the oldest, unless it was kept again.
func (w *LastWords) pop() {
	x := w.queue[0]
	if w.byFlow[x.of].until <= x.until {
		delete(w.byFlow, x.of)
	}
	if w.queue = w.queue[1:]; len(w.queue) == 0 {
		w.queue = nil // append would go on after what was taken
	}
}

// Gone is the body of GonePayload: what the cell part had handled, of others than its own base. The
// base tells that those who have missed the last ack, and the cell part that it makes next.
type Gone struct {
	Heard []LastWord // by sender
	// Ending says that it was destroyed because its base was ending, of which a next life of the base may
	// know nothing else.
	Ending bool
}

// code codes those of one part. What it reads is in order, and of something.
func (m *Gone) code(c *codec.Coder) {
	list := &m.Heard
	codec.List(c, list, MaxGone, 7, func(c *codec.Coder, x *LastWord) { x.code(c) })
	for i := range *list {
		x := &(*list)[i]
		ordered := i == 0 || cmp.Or(cmp.Compare((*list)[i-1].From, x.From), cmp.Compare((*list)[i-1].FromPart, x.FromPart)) < 0
		if !ordered || !x.From.Valid() || x.FromPart == entity.ClientPart || x.Number == 0 {
			c.Fail(errGone)
			return
		}
	}
	c.Bool(&m.Ending)
}

// Append encodes m with its payload byte.
func (m *Gone) Append(b []byte) []byte { return m.AppendBody(append(b, byte(GonePayload))) }

// AppendBody encodes m without it, as parts of entities have it.
func (m *Gone) AppendBody(b []byte) []byte { return codec.Append(b, m.code) }

var errGone = errors.New("flow: last words out of order, or of nothing")

// Parse decodes a body.
func (m *Gone) Parse(body []byte) error { return parseWish(body, "gone", m.code) }
