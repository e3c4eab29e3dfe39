package gametime

import (
	"math"
	"testing"
	"time"
)

func TestTimerTimes(t *testing.T) {
	const never = time.Duration(math.MaxInt64)
	for _, c := range []struct{ t, d, want time.Duration }{
		{3, 4, 7}, {0, 0, 0}, {5, -2, 3}, {0, never, never}, {1, never, never}, {never, 1, never}, {never - 5, 5, never},
	} {
		if got := After(c.t, c.d); got != c.want {
			t.Errorf("After(%d, %d) = %d, want %d", c.t, c.d, got, c.want)
		}
	}
	for _, c := range []struct{ due, every, now, want time.Duration }{
		{10, 4, 10, 14}, {10, 4, 13, 14}, {10, 4, 14, 18}, {10, 4, 31, 34}, {10, never, 12, never}, {0, never, 0, never},
	} {
		if got := Again(c.due, c.every, c.now); got != c.want || got <= c.now {
			t.Errorf("Again(%d, %d, %d) = %d, want %d", c.due, c.every, c.now, got, c.want)
		}
	}
}
