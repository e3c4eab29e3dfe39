package call

import (
	"math"
	"math/bits"
	"time"

	"github.com/cellscape/cellscape/internal/codec"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/mercury/internal/wheel"
)

const (
	// maxScratch is the most that is kept for building messages: a buffer of a megabyte must not
	// stay for ever.
	maxScratch = 64 << 10
	// maxNumber keeps number, slot and operation within a varint of 64 bits. At a million calls a
	// second it lasts two years.
	maxNumber = 1<<46 - 1
)

// Calls handles requests and replies over the channels of any Link, in both roles: it sends
// requests and finds the call to which a reply belongs, and it hands the requests of others to a
// RequestHandler. The callee keeps nothing: it answers with the Caller that came with the request.
//
// It is a part of an app, which passes on what it hears:
//
//	Handler.Message(now, ch, reliable, msg)  ──>  Take(now, ch, msg); the app's own when it is not taken
//	Handler.Closed(now, ch, reason)          ──>  Closed(now, ch, reason)
//	the app's tick, or at NextDeadline       ──>  Advance(now)
//
// Requests and replies are reliable and keep their order on a channel. A call ends exactly once: by
// a reply or failure that came on its own channel, by its time-out, by the end of its channel, or
// by Cancel, after which its Handler is told nothing.
//
// Handlers are called only inside Take, Closed and Advance. They may call any method but Advance.
// Time-outs fire in the order of their times, to 0.26 ms, then in the order of the requests. A
// Calls belongs to one goroutine; in the steady state it allocates nothing.
type Calls struct {
	link     Link
	handler  RequestHandler
	cfg      Config
	slotBits int

	number uint64  // of the last call
	slots  []*call // as many as were ever open at once
	free   []int   // slots that hold no call
	lists  [listCount]list
	timers wheel.Wheel[call]
	stats  Stats

	packet []byte // scratch: the message being built
	ending []ID   // scratch of Closed; a handler may call Closed again, which uses what follows
	now    time.Duration
	expire func(*call) // timedOut, bound once
}

// call is one slot: a call that waits for its end, or none when id is 0.
type call struct {
	id         ID
	slot       int
	ch         mercury.ChannelID
	handler    ReplyHandler
	token      uint64
	prev, next *call // in its list
	timer      wheel.Node[call]
}

// New makes a Calls over link. h may be nil: then requests of others fail. New fails when cfg is
// not valid.
func New(link Link, cfg Config, h RequestHandler) (*Calls, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.MaxCalls == 0 {
		cfg.MaxCalls = DefaultMaxCalls
	}
	c := &Calls{link: link, handler: h, cfg: cfg, slotBits: bits.Len(uint(cfg.MaxCalls - 1))}
	c.expire = c.timedOut
	return c, nil
}

// Stats returns the counters as they stand.
func (c *Calls) Stats() Stats { return c.stats }

// Open is the number of calls that wait for their end.
func (c *Calls) Open() int { return len(c.slots) - len(c.free) }

// Request sends a request. r.Handler is told of its end. Request fails with ErrTooMany, or with the
// error of Link.Send; then there is no call, and nobody is told anything.
func (c *Calls) Request(now time.Duration, ch mercury.ChannelID, r Request) (ID, error) {
	if c.Open() >= c.cfg.MaxCalls || c.number >= maxNumber {
		return 0, ErrTooMany
	}
	k := c.take()
	id := ID((c.number+1)<<c.slotBits | uint64(k.slot))
	op := opRequest
	if r.Details {
		op = opDetailed
	}
	if err := c.send(ch, append(c.begin(op, id), r.Body...)); err != nil {
		c.free = append(c.free, k.slot)
		return 0, err
	}
	c.number++
	c.stats.Requests++
	k.id, k.ch, k.handler, k.token = id, ch, r.Handler, r.Token
	c.lists[ch%listCount].push(k)
	if r.Timeout != 0 {
		c.timers.Set(&k.timer, now+min(max(0, r.Timeout), math.MaxInt64-max(0, now)))
	}
	return id, nil
}

// Cancel ends a call without telling its Handler; a reply that comes later is dropped. It returns
// false when the call has already ended. The callee hears nothing of it.
func (c *Calls) Cancel(id ID) bool {
	k := c.find(id)
	if k == nil {
		return false
	}
	c.stats.Cancelled++
	c.drop(k)
	return true
}

// Reply answers a request. It fails with the error of Link.Send. A second answer to a request, or
// one after the caller's time-out, is dropped by the caller.
func (c *Calls) Reply(to Caller, body []byte) error {
	if err := c.send(to.Channel, append(c.begin(opReply, to.Call), body...)); err != nil {
		return err
	}
	c.stats.RepliesOut++
	return nil
}

// Fail answers a request with a Failure. At most MaxFailureText bytes of text are sent. Code and
// text are left out when the caller did not ask for them.
func (c *Calls) Fail(to Caller, code uint32, text string) error {
	if !to.Details {
		code, text = 0, ""
	}
	if err := c.send(to.Channel, appendFailure(c.begin(opFailure, to.Call), code, text)); err != nil {
		return err
	}
	c.stats.FailuresOut++
	return nil
}

