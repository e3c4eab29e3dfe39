package mercury

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

const (
	// DefaultMaxCalls is far above what a healthy callee leaves open: at 1000 calls a second it is four seconds.
	DefaultMaxCalls = 4096
	// MaxMaxCalls keeps the part of a CallID that finds the call within 16 bits.
	MaxMaxCalls = 1 << 16
	// callLists is the number of lists that calls are kept in by channel. A closed channel costs a look at its list: with some
	// hundred channels, little more than its own calls.
	callLists = 256
	// maxCallScratch is the most that is kept for building messages: one of a megabyte must not stay for ever.
	maxCallScratch = 64 << 10
	// maxCallNumber keeps number, slot and operation within a varint of 64 bits. At a million calls a second it lasts two years.
	maxCallNumber = 1<<46 - 1
)

// Errors of Calls.
var (
	// ErrCallTimeout is how a call ends that got no reply within its Request.Timeout. The callee may have done its work.
	ErrCallTimeout = errors.New("mercury: no reply in time")
	// ErrTooManyCalls is returned by Request when CallsConfig.MaxCalls are open.
	ErrTooManyCalls = errors.New("mercury: too many calls without a reply")
)

// CallFailure is how a call ends that the callee answered by Fail. Code and Text are empty unless Request.Details asked
// for them.
type CallFailure struct {
	Code uint32 // the app's own
	Text string // from outside: at most MaxFailureText bytes of anything
}

func (f *CallFailure) Error() string {
	if f.Code == 0 && f.Text == "" {
		return "mercury: the call failed at the callee"
	}
	return fmt.Sprintf("mercury: the call failed at the callee: code %d, %q", f.Code, f.Text)
}

// CallID names one call of one Calls. It is never used again; 0 is none. A later call has a greater one than an earlier one.
type CallID uint64

// Caller is what a callee needs to answer a request, now or later: a plain value, which may be stored, or
// sent to another app that reports back with it.
type Caller struct {
	Channel ChannelID // that the request came by
	Call    CallID    // the caller's
	Details bool      // the caller wants to know why a call failed
}

// RequestHandler is what Calls gives the requests of others.
type RequestHandler interface {
	// Requested delivers a request. It is answered by Calls.Reply or Calls.Fail with the same Caller, at once or later; the caller
	// waits no longer than it said, which is not told. body is valid only during the call.
	Requested(now time.Duration, from Caller, body []byte)
}

// ReplyHandler is what Calls tells of the end of a call.
type ReplyHandler interface {
	// Replied is called once for each call that was not cancelled. With err nil, body is the reply, valid only during the call. Else err is
	// ErrCallTimeout, a *CallFailure, or the reason why the channel ended. token is what the Request held.
	Replied(now time.Duration, call CallID, token uint64, body []byte, err error)
}

// ReplyFunc is a function as a ReplyHandler.
type ReplyFunc func(now time.Duration, call CallID, token uint64, body []byte, err error)

// Replied calls f.
func (f ReplyFunc) Replied(now time.Duration, call CallID, token uint64, body []byte, err error) {
	f(now, call, token, body, err)
}

// Request is one request to a peer.
type Request struct {
	// Body is what the callee gets; it is copied. Any length that the Transport takes beside some ten bytes.
	Body []byte
	// Timeout is how long a reply may take. 0 waits until the channel ends, as seed S2 does on its channels. Less than 0, of a
	// time that is used up, ends at the next Advance.
	Timeout time.Duration
	// Details asks for the code and the text of a failure. Without it the callee says only that it failed: a server that
	// is asked by strangers tells them no more.
	Details bool
	// Handler is told how the call ended; nil when nobody cares.
	Handler ReplyHandler
	// Token is for Handler, which may serve many calls.
	Token uint64
}

// CallsConfig says how a Calls behaves.
type CallsConfig struct {
	// Kind is the first byte of every message of the Calls. The app keeps it free for them; both ends have the same.
	Kind byte
	// MaxCalls is the largest number of calls without a reply (DefaultMaxCalls), over all channels.
	MaxCalls int
}

// Validate reports all faults of c at once, each with its remedy.
func (c CallsConfig) Validate() error {
	if c.MaxCalls < 0 || c.MaxCalls > MaxMaxCalls {
		return fmt.Errorf("mercury: CallsConfig.MaxCalls is %d: take 1 to %d, or 0 for %d", c.MaxCalls, MaxMaxCalls, DefaultMaxCalls)
	}
	return nil
}

