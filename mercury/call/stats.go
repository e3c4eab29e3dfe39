package call

import "errors"

// Errors of Calls.
var (
	// ErrTimeout ends a call that got no answer in time. The callee may have done its work.
	ErrTimeout = errors.New("call: no answer in time")
	// ErrTooMany is returned by Begin when Calls.Max are open.
	ErrTooMany = errors.New("call: too many calls without an answer")
)

// Stats counts what has become of the calls of a Calls.
type Stats struct {
	Begun     uint64
	Answered  uint64
	Failed    uint64 // the callee said why
	TimedOut  uint64
	Lost      uint64 // ended with their channel
	Cancelled uint64
	Late      uint64 // answers and failures to a call that has ended, or was made on another channel
}
