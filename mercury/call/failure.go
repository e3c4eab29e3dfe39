package call

import (
	"errors"
	"fmt"
)

// Errors of Calls.
var (
	// ErrTimeout ends a call that got no reply within its Request.Timeout. The callee may have done
	// its work.
	ErrTimeout = errors.New("call: no reply in time")
	// ErrTooMany is returned by Request when Config.MaxCalls are open.
	ErrTooMany = errors.New("call: too many calls without a reply")
)

// Failure ends a call that the callee answered by Fail. Code and Text are empty unless
// Request.Details asked for them.
type Failure struct {
	Code uint32 // the app's own
	Text string // from outside: at most MaxFailureText bytes of anything
}

func (f *Failure) Error() string {
	if f.Code == 0 && f.Text == "" {
		return "call: failed at the callee"
	}
	return fmt.Sprintf("call: failed at the callee: code %d, %q", f.Code, f.Text)
}
