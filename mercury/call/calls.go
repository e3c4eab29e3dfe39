package call

import (
	"math"
	"slices"
	"time"

	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/internal/wheel"
)

// DefaultMax is far more than a healthy callee leaves open: at 1000 calls a second it is four
// seconds' worth.
const DefaultMax = 4096

// ID names one call of one Calls. It is never used again, and 0 names none. A later call has a
// greater ID than an earlier one.
type ID uint64

// Done is told how a call ended. If err is nil, answer is what came, and is valid only as long as
// Answer's caller says. Otherwise err is ErrTimeout, the reason why the channel ended, or what
// Fail was given.
type Done[A any] func(now time.Duration, answer A, err error)

// Calls holds the calls that wait for their end; A is what answers one. The zero value has none.
//
// It is a part of an app, which frames its messages itself and tells it what it hears:
//
//	id := Begin(now, ch, ...)                ──>  the request goes out, with its id
//	an answer came, with the id              ──>  Answer(now, ch, id, answer)
//	Handler.Closed(now, ch, reason)          ──>  Closed(now, ch, reason)
//	the app's tick, or at NextDeadline       ──>  Advance(now)
//
// A call ends exactly once: by an answer or failure that came on its own channel, by its time-out,
// by the end of its channel, or by Cancel, after which its Done is not called.
//
// A Done is called only inside Answer, Fail, Closed and Advance. It may call any method but
// Advance. Time-outs fire in the order of their times, to 0.26 ms, then in the order of the calls.
// A Calls belongs to one goroutine; in the steady state it allocates nothing.
type Calls[A any] struct {
	// Max is the largest number of calls without an answer, over all channels; 0 means DefaultMax.
	Max int

	last            ID
	open            map[ID]*call[A]
	first, youngest *call[A] // the open ones, in the order in which they began
	spare           []*call[A]
	timers          wheel.Wheel[call[A]]
	stats           Stats

	ending []ID // scratch of Closed; a Done may call Closed again, which uses what follows
	now    time.Duration
	expire func(*call[A]) // timedOut, bound once
}

// call is a call that waits for its end.
type call[A any] struct {
	id         ID
	ch         mercury.ChannelID
	done       Done[A]
	prev, next *call[A]
	timer      wheel.Node[call[A]]
}

// Stats returns the counters as they stand.
func (c *Calls[A]) Stats() Stats { return c.stats }

// Open is the number of calls that wait for their end.
func (c *Calls[A]) Open() int { return len(c.open) }

// Begin begins a call and gives the ID with which the caller sends its request on ch. If that
// cannot be sent, the caller cancels the call.
//
// A timeout of 0 waits until the channel ends. A negative one, of a time that is used up, ends the
// call at the next Advance. done may be nil. Begin fails with ErrTooMany; then there is no call.
func (c *Calls[A]) Begin(now time.Duration, ch mercury.ChannelID, timeout time.Duration, done Done[A]) (ID, error) {
	limit := c.Max
	if limit == 0 {
		limit = DefaultMax
	}
	if len(c.open) >= limit {
		return 0, ErrTooMany
	}
	if c.open == nil {
		c.open, c.expire = make(map[ID]*call[A]), c.timedOut
	}
	c.last++
	k := c.take()
	k.id, k.ch, k.done, k.prev = c.last, ch, done, c.youngest
	if c.youngest != nil {
		c.youngest.next = k
	} else {
		c.first = k
	}
	c.youngest, c.open[k.id] = k, k
	if timeout != 0 {
		c.timers.Set(&k.timer, now+min(max(0, timeout), math.MaxInt64-max(0, now)))
	}
	c.stats.Begun++
	return k.id, nil
}

// Cancel ends a call without telling its Done; an answer that comes later is dropped. It returns
// false when the call has already ended. The callee hears nothing of it.
func (c *Calls[A]) Cancel(id ID) bool {
	k := c.open[id]
	if k == nil {
		return false
	}
	c.stats.Cancelled++
	c.drop(k)
	return true
}

// Answer ends the call to which an answer belongs that came on ch. It returns false, and counts the
// answer, when there is no such call, or it was made on another channel.
func (c *Calls[A]) Answer(now time.Duration, ch mercury.ChannelID, id ID, answer A) bool {
	if !c.ends(ch, id) {
		return false
	}
	c.stats.Answered++
	c.end(now, c.open[id], answer, nil)
	return true
}

// Fail is Answer for a callee that says why it gives none.
func (c *Calls[A]) Fail(now time.Duration, ch mercury.ChannelID, id ID, why error) bool {
	if !c.ends(ch, id) {
		return false
	}
	c.stats.Failed++
	var none A
	c.end(now, c.open[id], none, why)
	return true
}

func (c *Calls[A]) ends(ch mercury.ChannelID, id ID) bool {
	if k := c.open[id]; k != nil && k.ch == ch {
		return true
	}
	c.stats.Late++
	return false
}

// Closed ends all calls of a channel with reason, in the order in which they began. It is meant for
// Handler.Closed. An app that closes a channel itself, for which there is no Closed, calls it with
// ErrNoChannel. Calls that a Done begins in the meantime are not ended.
func (c *Calls[A]) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	base := len(c.ending)
	for k := c.first; k != nil; k = k.next {
		if k.ch == ch {
			c.ending = append(c.ending, k.id)
		}
	}
	for i := base; i < len(c.ending); i++ {
		if k := c.open[c.ending[i]]; k != nil {
			c.stats.Lost++
			var none A
			c.end(now, k, none, reason)
		}
	}
	c.ending = slices.Delete(c.ending, base, len(c.ending))
}

// Advance ends the calls whose time is up.
func (c *Calls[A]) Advance(now time.Duration) {
	c.now = max(c.now, now)
	c.timers.Advance(now, c.expire)
}

// NextDeadline is when Advance should be called; false when no call has a time-out.
func (c *Calls[A]) NextDeadline() (time.Duration, bool) { return c.timers.Next() }

// timedOut is what the wheel fires.
func (c *Calls[A]) timedOut(k *call[A]) {
	c.stats.TimedOut++
	var none A
	c.end(c.now, k, none, ErrTimeout)
}

// end takes k out before its Done is told, since that may begin a call, which uses k again.
func (c *Calls[A]) end(now time.Duration, k *call[A], answer A, err error) {
	done := k.done
	c.drop(k)
	if done != nil {
		done(now, answer, err)
	}
}

// take returns a call to be filled in.
func (c *Calls[A]) take() *call[A] {
	if last := len(c.spare) - 1; last >= 0 {
		k := c.spare[last]
		c.spare = c.spare[:last]
		return k
	}
	k := &call[A]{}
	k.timer.Of = k
	return k
}

// drop forgets k.
func (c *Calls[A]) drop(k *call[A]) {
	c.timers.Remove(&k.timer)
	delete(c.open, k.id)
	if k.prev != nil {
		k.prev.next = k.next
	} else {
		c.first = k.next
	}
	if k.next != nil {
		k.next.prev = k.prev
	} else {
		c.youngest = k.prev
	}
	k.id, k.done, k.prev, k.next = 0, nil, nil, nil
	c.spare = append(c.spare, k)
}
