package sim

import "testing"

// TestFollows: what a caller says comes in order and without a gap. A restored caller may repeat
// what its older life had said, even a second time from the same copy.
func TestFollows(t *testing.T) {
	for _, c := range []struct {
		lastLife, last, life, n uint32
		restored, want          bool
	}{
		{5, 16, 5, 17, false, true},
		{5, 16, 5, 16, false, false},
		{5, 16, 5, 18, false, false},
		{5, 16, 6, 17, false, true}, // behind the tail of the copy
		{5, 16, 6, 16, false, false},
		{5, 16, 5, 16, true, true}, // the tail of the copy from which it was restored
		{6, 18, 5, 15, true, true},
		{5, 16, 6, 12, true, true},
		{5, 16, 6, 18, true, false},
		{6, 16, 5, 17, false, false},
	} {
		if got := follows(c.lastLife, c.last, c.life, c.n, c.restored); got != c.want {
			t.Errorf("%d.%d after %d.%d, restored %v: %v", c.life, c.n, c.lastLife, c.last, c.restored, got)
		}
	}
}
