package script

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/limits"
	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/internal/fields"
	"github.com/cellscape/cellscape/internal/gametime"
)

// MaxName bounds the names of callbacks in bytes, where they travel.
const MaxName = 256

// Timers are the timers of one part of an entity, in the order of their ids, and what gives out
// the ids of all that calls its script back. Times are game time. The zero value has none.
type Timers struct {
	last entity.CallbackID
	list []timer
}

type timer struct {
	id     entity.CallbackID
	due    time.Duration
	every  time.Duration // 0 for once
	method string
	user   int64
}

// NextID gives out an id.
func (t *Timers) NextID() entity.CallbackID {
	t.last++
	return t.last
}

// Last is the id that was given out last.
func (t *Timers) Last() entity.CallbackID { return t.last }

// Add adds a timer; whether the script has the method is for the caller to check.
func (t *Timers) Add(now, after, every time.Duration, method string, user int64) (entity.CallbackID, error) {
	switch {
	case after < 0 || every < 0:
		return 0, fmt.Errorf("entity: timer %s after %v, every %v: times are 0 or more", method, after, every)
	case len(t.list) >= limits.Timers:
		return 0, fmt.Errorf("%w: one part of an entity has at most %d timers", entity.ErrTooMany, limits.Timers)
	}
	id := t.NextID()
	t.list = append(t.list, timer{id, gametime.After(now, after), every, method, user})
	return id, nil
}

// Cancel ends a timer and reports whether there was one.
func (t *Timers) Cancel(id entity.CallbackID) bool {
	i := t.find(id)
	if i < 0 {
		return false
	}
	t.list = slices.Delete(t.list, i, i+1)
	return true
}

func (t *Timers) find(id entity.CallbackID) int {
	return slices.IndexFunc(t.list, func(x timer) bool { return x.id == id })
}

// Clear ends all timers.
func (t *Timers) Clear() { t.list = nil }

// Due reports whether Run has anything to call.
func (t *Timers) Due(now time.Duration) bool {
	return slices.ContainsFunc(t.list, func(x timer) bool { return x.due <= now })
}

// Run calls what is due, the earliest first, and of the same time the older first. The callee may
// add and cancel timers: those that it adds wait for the next Run, those that it cancels are not
// called. A repeated timer that missed times, in a long tick, runs once for all of them.
func (t *Timers) Run(now time.Duration, call func(method string, c entity.Callback)) {
	for newest := t.last; ; {
		i := t.next(now, newest)
		if i < 0 {
			return
		}
		x := t.list[i]
		if x.every > 0 {
			t.list[i].due = gametime.Again(x.due, x.every, now)
		} else {
			t.list = slices.Delete(t.list, i, i+1)
		}
		call(x.method, entity.Callback{ID: x.id, User: x.user})
	}
}

// next is the timer to be called next, of those up to an id; -1 for none.
func (t *Timers) next(now time.Duration, newest entity.CallbackID) int {
	best := -1
	for i := range t.list {
		x := &t.list[i]
		if x.due <= now && x.id <= newest && (best < 0 || x.due < t.list[best].due) {
			best = i
		}
	}
	return best
}

// Shift makes all timers due later by d, or earlier, but not before the beginning of time.
func (t *Timers) Shift(d time.Duration) {
	for i := range t.list {
		t.list[i].due = max(0, gametime.After(t.list[i].due, d))
	}
}

// Append encodes the timers, each with how long it has to go: where they come to, game time may
// have begun anew.
func (t *Timers) Append(b []byte, now time.Duration) []byte {
	b = binary.AppendUvarint(b, uint64(t.last))
	b = binary.AppendUvarint(b, uint64(len(t.list)))
	for i := range t.list {
		x := &t.list[i]
		b = binary.AppendUvarint(b, uint64(x.id))
		b = binary.AppendVarint(b, int64(x.due-now))
		b = binary.AppendUvarint(b, uint64(x.every))
		b = codec.AppendString(b, x.method)
		b = binary.AppendVarint(b, x.user)
	}
	return b
}

var errTimer = errors.New("script: a timer that nobody can have added")

// Read takes over what Append wrote, in place of what t had.
func (t *Timers) Read(r *codec.Reader, now time.Duration) {
	*t = Timers{last: entity.CallbackID(fields.ReadUint32(r))}
	var before entity.CallbackID
	for range r.Count(limits.Timers, 5) {
		var x timer
		x.id = entity.CallbackID(fields.ReadUint32(r))
		x.due = gametime.After(now, time.Duration(r.Varint()))
		x.every = time.Duration(r.Uvarint())
		x.method = r.String(MaxName)
		x.user = r.Varint()
		if x.id <= before || x.id > t.last || x.every < 0 {
			r.Fail(errTimer)
		}
		if r.Err() != nil {
			return
		}
		before = x.id
		t.list = append(t.list, x)
	}
}