// CallStats counts what a Calls did since it was made.
type CallStats struct {
	Requests  uint64 // sent
	Replies   uint64 // that ended a call
	Failures  uint64 // that ended a call
	TimedOut  uint64 // calls that ended so
	Lost      uint64 // calls that ended with their channel
	Cancelled uint64
	Late      uint64 // replies and failures to a call that has ended, or was not made on the channel they came by

	RequestsIn  uint64 // of others
	RepliesOut  uint64
	FailuresOut uint64
	Malformed   uint64 // messages of Calls that could not be read
}

// Calls is requests and replies over the channels of any Transport, in both roles: it sends requests and finds the call
// that a reply belongs to, and hands the requests of others to a RequestHandler. Nothing is kept at the callee, who
// answers with the Caller that came with the request.
//
// It is a part of an app, which passes on what it hears:
//
//	Handler.Message(now, ch, reliable, msg)  ──>  Take(now, ch, msg); the app's own when it is not taken
//	Handler.Closed(now, ch, reason)          ──>  Closed(now, ch, reason)
//	the app's tick, or at NextDeadline       ──>  Advance(now)
//
// Requests and replies are reliable and keep their order on a channel. A call ends exactly once: by a reply or failure that came on its own
// channel, by its time-out, by the end of its channel, or by Cancel, after which nothing is told.
//
// Handlers are called inside Take, Closed and Advance only. They may call any method but Advance. Time-outs
// fire in the order of their times, to 0.26 ms, then in that of the requests. A Calls belongs to one goroutine; in the steady state it allocates
// nothing.
type Calls struct {
	transport Transport
	handler   RequestHandler
	cfg       CallsConfig
	slotBits  int

	number uint64  // of the last call
	slots  []*call // all calls ever needed at once
	free   []int   // slots that hold no call
	lists  [callLists]callList
	timers wheel[call]
	stats  CallStats

	packet []byte   // scratch: the message being built
	ending []CallID // scratch of Closed; a handler may call Closed again, which uses what lies behind
	now    time.Duration
	expire func(*call) // timedOut, bound once
}

// call is one slot: a call that waits for its end, or none when id is 0.
type call struct {
	id         CallID
	slot       int
	ch         ChannelID
	handler    ReplyHandler
	token      uint64
	prev, next *call // in its callList
	timer      wheelNode[call]
}

// callList is those calls whose channels fall together, in the order of their requests.
type callList struct{ first, last *call }

// NewCalls makes a Calls over t. h may be nil: requests of others are then failed. It fails when cfg does not hold.
func NewCalls(t Transport, cfg CallsConfig, h RequestHandler) (*Calls, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.MaxCalls == 0 {
		cfg.MaxCalls = DefaultMaxCalls
	}
	c := &Calls{transport: t, handler: h, cfg: cfg, slotBits: bits.Len(uint(cfg.MaxCalls - 1))}
	c.expire = c.timedOut
	return c, nil
}

// Stats returns the counters as they stand.
func (c *Calls) Stats() CallStats { return c.stats }

// Open is the number of calls that wait for their end.
func (c *Calls) Open() int { return len(c.slots) - len(c.free) }

// Request sends a request. Its end is told to r.Handler. It fails with ErrTooManyCalls, or with what Transport.Send says; then
// there is no call and nothing is told.
func (c *Calls) Request(now time.Duration, ch ChannelID, r Request) (CallID, error) {
	if c.Open() >= c.cfg.MaxCalls || c.number >= maxCallNumber {
		return 0, ErrTooManyCalls
	}
	k := c.take()
	id := CallID((c.number+1)<<c.slotBits | uint64(k.slot))
	op := callRequest
	if r.Details {
		op = callDetailed
	}
	if err := c.send(ch, append(c.begin(op, id), r.Body...)); err != nil {
		c.free = append(c.free, k.slot)
		return 0, err
	}
	c.number++
	c.stats.Requests++
	k.id, k.ch, k.handler, k.token = id, ch, r.Handler, r.Token
	c.lists[ch%callLists].push(k)
	if r.Timeout != 0 {
		c.timers.set(&k.timer, now+min(max(0, r.Timeout), math.MaxInt64-max(0, now)))
	}
	return id, nil
}

// Cancel ends a call without telling its Handler; a reply that comes later is dropped. False when it has ended already. The callee
// hears nothing of it.
func (c *Calls) Cancel(id CallID) bool {
	k := c.find(id)
	if k == nil {
		return false
	}
	c.stats.Cancelled++
	c.drop(k)
	return true
}

