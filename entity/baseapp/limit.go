package baseapp

import "time"

// What one client may send: the limits of the field (BigWorld's
// clientUpstreamLimits). A second's worth may come at once, as it does after a
// stall of the network.
const (
	// MaxClientMessages is protocol messages per second.
	MaxClientMessages = 500
	// MaxClientBytes is bytes per second.
	MaxClientBytes = 40_960

	// MaxClientAudits is requests of audits per second. The answer to one names
	// everything in sight, thousands of times what it took to ask.
	MaxClientAudits = 4
)

// What may wait for one client, of what it is sent reliably. A client is told less while
// it has SlowClient waiting, half a second on a megabit; it hears the sum of it later, so no
// client has much more for long. One that takes nothing for all that is closed at
// MaxClientBacklog, or at half of a smaller queue, so that there is room to say why.
const (
	SlowClient       = 64 << 10
	MaxClientBacklog = 1 << 20

	// SlowClientPeriod is how often the cell part is told that its client is slow.
	SlowClientPeriod = time.Second
	// RoomPeriod is how often the cell part is told at most how long the packets of its
	// client may be: so short that a client whose way was narrow for a moment sees others
	// move again soon.
	RoomPeriod = time.Second
)

// bucket is a token bucket in its equivalent form as a clock: at is when
// everything taken so far is paid for. The zero value is full.
type bucket struct{ at time.Duration }

// take takes n of rate per second; false means that there is not so much left, and
// nothing is taken.
func (b *bucket) take(now time.Duration, n, rate int) bool {
	paid := max(b.at, now) + time.Duration(n)*time.Second/time.Duration(rate)
	if paid-now > time.Second {
		return false
	}
	b.at = paid
	return true
}
