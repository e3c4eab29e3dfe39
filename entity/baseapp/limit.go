package baseapp

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// UploadLimits bound what one client may send, as BigWorld's clientUpstreamLimits do. A second's worth
// may come at once, and after a stall of the network as much as the client may have said meanwhile. A
// client that sends more is closed and told so (protocol.Flooding). Zero fields get the defaults.
type UploadLimits struct {
	// Messages is in protocol messages a second, default DefaultUploadMessages, at least 50 and at
	// most 1,000,000: a client library sends some twenty by itself.
	Messages int
	// Bytes is in bytes a second, default DefaultUploadBytes, at least 4096 and at most 1 GiB.
	Bytes int
}

// Defaults of UploadLimits.
const (
	DefaultUploadMessages = 500
	DefaultUploadBytes    = 40_960
)

// Bounds of UploadLimits.
const (
	leastUploadMessages, mostUploadMessages = 50, 1_000_000
	leastUploadBytes, mostUploadBytes       = 4096, 1 << 30
)

// Validate reports all faults at once.
func (l UploadLimits) Validate() error {
	var faults []error
	if m := l.Messages; m != 0 && (m < leastUploadMessages || m > mostUploadMessages) {
		faults = append(faults, fmt.Errorf("Upload.Messages is %d; give %d to %d a second, or 0 for %d", m, leastUploadMessages, mostUploadMessages, DefaultUploadMessages))
	}
	if b := l.Bytes; b != 0 && (b < leastUploadBytes || b > mostUploadBytes) {
		faults = append(faults, fmt.Errorf("Upload.Bytes is %d; give %d to %d a second, or 0 for %d", b, leastUploadBytes, mostUploadBytes, DefaultUploadBytes))
	}
	return errors.Join(faults...)
}

func (l UploadLimits) withDefaults() UploadLimits {
	return UploadLimits{Messages: cmp.Or(l.Messages, DefaultUploadMessages), Bytes: cmp.Or(l.Bytes, DefaultUploadBytes)}
}

const (
	// MaxClientAudits is in requests of audits per second. An answer names everything in sight, and
	// is thousands of times as long as the request.
	MaxClientAudits = 4
)

// These bound the reliable data, in bytes, that may wait for one client. While SlowClient waits,
// half a second at a megabit, the client is told less. It hears the sum later, so no client has
// much more waiting for long. A client that still takes nothing is closed at MaxClientBacklog, or
// at half of a smaller queue, which leaves room to say why.
const (
	SlowClient       = 64 << 10
	MaxClientBacklog = 1 << 20
	// MaxClientTail bounds what a client has not said that it has, in bytes, 16 more for each message:
	// what may wait, and as much on its way. A client that never says what it has is closed there. While a
	// client is away, only MaxClientBacklog is kept for it.
	MaxClientTail = 2 * MaxClientBacklog

	// SlowClientPeriod is how often the cell part hears that its client is slow.
	SlowClientPeriod = time.Second
	// RoomPeriod is the shortest time between two messages that tell the cell part how long its
	// client's packets may be and how much its path carries. It is short, so that a client whose link
	// was narrow for a moment soon sees others move again.
	RoomPeriod = time.Second
)

// bucketDepth is how much a bucket holds: what may come at once.
const bucketDepth = time.Second

// bucket is a token bucket, kept as a clock: at is the time by which everything taken so far is
// paid for. The zero value is full.
type bucket struct {
	at time.Duration
	// credit is for a time in which nothing could be taken: it is spent first.
	credit time.Duration
}

// take takes n tokens of a bucket that gains rate a second. If too few are left it takes none and
// returns false.
func (b *bucket) take(now time.Duration, n, rate int) bool {
	cost := time.Duration(n) * time.Second / time.Duration(rate)
	if cost <= b.credit {
		b.credit -= cost
		return true
	}
	paid := max(b.at, now) + cost
	if paid-now > bucketDepth {
		return false
	}
	b.at = paid
	return true
}