// Reply answers a request. It fails with what Transport.Send says. A second answer to a request, or one after the caller's time-out,
// is dropped by the caller.
func (c *Calls) Reply(to Caller, body []byte) error {
	if err := c.send(to.Channel, append(c.begin(callReply, to.Call), body...)); err != nil {
		return err
	}
	c.stats.RepliesOut++
	return nil
}

// Fail answers a request by a CallFailure. Of text at most MaxFailureText bytes are told. Code and text
// are left out when the caller did not ask for them.
func (c *Calls) Fail(to Caller, code uint32, text string) error {
	if !to.Details {
		code, text = 0, ""
	}
	if err := c.send(to.Channel, appendFailure(c.begin(callFailure, to.Call), code, text)); err != nil {
		return err
	}
	c.stats.FailuresOut++
	return nil
}

// Take takes a message in that arrived on ch; false when it is not of the Calls' kind and so the app's own. The error tells that it
// could not be read: it was dropped and counted, and no sound peer sends such.
func (c *Calls) Take(now time.Duration, ch ChannelID, msg []byte) (bool, error) {
	if len(msg) == 0 || msg[0] != c.cfg.Kind {
		return false, nil
	}
	r := NewReader(msg[1:])
	op, id := readCall(&r)
	var failure *CallFailure
	if op == callFailure {
		code, text, err := readFailure(&r)
		if k := c.find(id); err == nil && k != nil && k.ch == ch {
			failure = &CallFailure{Code: code, Text: string(text)}
		}
	}
	if r.err == nil && id == 0 {
		r.fail(ErrValue)
	}
	if r.err != nil {
		c.stats.Malformed++
		return true, r.err
	}
	switch op {
	case callRequest, callDetailed:
		c.requested(now, Caller{Channel: ch, Call: id, Details: op == callDetailed}, r.Rest())
	default:
		c.replied(now, ch, id, r.Rest(), failure)
	}
	return true, nil
}

// Closed ends all calls of a channel with reason, in the order of their requests. It is for Handler.Closed; an app that closes a channel
// itself, of which there is no Closed, calls it with ErrNoChannel. Requests made by a handler meanwhile are not ended.
func (c *Calls) Closed(now time.Duration, ch ChannelID, reason error) {
	base := len(c.ending)
	for k := c.lists[ch%callLists].first; k != nil; k = k.next {
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
	c.timers.advance(now, c.expire)
}

// NextDeadline is when Advance should be called; false when no call has a time-out.
func (c *Calls) NextDeadline() (time.Duration, bool) { return c.timers.next() }

// requested hands on a request of a peer.
func (c *Calls) requested(now time.Duration, from Caller, body []byte) {
	c.stats.RequestsIn++
	if c.handler == nil {
		_ = c.Fail(from, 0, "no requests are served here") // when it cannot be sent the channel ends, which tells the caller
		return
	}
	c.handler.Requested(now, from, body)
}

// replied ends the call that a reply or failure belongs to.
func (c *Calls) replied(now time.Duration, ch ChannelID, id CallID, body []byte, failure *CallFailure) {
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
	c.end(c.now, k, nil, ErrCallTimeout)
}

// end takes k out before its handler is told, which may use the slot for a new call.
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
	k.timer.of = k
	c.slots = append(c.slots, k)
	return k
}

// drop frees the slot of k.
func (c *Calls) drop(k *call) {
	c.timers.remove(&k.timer)
	c.lists[k.ch%callLists].remove(k)
	k.id, k.handler = 0, nil
	c.free = append(c.free, k.slot)
}

// find returns the call with an id, nil when it has ended or never was.
func (c *Calls) find(id CallID) *call {
	slot := int(id & (1<<c.slotBits - 1))
	if id == 0 || slot >= len(c.slots) || c.slots[slot].id != id {
		return nil
	}
	return c.slots[slot]
}

func (c *Calls) begin(op callOp, id CallID) []byte {
	return appendCall(c.packet[:0], c.cfg.Kind, op, id)
}

// send sends a message that begin began.
func (c *Calls) send(ch ChannelID, msg []byte) error {
	if cap(msg) <= maxCallScratch {
		c.packet = msg[:0]
	}
	return c.transport.Send(ch, msg)
}

func (l *callList) push(k *call) {
	k.prev, k.next = l.last, nil
	if l.last != nil {
		l.last.next = k
	} else {
		l.first = k
	}
	l.last = k
}

func (l *callList) remove(k *call) {
	if k.prev != nil {
		k.prev.next = k.next
	} else {
		l.first = k.next
	}
	if k.next != nil {
		k.next.prev = k.prev
	} else {
		l.last = k.prev
	}
	k.prev, k.next = nil, nil
}
