package wire_test

import (
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/wire"
)

func TestTickBuckets(t *testing.T) {
	last := time.Duration(0)
	for i := range wire.TickBuckets - 1 {
		bound := wire.TickBound(i)
		if bound <= last {
			t.Errorf("bound %d is %v after %v", i, bound, last)
		}
		if wire.TickBucket(bound-1) != i || wire.TickBucket(bound) != i+1 {
			t.Errorf("around %v: buckets %d and %d, want %d and %d", bound, wire.TickBucket(bound-1), wire.TickBucket(bound), i, i+1)
		}
		last = bound
	}
	if wire.TickBound(4) != 100*time.Microsecond || last < 2*time.Second {
		t.Errorf("bound 4 is %v, the last %v", wire.TickBound(4), last)
	}
	if wire.TickBucket(0) != 0 || wire.TickBucket(time.Hour) != wire.TickBuckets-1 {
		t.Error("the ends are not in the end buckets")
	}
}

func TestCountersAdd(t *testing.T) {
	sum, twice := counters(), counters()
	d := counters()
	sum.Add(&d)
	for _, f := range []*uint64{&twice.ClientCallsSent, &twice.ClientCallsHandled, &twice.FlowSent, &twice.FlowHandled, &twice.BundlesSent,
		&twice.BytesDown, &twice.BytesUp, &twice.Migrations, &twice.Refused, &twice.GhostsDiffer, &twice.Errors, &twice.PacketsUnsent, &twice.FlowLost, &twice.Repeats} {
		*f *= 2
	}
	if sum != twice {
		t.Errorf("sum %+v", sum)
	}
}