// Take takes a message that arrived on ch; it returns false when the message is not of the Calls'
// kind, and so is the app's own. The error says that the message could not be read: it was dropped
// and counted, and no sound peer sends such a message.
func (c *Calls) Take(now time.Duration, ch mercury.ChannelID, msg []byte) (bool, error) {
	if len(msg) == 0 || msg[0] != c.cfg.Kind {
		return false, nil
	}
	r := codec.NewReader(msg[1:])
	op, id := readHead(&r)
	var failure *Failure
	if op == opFailure {
		code, text, err := readFailure(&r)
		if k := c.find(id); err == nil && k != nil && k.ch == ch {
			failure = &Failure{Code: code, Text: string(text)}
		}
	}
	if r.Err() == nil && id == 0 {
		r.Fail(codec.ErrValue)
	}
	if r.Err() != nil {
		c.stats.Malformed++
		return true, r.Err()
	}
	switch op {
	case opRequest, opDetailed:
		c.requested(now, Caller{Channel: ch, Call: id, Details: op == opDetailed}, r.Rest())
	default:
		c.replied(now, ch, id, r.Rest(), failure)
	}
	return true, nil
}

// Closed ends all calls of a channel with reason, in the order of their requests. It is meant for
// Handler.Closed. An app that closes a channel itself, for which there is no Closed, calls it with
// ErrNoChannel. Requests that a handler makes in the meantime are not ended.
func (c *Calls) Closed(now time.Duration, ch mercury.ChannelID, reason error) {
	base := len(c.ending)
	for k := c.lists[ch%listCount].first; k != nil; k = k.next {
		if k.ch == ch {
			c.ending = append(c.ending, k.id)
		}
	}
	for i := base; i < len(c.ending); i++ {
		if k := c.find(c.ending[i]); k != nil {
			c.stats.Lost++
			c.end(now, k, nil, reason)
		}
	}
	c.ending = c.ending[:base]
}

// Advance ends the calls whose time is up.
func (c *Calls) Advance(now time.Duration) {
	c.now = max(c.now, now)
	c.timers.Advance(now, c.expire)
}

// NextDeadline is when Advance should be called; false when no call has a time-out.
func (c *Calls) NextDeadline() (time.Duration, bool) { return c.timers.Next() }

// requested hands on a request of a peer.
func (c *Calls) requested(now time.Duration, from Caller, body []byte) {
	c.stats.RequestsIn++
	if c.handler == nil {
		_ = c.Fail(from, 0, "no requests are served here") // if this cannot be sent the channel ends, which tells the caller
		return
	}
	c.handler.Requested(now, from, body)
}

// replied ends the call to which a reply or failure belongs.
func (c *Calls) replied(now time.Duration, ch mercury.ChannelID, id ID, body []byte, failure *Failure) {
	k := c.find(id)
	switch {
	case k == nil || k.ch != ch:
		c.stats.Late++
	case failure != nil:
		c.stats.Failures++
		c.end(now, k, nil, failure)
	default:
		c.stats.Replies++
		c.end(now, k, body, nil)
	}
}

// timedOut is what the wheel fires.
func (c *Calls) timedOut(k *call) {
	c.stats.TimedOut++
	c.end(c.now, k, nil, ErrTimeout)
}

// end takes k out before its handler is told, since the handler may use the slot for a new call.
func (c *Calls) end(now time.Duration, k *call, body []byte, err error) {
	id, handler, token := k.id, k.handler, k.token
	c.drop(k)
	if handler != nil {
		handler.Replied(now, id, token, body, err)
	}
}

// take returns a slot without a call.
func (c *Calls) take() *call {
	if last := len(c.free) - 1; last >= 0 {
		k := c.slots[c.free[last]]
		c.free = c.free[:last]
		return k
	}
	k := &call{slot: len(c.slots)}
	k.timer.Of = k
	c.slots = append(c.slots, k)
	return k
}

// drop frees the slot of k.
func (c *Calls) drop(k *call) {
	c.timers.Remove(&k.timer)
	c.lists[k.ch%listCount].remove(k)
	k.id, k.handler = 0, nil
	c.free = append(c.free, k.slot)
}

// find returns the call with an id, nil when it has ended or never existed.
func (c *Calls) find(id ID) *call {
	slot := int(id & (1<<c.slotBits - 1))
	if id == 0 || slot >= len(c.slots) || c.slots[slot].id != id {
		return nil
	}
	return c.slots[slot]
}

func (c *Calls) begin(op operation, id ID) []byte {
	return appendHead(c.packet[:0], c.cfg.Kind, op, id)
}

// send sends a message that begin began.
func (c *Calls) send(ch mercury.ChannelID, msg []byte) error {
	if cap(msg) <= maxScratch {
		c.packet = msg[:0]
	}
	return c.link.Send(ch, msg)
}
