package property

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
)

// EventNumber numbers the property changes and method events of one entity in one sequence, from 1, without gaps. 0 means
// that nothing has happened. 32 bits last for more than a year at a hundred events a second.
type EventNumber uint32

// Event is a broadcast call of a client method.
type Event struct {
	Number  EventNumber
	Method  int    // index among the client methods
	Payload []byte // its arguments; do not change it
}

// History is what watchers of an entity are owed: per property the number of its last change, and the last method events.
// A property change is not kept as an event: its stamp says that the present value is owed. The real numbers; a ghost
// repeats the real's numbers and so notices if one is missing.
//
//	number   1    2    3    4    5    6    7
//	         hp   say  hp   say  pos  say  hp        Last() = 7
//	stamps   hp = 7, pos = 5                         a watcher at 4 is owed hp and pos …
//	events   2:say 4:say 6:say                       … and event 6
//
// At most [MaxHistory] events of [MaxHistoryBytes] are kept. A watcher who has not seen an event that was dropped has
// [History.Lost] it, and must be refreshed: leave and enter again. Source: seed S4 §6.1.5.1.
type History struct {
	def    *Definition
	last   EventNumber
	lost   EventNumber // number of the newest reliable event that was dropped
	stamps []EventNumber
	events []Event // ascending numbers
	bytes  int     // of all payloads
}

// NewHistory returns an empty history of an entity of type d, which must be of a Schema.
func NewHistory(d *Definition) *History {
	if !d.compiled {
		panic("property: NewHistory of a Definition that is not of a Schema: " + d.Name)
	}
	return &History{def: d, stamps: make([]EventNumber, len(d.Properties))}
}

// Last returns the number of the newest change or event.
func (h *History) Last() EventNumber { return h.last }

// Next returns the number that the next change or event will have.
func (h *History) Next() EventNumber {
	if h.last == math.MaxUint32 {
		panic("property: event numbers of an entity are used up")
	}
	return h.last + 1
}

// Stamp returns the number of the last change of property i, 0 if it never changed.
func (h *History) Stamp(i int) EventNumber {
	if i < 0 || i >= len(h.stamps) {
		return 0
	}
	return h.stamps[i]
}

// Touch gives the next number to a change of property i, at the real. Only what other clients see is numbered; for other
// properties it changes nothing and returns 0.
func (h *History) Touch(i int) EventNumber {
	if !h.numbered(i) {
		return 0
	}
	h.last = h.Next()
	h.stamps[i] = h.last
	return h.last
}

func (h *History) numbered(i int) bool {
	return i >= 0 && i < len(h.stamps) && OtherClientStream.carries(h.def.Properties[i].Flags)
}

// Add gives the next number to a broadcast call of client method number method, at the real, and keeps a copy of its
// payload. An index that the type does not have is a bug of the caller, and panics, as does a payload above MaxPayload.
func (h *History) Add(method int, payload []byte) EventNumber {
	if method < 0 || method >= len(h.def.ClientMethods) || len(payload) > MaxPayload {
		panic(fmt.Sprintf("property: History.Add of method %d with %d bytes to %s", method, len(payload), h.def.Name))
	}
	h.last = h.Next()
	h.keep(Event{h.last, method, slices.Clone(payload)})
	return h.last
}

// ApplyTouch repeats at a ghost a change that the real numbered n. Errors are ErrEventGap if n does not follow Last, and
// ErrIndex; nothing has changed then.
func (h *History) ApplyTouch(n EventNumber, i int) error {
	if err := h.follows(n); err != nil {
		return err
	}
	if !h.numbered(i) {
		return fmt.Errorf("%w: index %d of %s among those that other clients see", ErrIndex, i, h.def.Name)
	}
	h.last, h.stamps[i] = n, n
	return nil
}

// ApplyEvent repeats at a ghost an event that the real numbered n. Errors are ErrEventGap, ErrIndex for a method that the
// type does not have, and ErrLength; nothing has changed then.
func (h *History) ApplyEvent(n EventNumber, method int, payload []byte) error {
	if err := h.follows(n); err != nil {
		return err
	}
	if method < 0 || method >= len(h.def.ClientMethods) {
		return fmt.Errorf("%w: client method %d of %s", ErrIndex, method, h.def.Name)
	}
	if len(payload) > MaxPayload {
		return fmt.Errorf("%w: event of %d bytes", ErrLength, len(payload))
	}
	h.last = n
	h.keep(Event{n, method, slices.Clone(payload)})
	return nil
}

func (h *History) follows(n EventNumber) error {
	if h.last == math.MaxUint32 || n != h.last+1 {
		return fmt.Errorf("%w: %d after %d", ErrEventGap, n, h.last)
	}
	return nil
}

// keep stores an event and drops what it replaces or pushes out.
func (h *History) keep(e Event) {
	if h.def.ClientMethods[e.Method].SendLatestOnly {
		h.events = slices.DeleteFunc(h.events, func(old Event) bool {
			if old.Method != e.Method {
				return false
			}
			h.bytes -= len(old.Payload)
			return true // replaced, not lost: nobody is owed it any more
		})
	}
	h.events = append(h.events, e)
	h.bytes += len(e.Payload)
	h.bound()
}

func (h *History) bound() {
	n := 0
	for over := h.bytes; len(h.events)-n > MaxHistory || over > MaxHistoryBytes && n < len(h.events)-1; n++ {
		over -= len(h.events[n].Payload)
	}
	h.drop(n)
}

