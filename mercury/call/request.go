package call

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Link is what Calls needs of a transport: every mercury.Transport is a Link.
type Link interface {
	// Send queues a reliable message; msg is copied. A message that it refuses leaves no trace.
	Send(ch mercury.ChannelID, msg []byte) error
}

// ID names one call of one Calls. It is never used again, and 0 names none. A later call has a
// greater ID than an earlier one.
type ID uint64

// Caller is what a callee needs in order to answer a request, now or later: a plain value, which
// may be stored, or sent to another app that reports back with it.
type Caller struct {
	Channel mercury.ChannelID // on which the request came
	Call    ID                // the caller's
	Details bool              // the caller wants to know why a call failed
}

// RequestHandler receives the requests of others.
type RequestHandler interface {
	// Requested delivers a request. Calls.Reply or Calls.Fail answers it with the same Caller, at
	// once or later; the caller waits no longer than its time-out, which the callee is not told.
	// body is valid only during the call.
	Requested(now time.Duration, from Caller, body []byte)
}

// ReplyHandler is told of the end of a call.
type ReplyHandler interface {
	// Replied is called once for each call that was not cancelled. If err is nil, body is the
	// reply, valid only during the call. Otherwise err is ErrTimeout, a *Failure, or the reason why
	// the channel ended. token is that of the Request.
	Replied(now time.Duration, call ID, token uint64, body []byte, err error)
}

// ReplyFunc is a function as a ReplyHandler.
type ReplyFunc func(now time.Duration, call ID, token uint64, body []byte, err error)

// Replied calls f.
func (f ReplyFunc) Replied(now time.Duration, call ID, token uint64, body []byte, err error) {
	f(now, call, token, body, err)
}

// Request is one request to a peer.
type Request struct {
	// Body is what the callee gets; it is copied. It may have any length that the Link takes along
	// with some ten bytes.
	Body []byte
	// Timeout is how long a reply may take. 0 waits until the channel ends, as seed S2 does on its
	// channels. A negative value, of a time that is used up, ends the call at the next Advance.
	Timeout time.Duration
	// Details asks for the code and the text of a failure. Without it the callee says only that it
	// failed: a server that strangers ask tells them no more.
	Details bool
	// Handler is told how the call ended; nil when nobody cares.
	Handler ReplyHandler
	// Token is for Handler, which may serve many calls.
	Token uint64
}
