package call

import "fmt"

const (
	// DefaultMaxCalls is far more than a healthy callee leaves open: at 1000 calls a second it is
	// four seconds' worth.
	DefaultMaxCalls = 4096
	// MaxMaxCalls keeps the part of an ID that finds the call within 16 bits.
	MaxMaxCalls = 1 << 16
)

// Config says how a Calls behaves.
type Config struct {
	// Kind is the first byte of every message of the Calls. The app keeps it free for them; both
	// ends use the same.
	Kind byte
	// MaxCalls is the largest number of calls without a reply (DefaultMaxCalls), over all channels.
	MaxCalls int
}

// Validate reports all faults of c at once, each with its remedy.
func (c Config) Validate() error {
	if c.MaxCalls < 0 || c.MaxCalls > MaxMaxCalls {
		return fmt.Errorf("call: Config.MaxCalls is %d: take 1 to %d, or 0 for %d", c.MaxCalls, MaxMaxCalls, DefaultMaxCalls)
	}
	return nil
}

// Stats counts what a Calls has done since it was made.
type Stats struct {
	Requests  uint64 // sent
	Replies   uint64 // that ended a call
	Failures  uint64 // that ended a call
	TimedOut  uint64 // calls that ended by their time-out
	Lost      uint64 // calls that ended with their channel
	Cancelled uint64
	Late      uint64 // replies and failures to a call that has ended, or was made on another channel

	RequestsIn  uint64 // requests of others
	RepliesOut  uint64
	FailuresOut uint64
	Malformed   uint64 // messages of Calls that could not be read
}
