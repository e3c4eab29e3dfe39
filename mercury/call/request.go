package call

import (
	"time"

	"github.com/cellscape/cellscape/mercury"
)

// Link is what Calls needs of a transport: every mercury.Transport is one.
type Link interface {
	// Send queues a reliable message; msg is copied. What it refuses leaves no trace.
	Send(ch mercury.ChannelID, msg []byte) error
}

// ID names one call of one Calls. It is never used again; 0 is none. A later call has a greater one
// than an earlier one.
type ID uint64

// Caller is what a callee needs to answer a request, now or later: a plain value, which may be
// stored, or sent to another app that reports back with it.
type Caller struct {
	Channel mercury.ChannelID // that the request came by
	Call    ID                // the caller's
	Details bool              // the caller wants to know why a call failed
}

// RequestHandler is what Calls gives the requests of others.
type RequestHandler interface {
	// Requested delivers a request. It is answered by Calls.Reply or Calls.Fail with the same
	// Caller, at once or later; the caller waits no longer than it said, which is not told. body is
	// valid only during the call.
	Requested(now time.Duration, from Caller, body []byte)
}

// ReplyHandler is what Calls tells of the end of a call.
type ReplyHandler interface {
	// Replied is called once for each call that was not cancelled. With err nil, body is the reply,
	// valid only during the call. Else err is ErrTimeout, a *Failure, or the reason why the channel
	// ended. token is what the Request held.
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
	// Body is what the callee gets; it is copied. Any length that the Link takes beside some ten
	// bytes.
	Body []byte
	// Timeout is how long a reply may take. 0 waits until the channel ends, as seed S2 does on its
	// channels. Less than 0, of a time that is used up, ends at the next Advance.
	Timeout time.Duration
	// Details asks for the code and the text of a failure. Without it the callee says only that it
	// failed: a server that is asked by strangers tells them no more.
	Details bool
	// Handler is told how the call ended; nil when nobody cares.
	Handler ReplyHandler
	// Token is for Handler, which may serve many calls.
	Token uint64
}
