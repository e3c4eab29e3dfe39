package logs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cellscape/cellscape/internal/logs"
)

const ms = time.Millisecond

func TestLimit(t *testing.T) {
	var l logs.Limit
	for _, step := range []struct {
		now      time.Duration
		cause    string
		unlogged int
		ok       bool
	}{{0, "a", 0, true}, {0, "a", 0, false}, {0, "b", 0, true}, {999 * ms, "a", 0, false}, {time.Second, "a", 2, true}, {time.Second, "b", 0, true}, {3 * time.Second, "a", 0, true}} {
		if n, ok := l.Allow(step.now, step.cause); n != step.unlogged || ok != step.ok {
			t.Errorf("%v %s: %d %v", step.now, step.cause, n, ok)
		}
	}
}

// What goes on for an hour, four times a second or each ten seconds, is a line each half a minute in the
// end, and none of it is left uncounted. What comes back after a pause is logged at once, as at first.
func TestLimitBacksOff(t *testing.T) {
	for _, every := range []time.Duration{250 * ms, 10 * time.Second} {
		var l logs.Limit
		var at []time.Duration
		met, said := 0, 0
		for now := time.Duration(0); now < time.Hour; now += every {
			met++
			if n, ok := l.Allow(now, "a"); ok {
				at, said = append(at, now), said+n+1
			}
		}
		if n := len(at); n < 115 || n > 130 || at[n-1]-at[n-2] != logs.LastPeriod || at[1] > 10*time.Second || met-said > 120 {
			t.Errorf("each %v: %d lines for %d of %d, at first %v", every, n, said, met, at[:8])
		}
		for _, d := range []time.Duration{logs.LastPeriod, logs.LastPeriod + time.Second} {
			if _, ok := l.Allow(time.Hour+d, "a"); !ok {
				t.Errorf("each %v: not logged after a pause", every)
			}
		}
	}
}

// A thousand messages are refused within one second, and one more a second later.
func Example() {
	var lines logs.Limit
	for i := range 1001 {
		if unlogged, ok := lines.Allow(time.Duration(i)*time.Millisecond, "refused"); ok {
			fmt.Println("message refused, unlogged:", unlogged)
		}
	}
	// Output:
	// message refused, unlogged: 0
	// message refused, unlogged: 999
}
