package gametime

import (
	"math"
	"time"
)

// This file computes the times of scripts' timers, on both sides of an entity.

// After is the time d after t, or the end of time: scripts say "never" with a long duration, and a
// sum that overflows would be due at once, for ever.
func After(t, d time.Duration) time.Duration {
	if d > 0 && t > math.MaxInt64-d {
		return math.MaxInt64
	}
	return t + d
}

// Again is when a repeated timer that was due at due is due next, after now. A tick that comes late
// does not make up for the times that it missed.
func Again(due, every, now time.Duration) time.Duration {
	return After(now-(now-due)%every, every)
}