// Trim drops the events that every watcher has seen: those numbered up to n.
func (h *History) Trim(n EventNumber) { h.drop(h.search(n)) }

// drop drops the oldest n events.
func (h *History) drop(n int) {
	for _, e := range h.events[:n] {
		h.bytes -= len(e.Payload)
		if !h.def.ClientMethods[e.Method].Unreliable {
			h.lost = e.Number
		}
	}
	h.events = slices.Delete(h.events, 0, n)
}

// search returns the position of the first event above n.
func (h *History) search(n EventNumber) int {
	i, _ := slices.BinarySearchFunc(h.events, n, func(e Event, n EventNumber) int {
		if e.Number <= n {
			return -1
		}
		return 1
	})
	return i
}

// First returns the number of the oldest event kept, or Last()+1 if none is.
func (h *History) First() EventNumber {
	if len(h.events) == 0 {
		return h.last + 1
	}
	return h.events[0].Number
}

// Len returns how many events are kept.
func (h *History) Len() int { return len(h.events) }

// Since yields the kept events numbered above n, oldest first. The history must not change meanwhile.
func (h *History) Since(n EventNumber) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for _, e := range h.events[h.search(n):] {
			if !yield(e) {
				return
			}
		}
	}
}

// Lost reports whether a reliable event numbered above n was dropped: a watcher who has seen everything up to n must be
// refreshed.
func (h *History) Lost(n EventNumber) bool { return h.lost > n }

// Append appends the whole history, for offload and backup:
//
//	uvarint last, uvarint lost, uvarint stamp of each property with the OtherClient bit in order,
//	uvarint count, then per event: uvarint number, uvarint method, uvarint length, payload
func (h *History) Append(b []byte) []byte {
	b = h.appendStamps(b, h.lost)
	b = binary.AppendUvarint(b, uint64(len(h.events)))
	for _, e := range h.events {
		b = binary.AppendUvarint(b, uint64(e.Number))
		b = binary.AppendUvarint(b, uint64(e.Method))
		b = append(binary.AppendUvarint(b, uint64(len(e.Payload))), e.Payload...)
	}
	return b
}

// AppendGhost appends what a new ghost begins with: stamps and the last number, no events. Its watchers catch up from the
// stamps; one who is owed an event will find it Lost there.
func (h *History) AppendGhost(b []byte) []byte {
	lost := h.lost
	for _, e := range h.events {
		if !h.def.ClientMethods[e.Method].Unreliable {
			lost = e.Number
		}
	}
	return binary.AppendUvarint(h.appendStamps(b, lost), 0)
}

func (h *History) appendStamps(b []byte, lost EventNumber) []byte {
	b = binary.AppendUvarint(b, uint64(h.last))
	b = binary.AppendUvarint(b, uint64(lost))
	for i := range h.stamps {
		if h.numbered(i) {
			b = binary.AppendUvarint(b, uint64(h.stamps[i]))
		}
	}
	return b
}

// Read takes a history off the front of b, in place of what h held. It takes it whole or, with an error, leaves h as it
// was. Errors are ErrTruncated, ErrLength and ErrHistory.
func (h *History) Read(b []byte) (rest []byte, err error) {
	n := History{def: h.def, stamps: make([]EventNumber, len(h.def.Properties))}
	if rest, err = n.readStamps(b); err == nil {
		rest, err = n.readEvents(rest)
	}
	if err != nil {
		return b, fmt.Errorf("history of %s: %w", h.def.Name, err)
	}
	n.bound() // a no-op for what Append wrote
	*h = n
	return rest, nil
}

func (h *History) readStamps(b []byte) (rest []byte, err error) {
	if h.last, b, err = readNumber(b, math.MaxUint32); err != nil {
		return b, err
	}
	if h.lost, b, err = readNumber(b, h.last); err != nil {
		return b, err
	}
	for i := range h.stamps {
		if !h.numbered(i) {
			continue
		}
		if h.stamps[i], b, err = readNumber(b, h.last); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (h *History) readEvents(b []byte) (rest []byte, err error) {
	const eventMin = 3 // bytes of an event without payload
	count, b, err := readCount(b, MaxHistory, eventMin)
	if err != nil {
		return b, err
	}
	h.events = make([]Event, count)
	previous := h.lost
	for i := range h.events {
		e := &h.events[i]
		if e.Number, b, err = readNumber(b, h.last); err != nil {
			return b, err
		}
		if e.Number <= previous {
			return b, fmt.Errorf("%w: event %d after %d", ErrHistory, e.Number, previous)
		}
		previous = e.Number
		method, after, err := readUvarint(b)
		if err != nil {
			return b, err
		}
		if method >= uint64(len(h.def.ClientMethods)) {
			return b, fmt.Errorf("%w: client method %d", ErrHistory, method)
		}
		e.Method = int(method)
		n, after, err := readCount(after, MaxPayload, 1)
		if err != nil {
			return b, err
		}
		e.Payload, b = slices.Clone(after[:n]), after[n:]
		h.bytes += n
	}
	return b, nil
}

func readNumber(b []byte, limit EventNumber) (EventNumber, []byte, error) {
	u, rest, err := readUvarint(b)
	if err != nil {
		return 0, b, err
	}
	if u > uint64(limit) {
		return 0, b, fmt.Errorf("%w: number %d above %d", ErrHistory, u, limit)
	}
	return EventNumber(u), rest, nil
}
