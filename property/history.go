package property

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// EventNumber numbers the property changes and method events of one entity in one sequence, from 1,
// without gaps. 0 means that nothing has happened. 32 bits last for more than a year at a hundred
// events a second.
type EventNumber uint32

// Event is a broadcast call of a client method.
type Event struct {
	Number  EventNumber
	Method  int    // index among the client methods
	Payload []byte // its arguments; do not change it
}

// History is what watchers of an entity are owed: per property the number of its last change, and
// the last method events. A property change is not kept as an event: its stamp says that the
// present value is owed. The last changes of parts of properties are kept, too, and a watcher that
// lacks only those is sent only those. The real gives the numbers. A ghost repeats them, and so
// notices if one is missing.
//
//	number   1    2    3    4    5    6    7
//	         hp   say  hp   say  pos  say  hp        Last() = 7
//	stamps   hp = 7, pos = 5                         a watcher at 4 is owed hp and pos …
//	events   2:say 4:say 6:say                       … and event 6
//
// At most [MaxHistory] events of [MaxHistoryBytes] are kept. If a watcher has not seen an event
// that was dropped, [History.Lost] says so, and the watcher must be refreshed: leave and enter
// again. Source: seed S4 §6.1.5.1.
type History struct {
	def    *Definition
	last   EventNumber
	lost   EventNumber // number of the newest reliable event that was dropped
	stamps []EventNumber
	events []Event // ascending numbers
	bytes  int     // of all payloads
	parts  partLog
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

// Record gives the next number to a change that has just been made to v, at the real. If it is a
// change of a part, a watcher that lacks only such changes is sent only those. Only what other
// clients see is numbered; for other properties it changes nothing and returns 0.
func (h *History) Record(v *Values, c *Change) EventNumber {
	if !h.numbered(c.Index) {
		return 0
	}
	n := h.Next()
	h.parts.add(n, h.stamps[c.Index], v, c)
	h.stamp(n, c.Index)
	return n
}

func (h *History) numbered(i int) bool {
	return i >= 0 && i < len(h.stamps) && h.def.Properties[i].Flags&OtherClient != 0
}

func (h *History) stamp(n EventNumber, i int) { h.last, h.stamps[i] = n, n }

// Add gives the next number to a broadcast call of client method number method, at the real, and
// keeps a copy of its payload. An index that the type does not have is a bug of the caller, and
// panics, as does a payload above MaxPayload.
func (h *History) Add(method int, payload []byte) EventNumber {
	if method < 0 || method >= len(h.def.ClientMethods) || len(payload) > MaxPayload {
		panic(fmt.Sprintf("property: History.Add of method %d with %d bytes to %s", method, len(payload), h.def.Name))
	}
	h.last = h.Next()
	h.keep(Event{h.last, method, slices.Clone(payload)})
	return h.last
}

// Repeat repeats at a ghost a change that has just been made to v and that the real numbered n; see
// Record. Errors are ErrEventGap if n does not follow Last, and ErrIndex; nothing has changed then.
func (h *History) Repeat(n EventNumber, v *Values, c *Change) error {
	if err := h.follows(n); err != nil {
		return err
	}
	if !h.numbered(c.Index) {
		return fmt.Errorf("%w: index %d of %s among those that other clients see", ErrIndex, c.Index, h.def.Name)
	}
	h.parts.add(n, h.stamps[c.Index], v, c)
	h.stamp(n, c.Index)
	return nil
}

// ApplyEvent repeats at a ghost an event that the real numbered n. Errors are ErrEventGap, ErrIndex
// for a method that the type does not have, and ErrLength; nothing has changed then.
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

// Trim drops what every watcher has seen: events and changes of parts numbered up to n.
func (h *History) Trim(n EventNumber) {
	if len(h.events) > 0 {
		h.drop(h.search(n))
	}
	h.parts.trim(n)
}

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

// Since yields the kept events numbered above n, oldest first. The history must not change
// meanwhile.
func (h *History) Since(n EventNumber) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for _, e := range h.events[h.search(n):] {
			if !yield(e) {
				return
			}
		}
	}
}

// Lost reports whether a reliable event numbered above n was dropped. Then a watcher that has seen
// everything up to n must be refreshed.
func (h *History) Lost(n EventNumber) bool { return h.lost > n }
