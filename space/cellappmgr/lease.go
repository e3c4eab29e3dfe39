package cellappmgr

import (
	"math"
	"time"
)

// Lease lets at most one of the managers that share it lead at a time, and numbers their terms. A Seat
// asks it in every tick. It is told the time and must not block: an adapter of a store over a network
// keeps what it heard last, and asks for more elsewhere.
type Lease interface {
	// Claim asks to lead in a term of at least least, or to go on leading. It returns the grant, or
	// false as long as another leads, or nobody is known to. No term is granted twice, as far as the
	// sharers of the lease remember; a manager that finds an app which knows its term asks for a higher
	// one.
	Claim(now time.Duration, least uint32) (Grant, bool)
	// Resign gives the lease up. No order is given any more by the time of the call.
	Resign(now time.Duration)
}

// Grant is a lease that was granted.
type Grant struct {
	Term uint32
	// Until is when the holder must have stopped, by its own clock. The others cannot begin before:
	// whoever grants allows for clocks that run at different speeds.
	Until time.Duration
}

// alone is the lease of a manager that nobody shares.
type alone struct{}

// Claim implements Lease.
func (alone) Claim(_ time.Duration, least uint32) (Grant, bool) {
	return Grant{max(least, 1), math.MaxInt64}, true
}

// Resign implements Lease.
func (alone) Resign(time.Duration) {}
